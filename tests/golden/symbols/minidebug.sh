#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# MiniDebugInfo names static functions; a damaged one costs only its own names.
. tests/golden/lib.sh
command -v xz > /dev/null || { echo "no xz"; exit 77; }
cat > "$T/t.c" <<'C'
__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }
int main(int c, char **v) { (void)v; return hidden(c); }
C
gcc -O1 -rdynamic -o "$T/full" "$T/t.c"
objcopy --only-keep-debug "$T/full" "$T/mini"
xz -k "$T/mini"
strip -o "$T/stripped" "$T/full"
objcopy --add-section .gnu_debugdata="$T/mini.xz" "$T/stripped" "$T/good"
head -c 100 "$T/mini.xz" > "$T/cut.xz"
objcopy --add-section .gnu_debugdata="$T/cut.xz" "$T/stripped" "$T/cut"
head -c 100000000 /dev/zero | xz > "$T/bomb.xz"
objcopy --add-section .gnu_debugdata="$T/bomb.xz" "$T/stripped" "$T/bomb"
for file in full stripped good cut bomb; do
	for f in hidden main; do
		at=$(nm "$T/full" | awk -v n=$f '$3 == n { print $1 }')
		"$cp" symbolize --elf "$T/$file" "$at" | sed "s/^$at/$file $f:/; s/0x$at/-/"
	done
done | expect minidebug
