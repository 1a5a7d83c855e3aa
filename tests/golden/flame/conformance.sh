#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frame by frame against inferno's expected pictures and, with FLAMEGRAPH_PL=FILE, against flamegraph.pl.
cases=${CAUSEPROF_SHARED:-../shared}/cases
[ -d "$cases/files/inferno" ] || { echo "no $cases/files/inferno: set CAUSEPROF_SHARED"; exit 77; }
[ "$(grep -cv -e '^#' -e '^$' tests/golden/flame/accepted.txt)" -le 10 ] || { echo "more than ten accepted differences"; exit 1; }
# shellcheck disable=SC2086 # empty or one path
exec python3 tests/golden/flame/conformance.py "$O/causeprof" "$(cd "$cases" && pwd)" ${FLAMEGRAPH_PL-}
