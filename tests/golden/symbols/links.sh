#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The address of a function in the file names it, however the program was linked.
. tests/golden/lib.sh
cat > "$T/t.c" <<'C'
__attribute__((noinline)) int target(int x) { return x * 3 + 1; }
__attribute__((noinline)) int other(int x) { return x - 7; }
int main(int c, char **v) { (void)v; return target(c) + other(c); }
C
link() {
	name=$1; shift
	"$@" -O1 -o "$T/$name" "$T/t.c" 2> "$T/err" || { echo "exit 77: $(tail -n 1 "$T/err")"; exit 77; }
	for f in target other main; do
		at=$(nm "$T/$name" | awk -v n=$f '$3 == n { print $1 }')
		"$cp" symbolize --elf "$T/$name" "$at" | sed "s/^$at/$name $f:/"
	done
}
{
	link pie gcc -fPIE -pie
	link fixed gcc -no-pie
	link static-pie gcc -static-pie
	link one-segment gcc -fPIE -pie -Wl,-z,noseparate-code
	link based gcc -no-pie -Wl,-Ttext-segment=0x4000000
	link lld clang -fPIE -pie -fuse-ld=lld -Wl,-z,noseparate-code
} | expect links
