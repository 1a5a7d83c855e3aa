#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every form of folded text of one profile.
. tests/golden/lib.sh
"$cp" load tests/golden/fold/server.txt -o "$T/s.cprof"
show() { echo "# fold $*"; "$cp" fold "$@" "$T/s.cprof"; }
{
	show
	show -d
	show --kinds=all --annotate -d
	show --kinds=off
	show --kinds=R
	show --kinds=sleep,disk --unit=ns
	show -U --root=pid
	show -K --root=none --annotate
	show --unfold-asleep --kinds=sleep --root=tid
} | expect forms
{
	fails 2 "$cp" fold -U -K "$T/s.cprof"
	fails 2 "$cp" fold --kinds=sleeping "$T/s.cprof"
	fails 2 "$cp" fold --kinds=, "$T/s.cprof"
	fails 2 "$cp" fold
	fails 1 "$cp" fold "$T/s.cprof" -o none/x
	echo "# a kind without time"
	"$cp" fold --kinds=traced "$T/s.cprof" 2>&1
} | sed "s|$T|T|g" | expect messages
# what was written with kinds and suffixes reads back to the same lines
"$cp" fold --kinds=all --annotate --unit=ns "$T/s.cprof" > "$T/1"
"$cp" import --unit ns "$T/1" -o "$T/r.cprof"
"$cp" fold --kinds=all --annotate --unit=ns --root=none "$T/r.cprof" | cmp - "$T/1"
# peers read it: every line ends in a blank and a number, and sums are kept
"$cp" fold -d "$T/s.cprof" | grep -vE '^[^ ].* [0-9]+$' && exit 1
[ "$("$cp" fold --kinds=all --unit=ns "$T/s.cprof" | awk '{ s += $NF } END { printf "%d", s }')" = 510000000 ]
