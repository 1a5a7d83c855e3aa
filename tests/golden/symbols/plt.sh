#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stubs are called after the function that they lead to, whichever linker made them.
. tests/golden/lib.sh
[ "$(uname -m)" = x86_64 ] || { echo "stubs are decoded on x86-64 only"; exit 77; }
cat > "$T/t.c" <<'C'
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) { return strcmp(v[0], v[c - 1]) + !getenv(v[0]); }
C
stubs() {
	name=$1; shift
	"$@" -O1 -fno-builtin -o "$T/$name" "$T/t.c"
	for f in strcmp getenv; do
		at=$(objdump -d "$T/$name" | awk -v f="<$f@plt>:" '$2 == f { print $1; exit }')
		[ -n "$at" ] || continue
		for off in 0 4 6; do
			here=$(printf '%x' $((0x$at + off)))
			"$cp" symbolize --elf "$T/$name" "$here" | sed "s/^$here/$name $f+$off:/"
		done
	done
}
{
	stubs lazy gcc -Wl,-z,lazy -fcf-protection=none
	stubs ibt gcc -Wl,-z,lazy -fcf-protection=full
	stubs now gcc -Wl,-z,now -fcf-protection=none -fplt
	stubs lld clang -fuse-ld=lld -Wl,-z,lazy
	strip "$T/lazy"
	at=$(objdump -d "$T/lazy" | awk '$2 == "<strcmp@plt>:" { print $1; exit }')
	"$cp" symbolize --elf "$T/lazy" "$at" | sed "s/^$at/stripped:/"
} | expect plt
