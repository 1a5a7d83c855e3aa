#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of one tool and blocked microseconds of another, in one unit and one picture.
. tests/golden/lib.sh
printf 'srv;main;compute 198\nsrv;main;parse 99\n' > "$T/on"
printf 'srv;main;read;-;schedule 3000000\nsrv;main;lock;-;schedule 500000\n' > "$T/off"
"$cp" import --hz 99 --kind running "$T/on" -o "$T/on.cprof"
"$cp" import --unit us --kind sleep "$T/off" -o "$T/off.cprof"
"$cp" merge "$T/on.cprof" "$T/off.cprof" -o "$T/mix.cprof"
{
	"$cp" report "$T/mix.cprof"
	"$cp" fold --kinds=all "$T/mix.cprof"
	"$cp" flame --static --plain "$T/mix.cprof" | grep -o '<title>[^<]*</title>' | sed 's/<[^>]*>//g'
} | expect mix
# without a rate samples are no time
"$cp" import "$T/on" -o "$T/samples.cprof"
fails 1 "$cp" merge "$T/samples.cprof" "$T/off.cprof" -o "$T/x.cprof" > "$T/message"
[ ! -e "$T/x.cprof" ]
