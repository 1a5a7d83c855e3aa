#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Summary, tables, trees and JSON of one profile.
. tests/golden/lib.sh
"$cp" load tests/golden/fold/server.txt -o "$T/s.cprof"
"$cp" report "$T/s.cprof" | expect summary
lines=$("$cp" report "$T/s.cprof" | wc -l)
[ "$lines" -le 24 ] || { echo "the summary has $lines lines"; exit 1; }
for width in 60 80 100; do # no line is wider than asked, whatever the names
	widest=$("$cp" report --width=$width "$T/s.cprof" | sed 's/^cost.*//; s/^books.*//; s/^stolen.*//; s/^switches.*//' | LC_ALL=C.UTF-8 wc -L)
	[ "$widest" -le $width ] || { echo "width $width: a line has $widest columns"; exit 1; }
done
show() { echo "# report $*"; "$cp" report "$@" "$T/s.cprof"; }
{
	show --threads
	show --tree
	show --tree --min-share=0 --annotate --kinds=blocked --unfold-asleep --root=tid
	show --unknown
	show --top=1 --width=60
} | expect tables
"$cp" report --json --tree "$T/s.cprof" > "$T/json"
python3 -m json.tool "$T/json" > /dev/null
expect json < "$T/json"
printf 'a;b 3\na;c 5\n' | "$cp" report - | expect imported
printf 'causeprof-text 1\n' | "$cp" load - -o "$T/empty.cprof"
for o in '' --threads --tree --unknown --json; do
	echo "# empty profile: report $o"
	# shellcheck disable=SC2086 # an empty option is none
	"$cp" report $o "$T/empty.cprof"
done | expect empty
{
	fails 2 "$cp" report
	fails 2 "$cp" report --kinds=x "$T/s.cprof"
	fails 2 "$cp" report --min-share=200 "$T/s.cprof"
	fails 1 "$cp" report "$T/none"
} | sed "s|$T|T|g" | expect messages
