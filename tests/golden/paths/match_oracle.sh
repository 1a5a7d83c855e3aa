#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Accuracy of the matching method where the truth is known, against the figures that are demanded.
set -eu
exec tests/bench/bench_matching.sh
