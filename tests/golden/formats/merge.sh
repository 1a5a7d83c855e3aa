#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One unit before one picture: samples at a known rate and blocked microseconds add up; else it is refused.
# Filters keep and drop by frame.
. tests/golden/lib.sh
printf 'srv;main;compute 198\nsrv;main;parse 99\n' > "$T/on.folded"
printf 'srv;main;read;-;schedule 3000000\nsrv;main;lock;-;schedule 500000\n' > "$T/off.folded"
{
	$cp import --hz 99 --kind running "$T/on.folded" -o "$T/on.cprof"
	$cp import --unit us --kind sleep "$T/off.folded" -o "$T/off.cprof"
	$cp merge --json "$T/on.cprof" "$T/off.cprof" -o "$T/both.cprof"
	$cp export "$T/both.cprof"
	echo "-- twice is double"
	$cp merge "$T/both.cprof" "$T/both.cprof" -o "$T/twice.cprof"; $cp export "$T/twice.cprof"
	echo "-- refused"
	fails 1 "$cp" merge "$T/on.folded" "$T/off.cprof" -o "$T/no.cprof" | sed "s|$T|T|"
	[ ! -e "$T/no.cprof" ]
	fails 1 "$cp" merge "$T/on.cprof" "$T/off.cprof" -o "$T/both.cprof" | sed "s|$T|T|"
	echo "-- only read"; $cp export --only read "$T/both.cprof" 2>&1
	echo "-- without /^(read|lock)$/"; $cp export --without '/^(read|lock)$/' "$T/both.cprof" 2>&1
	echo "-- base main, two deep"; $cp export --base main --max-depth 2 "$T/both.cprof" 2>&1
	echo "-- fold and report, filtered"; $cp fold --only read --unit ns "$T/both.cprof" 2>&1
	$cp report --tree --base main "$T/both.cprof" 2>&1
	echo "-- nothing left"; fails 1 "$cp" export --only nothing "$T/both.cprof"
	fails 2 "$cp" export --only '/(/' "$T/both.cprof"
} | expect merge
