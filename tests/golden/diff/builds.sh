#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions without a name are told apart by where they start, unless the profiles hold several builds of their file.
. tests/golden/lib.sh
make() { # FILE BUILD-ID START...
	out=$1 id=$2
	shift 2
	{
		printf 'causeprof-text 1\nheader window_end_ns=100000000 unit="ns"\nprocess 1 pid=10 comm="server"\n'
		printf 'mapping 1 start=0x1000 end=0x9000 path="/usr/sbin/server" process=1%s\n' "${id:+ build_id=$id build_id_bytes=20}"
		printf 'mapping 2 start=0x10000 end=0x19000 path="/usr/lib/libz.so" process=1 build_id=7777777777777777777777777777777777777777 build_id_bytes=20\n'
		printf 'frame 1 name="main"\n'
		printf 'frame 2 addr=0x10020 mapping=2 module="/usr/lib/libz.so" function=0x20 reason="[stripped]"\n'
		printf 'stack 1 frame=1\nstack 2 parent=1 frame=2\nsum stack=2 process=1 kind=running ns=5000 cnt=1\n'
		n=3
		for start; do
			printf 'frame %d addr=0x1%s mapping=1 module="/usr/sbin/server" function=0x%s reason="[stripped]"\n' $n "$start" "$start"
			printf 'stack %d parent=1 frame=%d\nsum stack=%d process=1 kind=running ns=%d000 cnt=1\n' $n $n $n $n
			n=$((n + 1))
		done
	} > "$T/text"
	"$cp" load "$T/text" -o "$T/$out"
}
one=$(printf 'ab%.0s' $(seq 20)) other=$(printf 'cd%.0s' $(seq 20))
make a.cprof "$one" 300 400
make b.cprof "$one" 300 400
make c.cprof "$other" 380 480
make d.cprof '' 380 480
{
	echo "-- one build"; "$cp" diff --folded "$T/a.cprof" "$T/b.cprof"; "$cp" diff "$T/a.cprof" "$T/b.cprof" | grep -c 'several builds' || true
	echo "-- another build of one file"; "$cp" diff --folded "$T/a.cprof" "$T/c.cprof"
	"$cp" diff "$T/a.cprof" "$T/c.cprof" | grep -o '[0-9]* file.*several builds[^.]*'
	echo "-- nothing is known about one of them"; "$cp" diff --folded "$T/a.cprof" "$T/d.cprof"
} | expect builds
