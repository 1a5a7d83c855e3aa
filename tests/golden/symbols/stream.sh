#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Addresses of one file on standard input are answered in batches: as each is by itself, whatever the lines look like.
. tests/golden/lib.sh
python3 - > "$T/t.c" <<'P'
for i in range(300):
    print("__attribute__((noinline)) int function_%03d(int x) { return x * %d; }" % (i, i + 2))
print("int main(int c, char **v) { (void)v; return " + " + ".join("function_%03d(c)" % i for i in range(300)) + "; }")
P
gcc -O1 -no-pie -o "$T/t" "$T/t.c"
python3 - "$T/t" > "$T/in" <<'P'
import subprocess, sys
for line in subprocess.run(["readelf", "-lW", sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
    f = line.split()
    if f[:1] == ["LOAD"] and " R E " in line:
        start, size, seed = int(f[2], 16), int(f[5], 16), 1
        for i in range(40000): # more than a batch, and lines across the ends of blocks
            seed = (seed * 1103515245 + 12345) % 2147483648
            print(("0x%x", "%x", "%016x")[i % 3] % (start + seed % (size + 64)))
P
for o in '' --return; do
	# shellcheck disable=SC2086 # an empty option is none
	"$cp" symbolize $o --elf "$T/t" < "$T/in" > "$T/stream"
	# operands are looked up one by one
	# shellcheck disable=SC2086,SC2046
	head -n 3000 "$T/in" | xargs "$cp" symbolize $o --elf "$T/t" > "$T/single"
	head -n 3000 "$T/stream" | cmp - "$T/single"
	[ "$(wc -l < "$T/stream")" = 40000 ] || { echo "lines are missing"; exit 1; }
	cut -d ' ' -f 1 "$T/stream" | cmp - "$T/in"
	# the same address has the same answer wherever it stands
	tac "$T/in" | "$cp" symbolize --elf "$T/t" $o | tac | cmp - "$T/stream"
done
at=$(nm "$T/t" | awk '$3 == "function_007" { print $1 }')
{
	printf '%s\r\n0x%s' "$at" "$at" | "$cp" symbolize --elf "$T/t" | sed "s/$at/ADDR/"
	printf '%s\nzz\n%s\n' "$at" "$at" > "$T/bad"
	fails 1 "$cp" symbolize --elf "$T/t" < "$T/bad" | sed "s/$at/ADDR/"
	printf '%s\n\n' "$at" > "$T/bad"
	fails 1 "$cp" symbolize --elf "$T/t" < "$T/bad" | sed "s/$at/ADDR/"
	head -c 300000 /dev/zero | tr '\0' 0 > "$T/bad"
	fails 1 "$cp" symbolize --elf "$T/t" < "$T/bad"
	: | "$cp" symbolize --elf "$T/t"
	echo 1234 > "$T/in"
	fails 1 "$cp" symbolize --elf "$T/none" < "$T/in" | sed "s|$T||"
	"$cp" symbolize --elf "$T/t.c" < "$T/in"
	"$cp" symbolize --elf "$T/t" < "$T/in"
} | expect stream
