#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# OTLP as protobuf, plain and behind lengths (there sent twice), gives what the same as JSON gives; cut off, one
# clear line.
. tests/golden/lib.sh
D=tests/golden/critical
$cp critical -f sections $D/otlp-small.json > "$T/json" 2>/dev/null
[ "$(wc -l < "$T/json")" = 5 ]
for f in otlp-small.pb otlp-framed.pb; do
	$cp critical -f sections $D/$f > "$T/pb" 2>/dev/null
	cmp "$T/json" "$T/pb"
done
head -c 100 $D/otlp-small.pb > "$T/cut.pb"
{
	$cp critical -f operations $D/otlp-framed.pb 2>&1
	fails 1 "$cp" critical "$T/cut.pb"
} | sed "s,$T,TMP,g" | expect protobuf
