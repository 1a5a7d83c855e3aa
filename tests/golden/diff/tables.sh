#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a difference says: against the frame itself, gone and new, addresses, units, gates, every output.
. tests/golden/lib.sh
printf 'main;pack 1\nmain;pack;tape 4\nmain;same 10\n' > "$T/a"
printf 'main;pack 2\nmain;same 10\nmain;new 3\n' > "$T/b"
printf 'main;0x7f99b0001000;f 6\nmain;[unknown] 0xffffffff9a000010 3\n' > "$T/x1"
printf 'main;0x7f12a0001000;f 5\nmain;[unknown] 0xffffffff81000010 3\n' > "$T/x2"
printf 'm;hot 100000\nm;cold 50000\nm;<b>|`x` 9000\n' > "$T/c"
printf 'm;hot 120000\nm;cold 50010\n' > "$T/d"
{
	$cp diff "$T/a" "$T/b"
	echo "-- folded"; $cp diff --folded "$T/a" "$T/b"
	echo "-- folded, by total"; $cp diff --folded -n total "$T/c" "$T/d"
	echo "-- addresses"; $cp diff --folded "$T/x1" "$T/x2"; $cp diff --folded --strip-addresses "$T/x1" "$T/x2"
	echo "-- counts"; $cp diff "$T/c" "$T/d"
	echo "-- markdown"; $cp diff --markdown "$T/c" "$T/d"
	echo "-- gates"
	fails 4 "$cp" diff --json --fail-if 'regression > 5% at p < 0.01' "$T/c" "$T/d"
	fails 4 "$cp" diff --folded --fail-if 'total regression > 5%' --fail-if 'cold change > 1%' "$T/c" "$T/d"
	$cp diff --folded --fail-if 'regression > 25%' --fail-if 'cold change > 0%' "$T/c" "$T/d" > /dev/null
	fails 2 "$cp" diff --fail-if 'slower' "$T/c" "$T/d"
	fails 1 "$cp" diff --folded --unit us --fail-if 'regression > 5%' "$T/c" "$T/d" | tail -n 1
	echo "-- refused"
	$cp import --unit us "$T/c" -o "$T/c.cprof"; fails 1 "$cp" diff "$T/c.cprof" "$T/d"
	fails 1 "$cp" diff -n wall "$T/c" "$T/d"; fails 1 "$cp" diff "$T/c"; fails 1 "$cp" diff --before "$T/c"
	echo "-- itself"; $cp diff "$T/c" "$T/c" | head -n 1
} | expect tables
