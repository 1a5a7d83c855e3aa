#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The fuzz corpus replayed.
exec make --no-print-directory DEV=1 O="$O" check-fuzz
