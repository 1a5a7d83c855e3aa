#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Parts of a profile: slices of time, processes, cgroups and containers; as roots and as filters.
. tests/golden/lib.sh
"$cp" load tests/golden/report/parts.txt -o "$T/p.cprof"
show() { echo "# $*"; "$cp" "$@" "$T/p.cprof" 2>&1; }
{
	show report --slices
	show fold --root container --kinds all
	show fold --root cgroup --kinds running
	show fold --root pid --kinds running
	show fold --kinds all --since 0.2
	show fold --kinds all --since 0.05 --until 150ms
	show fold --kinds all --until 0.1 --comm '[sw]*'
	show fold --kinds all --cgroup 0123456789ab
	show fold --kinds all --cgroup '/system.slice/*' --since 200ms
	show fold --kinds all --pid 1
	show report --pid 4242 --width 80
	show report --since 0.2 --width 80
} | expect parts
"$cp" report --json "$T/p.cprof" | python3 -c 'import json, sys
for s in json.load(sys.stdin)["slices"]: print(*s.values())' | expect slices
"$cp" flame --plain --by container --comm 'w*' "$T/p.cprof" 2> "$T/err" > "$T/w.svg"
grep -q 0123456789ab "$T/w.svg" && ! grep -q query "$T/w.svg" || { echo "the picture is not that of the container"; exit 1; }
printf 'a;b 3\nc;d 5\n' | "$cp" flame --plain --static --only b - 2> /dev/null > "$T/w.svg"
grep -q '<title>b ' "$T/w.svg" && ! grep -q '<title>d ' "$T/w.svg" || { echo "filters do not hold for folded text"; exit 1; }
{
	fails 1 "$cp" fold --since 1 "$T/p.cprof"
	fails 1 "$cp" fold --since 0.2 --until 0.1 "$T/p.cprof"
	fails 1 "$cp" fold --pid 5 "$T/p.cprof"
	printf 'a;b 3\n' > "$T/f"
	fails 1 "$cp" report --since 0.1 "$T/f"
} | sed "s|$T|T|g" | expect part-messages
