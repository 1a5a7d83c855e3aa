#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug information that dwz moved to a file shared by two programs.
. tests/golden/lib.sh
command -v dwz > /dev/null || { echo "no dwz"; exit 77; }
mkdir "$T/src"
cat > "$T/src/lib.h" <<'C'
struct point { int x, y; struct point *next; };
volatile int g;
__attribute__((always_inline)) static inline void shared_inline_function(struct point *p) {
	g += p->x;
	g *= p->y;
}
C
for n in 1 2; do
	cat > "$T/src/t$n.c" <<C
#include "lib.h"
__attribute__((noinline)) void outer$n(struct point *p) {
	shared_inline_function(p);
	g++;
}
int main(void) { struct point p = { $n, 2, 0 }; outer$n(&p); return 0; }
C
	(cd "$T" && gcc -O2 -g -gdwarf-4 -o "p$n" "src/t$n.c" -Wl,--build-id=sha1)
done
(cd "$T" && dwz -m common.debug -M common.debug p1 p2) || { echo "dwz found nothing to share"; exit 77; }
readelf -S "$T/p1" | grep -q gnu_debugaltlink
ask() {
	at=$(nm "$T/p$1" | awk -v n="outer$1" '$3 == n { print $1 }')
	for off in $(seq 0 20); do printf '%x\n' $((0x$at + off)); done | "$cp" symbolize --inlined --elf "$T/p$1" |
		sed 's/^[0-9a-f]* //' | grep ';' | sort -u | sed "s/^/$2: /"
}
{
	ask 1 shared; ask 2 shared
	mv "$T/common.debug" "$T/gone"; ask 1 gone
} | expect dwz
