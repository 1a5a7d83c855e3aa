#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined functions and lines: DWARF 4 and 5, from gcc and clang, in the file, in a separate one, split into
# .dwo files, shared by dwz; without the .dwo what is left is still named.
. tests/golden/lib.sh
mkdir "$T/src"
cat > "$T/src/t.c" <<'C'
volatile int g;
__attribute__((always_inline)) static inline void inner(int x) {
	g += x;
	g *= 3;
}
__attribute__((always_inline)) static inline void middle(int x) {
	inner(x);
	g ^= 5;
}
__attribute__((noinline)) void outer(int x) {
	middle(x);
	g++;
}
int main(int c, char **v) { (void)v; outer(c); return 0; }
C
# every address of outer() gives one chain; print the set of chains
chains() {
	file=$1; shift
	at=$(nm "$T/full" | awk '$3 == "outer" { print $1 }')
	for off in $(seq 0 30); do printf '%x\n' $((0x$at + off)); done |
		"$cp" symbolize --lines --debug-dirs "$T/dbg" --elf "$file" |
		sed "s/^[0-9a-f]* //; s|$T||g" | grep '^outer' | grep -v '^outer ([^;]*)$' | sort -u | sed "s/^/$1: /"
}
build() { (cd "$T" && "$@" -O2 -o full src/t.c); }
{
	build gcc -g -gdwarf-5; chains "$T/full" gcc-5
	build gcc -g -gdwarf-4; chains "$T/full" gcc-4
	build clang -g -gdwarf-5; chains "$T/full" clang-5
	build gcc -g -gsplit-dwarf -gdwarf-5; chains "$T/full" split-5
	build gcc -g -gsplit-dwarf -gdwarf-4; chains "$T/full" split-4
	rm "$T"/*.dwo
	at=$(nm "$T/full" | awk '$3 == "outer" { print $1 }')
	"$cp" symbolize --inlined --elf "$T/full" "$at" | sed 's/^[0-9a-f]* /no .dwo: /'
	build gcc -g -Wl,--build-id=sha1
	id=$(readelf -n "$T/full" | awk '/Build ID/ { print $3 }')
	dir=$T/dbg/.build-id/$(echo "$id" | cut -c1-2); mkdir -p "$dir"
	objcopy --only-keep-debug "$T/full" "$dir/$(echo "$id" | cut -c3-).debug"
	strip -o "$T/stripped" "$T/full"; chains "$T/stripped" separate
	build gcc -g -gz=zlib; chains "$T/full" compressed
} | expect inlined
