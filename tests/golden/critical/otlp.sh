#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same trace as OTLP and as Jaeger JSON gives the same paths.
. tests/golden/lib.sh
cases=${CAUSEPROF_SHARED:-../shared}/cases/files
[ -d "$cases" ] || { echo "no case files ($cases)"; exit 77; }
for pair in jaeger/fixture/otlp2jaeger jaeger-ui/fixtures/otlp2jaeger; do
	$cp critical -f sections "$cases/$pair-in.json" | cut -f 2- > "$T/in"
	$cp critical -f sections "$cases/$pair-out.json" | cut -f 2- > "$T/out"
	[ -s "$T/in" ] || { echo "$pair: nothing"; exit 1; }
	cmp "$T/in" "$T/out"
done
$cp critical -f operations "$cases/jaeger-ui/fixtures/otlp2jaeger-multi-in-combined.json" > "$T/in"
$cp critical -f operations "$cases/jaeger-ui/fixtures/oltp2jaeger-multi-out.json" > "$T/out"
cmp "$T/in" "$T/out"
$cp critical -f operations "$cases/jaeger-ui/fixtures/otlp2jaeger-multi-in.json.txt" > "$T/in"
cmp "$T/in" "$T/out"
