#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names for a recorded profile: only from the file that was mapped, with inlined functions put into stacks.
. tests/golden/lib.sh
mkdir "$T/src"
cat > "$T/src/t.c" <<'C'
volatile int g;
__attribute__((always_inline)) static inline void inner(int x) {
	g += x;
}
__attribute__((noinline)) void outer(int x) {
	inner(x);
	g++;
}
__attribute__((noinline)) void before(void) {
	g--;
}
int main(int c, char **v) { (void)v; before(); outer(c); return 0; }
C
(cd "$T" && gcc -g -O2 -no-pie -Wl,--build-id=sha1 -o t src/t.c)
id=$(readelf -n "$T/t" | awk '/Build ID/ { print $3 }')
addr() { echo $((0x$(nm "$T/t" | awk -v n="$1" '$3 == n { print $1 }') + $2)); }
off=$(readelf -lW "$T/t" | awk '$1 == "LOAD" && / R E / { print $2; exit }')
start=$(readelf -lW "$T/t" | awk '$1 == "LOAD" && / R E / { print $3; exit }')
profile() {
	cat <<P
causeprof-text 1
header window_end_ns=100 unit="ns"
process 1 pid=10 comm="t"
thread 1 tid=10 process=1
mapping 1 start=$start end=$(printf '0x%x' $((start + 4096))) off_bytes=$((off)) path="$T/t" build_id_bytes=20 build_id=$1 process=1
frame 1 addr=$(printf '0x%x' "$(addr main 5)") mapping=1 reason="[pending]"
frame 2 addr=$(printf '0x%x' "$(addr outer 3)") mapping=1 reason="[pending]" flags=exact_pc
frame 3 addr=$(printf '0x%x' "$(addr before 1)") mapping=1 reason="[pending]"
frame 4 name="read" kind=kernel
frame 5 addr=0x10 reason="[no map]"
stack 1 frame=1
stack 2 parent=1 frame=2
stack 3 parent=2 frame=4
stack 4 parent=1 frame=3
stack 5 frame=5
sum stack=3 process=1 kind=sleep ns=7 cnt=1
sum stack=4 process=1 kind=sleep ns=8 cnt=1
sum stack=5 process=1 kind=sleep ns=9 cnt=1
P
}
show() { "$cp" dump "$1" | grep -E '^(frame|stack|sum)' | sed "s/ addr=0x[0-9a-f]*//; s|$T||g"; }
{
	profile "$id" | "$cp" load - -o "$T/a.cprof"
	"$cp" symbolize "$T/a.cprof" -o "$T/b.cprof"
	show "$T/b.cprof"
	echo "-- lines"
	"$cp" symbolize --lines "$T/a.cprof" -o "$T/c.cprof"
	show "$T/c.cprof"
	"$cp" fold --lines --annotate --unit=ns "$T/c.cprof" | sed "s|$T||g"
	echo "-- another build"
	profile 0000000000000000000000000000000000000001 | "$cp" load - -o "$T/d.cprof"
	"$cp" symbolize --why "$T/d.cprof" -o "$T/e.cprof" | sed "s|$T||; s/0x[0-9a-f]*/ADDR/; s/[0-9a-f]*-[0-9a-f]* at/RANGE at/"
	show "$T/e.cprof" | grep '^frame'
	echo "-- what was tried, kept in the file"
	"$cp" report --unknown "$T/e.cprof" | sed "s|$T||; s/0x[0-9a-f]*/ADDR/"
	"$cp" symbolize --debug-dirs "$T/none" "$T/e.cprof" -o "$T/f.cprof"
	"$cp" report --unknown "$T/f.cprof" | sed "s|$T||; s/0x[0-9a-f]*/ADDR/" | grep -A 3 replaced
	echo "-- messages"
	fails 1 "$cp" symbolize "$T/a.cprof" -o "$T/b.cprof" | sed "s|$T||"
	fails 1 "$cp" symbolize "$T/none" -o "$T/g.cprof" | sed "s|$T||"
	fails 2 "$cp" symbolize "$T/a.cprof" | head -n 1
	"$cp" symbolize --json --force "$T/a.cprof" -o "$T/b.cprof"
} | expect profile
