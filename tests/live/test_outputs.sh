#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a capture leaves behind agrees with itself: profile, text, second reader, folded lines, report, picture.
set -eu
O=${O:-build}; cp=$O/causeprof
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
T=$(mktemp -d) pid=''
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid"; } 2> /dev/null || :; rm -rf "$T"' EXIT
"$O/tests/workloads/truth" ladder "$T/stamps" & pid=$!
sleep 0.5
"$cp" record -p "$pid" --duration 0.5 -o "$T/a.cprof" --force > "$T/summary"
[ "$(wc -l < "$T/summary")" -le 26 ] || { echo "the summary is too long"; cat "$T/summary"; exit 1; }

# every nanosecond of every thread is in the folded lines
lifetime=$("$cp" report --json "$T/a.cprof" | python3 -c 'import json, sys; print(json.load(sys.stdin)["books"]["lifetime_ns"])')
folded=$("$cp" fold --kinds=all --unit=ns "$T/a.cprof" | awk '{ s += $NF } END { printf "%d", s }')
[ "$lifetime" -gt 0 ] && [ "$lifetime" = "$folded" ] || { echo "lifetimes $lifetime ns, folded lines $folded ns"; exit 1; }

# the picture has the same total and no class that the lines do not have
xmllint --noout "$T/a.svg"
"$cp" flame --static --plain "$T/a.cprof" -o "$T/static.svg"
grep -q '<title>all (' "$T/static.svg"

# text and back gives the same bytes; a reader made from the document finds the same
"$cp" dump "$T/a.cprof" -o "$T/a.txt"
"$cp" load "$T/a.txt" -o "$T/b.cprof"
cmp "$T/a.cprof" "$T/b.cprof"
python3 -B tests/tools/cprof_compare.py docs/FORMAT.md "$T/a.cprof" "$T/a.txt"

# nothing that was a name is left after redaction
"$cp" dump --redact "$T/a.cprof" > "$T/redacted"
if grep -n -E 'truth|nanosleep|main' "$T/redacted"; then echo "a name was left"; exit 1; fi

# a file in the way is found before the capture
start=$(date +%s)
rc=0; "$cp" record -p "$pid" --duration 20 -o "$T/a.cprof" 2> "$T/message" || rc=$?
[ $rc = 1 ] && [ $(($(date +%s) - start)) -lt 10 ] && grep -q 'exists already' "$T/message"

# bcc's lines: process, frames, blank, whole microseconds; no file is written
mkdir "$T/empty"; program=$(realpath "$cp")
(cd "$T/empty" && "$program" -df -p "$pid" 0.3 > "$T/bcc" && [ -z "$(ls)" ])
grep -qE '^truth;.*;-;.*schedule.* [0-9]+$' "$T/bcc"
if grep -vE '^truth;[^ ].* [0-9]+$' "$T/bcc"; then echo "not a line of bcc's form"; exit 1; fi
