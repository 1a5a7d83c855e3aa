#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files with damaged tables and debug information: every address gets one line and the status is 0, whatever
# happens to the process that reads them.
. tests/golden/lib.sh
cat > "$T/t.c" <<'C'
volatile int g;
static inline __attribute__((always_inline)) void inner(int x) { g += x; }
__attribute__((noinline)) void outer(int x) { inner(x); g++; }
__attribute__((noinline)) static int hidden(int x) { return x * 3; }
int main(int c, char **v) { (void)v; outer(c); return hidden(c); }
C
gcc -g -O2 -no-pie -o "$T/t" "$T/t.c"
nm "$T/t" | awk '$3 ~ /^(outer|hidden|main)$/ { print $1 }' > "$T/addrs"
for seed in $(seq 16); do
	# bytes behind the program headers and code: sections, symbols, debug information
	python3 - "$T/t" "$T/bad" "$seed" <<'P'
import random, sys
random.seed(int(sys.argv[3]))
data = bytearray(open(sys.argv[1], "rb").read())
for _ in range(1 << (int(sys.argv[3]) % 8)):
    data[random.randrange(0x3000, len(data))] = random.randrange(256)
open(sys.argv[2], "wb").write(data)
P
	"$cp" symbolize --lines --elf "$T/bad" < "$T/addrs" > "$T/out"
	[ "$(wc -l < "$T/out")" = 3 ] || { echo "seed $seed: $(cat "$T/out")"; exit 1; }
	awk 'NF < 2 { exit 1 }' "$T/out"
done
# the section table says that there are more symbols than memory: refused, named from the other table
python3 - "$T/t" "$T/big" <<'P'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
off = struct.unpack_from("<Q", data, 0x28)[0]
cnt = struct.unpack_from("<H", data, 0x3c)[0]
for i in range(cnt):
    at = off + 64 * i
    if struct.unpack_from("<I", data, at + 4)[0] == 2:
        struct.pack_into("<Q", data, at + 32, 1 << 60)
open(sys.argv[2], "wb").write(data)
P
"$cp" symbolize --elf "$T/big" "$(head -n 1 "$T/addrs")" | sed 's/[0-9a-f]\{6,\}/ADDR/g' | expect hostile
