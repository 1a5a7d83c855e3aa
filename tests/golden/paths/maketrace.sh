#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every standard configuration gives the bytes that it gives everywhere; wrong ones are refused with their line.
. tests/golden/lib.sh
for c in tests/traces/*.conf; do
	$cp maketrace "$c" -s 'instances 200' -o "$T/trace" -t "$T/truth"
	echo "${c##*/} $(cksum < "$T/trace") $(cksum < "$T/truth")"
done | expect bytes
$cp maketrace tests/traces/t1.conf -s 'instances 3' -s 'copies 2' -s 'dev 0%' -s 'node WS1 skew=-0.5' \
	-t "$T/truth" | expect small
expect small_truth < "$T/truth"
$cp maketrace tests/traces/t1.conf -s 'instances 500' -s 'capture rate=50 queue=4' -o "$T/lossy" 2>&1 | expect loss
{
	bad() { printf '%b' "$1" > "$T/c"; (cd "$T" && "$OLDPWD/$cp" maketrace c 2>&1) || echo "status $?"; }
	bad ''
	bad 'tracelet x\nA -> B ret 0.1\n'
	bad 'tracelet x\nA* -> B call 0.1\n'
	bad 'A -> B call 0.1\n'
	bad 'tracelet x\nA -> B jump 0.1\n'
	bad 'tracelet x\nA -> B call 0.1 0.1 0.1\n'
	bad 'tracelet x\nA -> B call -0.1\n'
	bad 'tracelet x\nparallel {\nA -> B call 0.1\n'
	bad 'tracelet x\nrepeat 3 {\n}\n'
	bad 'tracelet x\nA -> B call 99999999999\n'
	bad 'tracelet x copies=2000000\n'
	bad 'tracelet x think=3..1\n'
	bad 'seed x\n'
	bad 'nonsense\n'
} | expect refused
