#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A small synthetic trace through all forms of the result; the trace's bytes are part of what is expected.
. tests/golden/lib.sh
$cp maketrace tests/traces/t2.conf -s 'instances 60' -o "$T/trace" -t "$T/truth"
cksum < "$T/trace" | expect trace
cksum < "$T/truth" | expect truth
$cp paths --method nesting -n 2 --window 1s "$T/trace" 2> "$T/err" | expect text
expect err < "$T/err"
$cp paths --method nesting -n 1 --json "$T/trace" 2> /dev/null | expect json
$cp paths --method nesting -n 1 "$T/trace" -o "$T/x.dot" 2> /dev/null; expect dot < "$T/x.dot"
$cp paths --method nesting -n 1 "$T/trace" -o "$T/x.html" 2> /dev/null; expect html < "$T/x.html"
$cp paths --method nesting "$T/trace" -o "$T/x.folded" 2> /dev/null; expect folded < "$T/x.folded"
$cp paths --method nesting -n 1 --truth "$T/truth" "$T/trace" 2> /dev/null | expect judged
$cp maketrace tests/traces/t1.conf -s 'instances 60' -o "$T/before"
$cp paths --method nesting --compare "$T/before" "$T/trace" 2> /dev/null | expect compare
# packed, and through a pipe: the same bytes
$cp paths --method nesting -n 2 --window 1s "$T/trace" > "$T/plain" 2> /dev/null
gzip -c "$T/trace" | $cp paths --method nesting -n 2 --window 1s - 2> /dev/null | cmp - "$T/plain"
