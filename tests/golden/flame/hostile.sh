#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
exec python3 tests/golden/flame/hostile.py "$O/causeprof"
