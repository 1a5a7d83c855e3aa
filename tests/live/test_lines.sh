#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --lines: inlined functions, files and lines are in the profile at the end of the capture; they are those of
# the program that ran, though its files were replaced meanwhile.
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
cp=$PWD/${O:-build}/causeprof
T=$(mktemp -d) p='' failed=0
chmod 755 "$T"
trap '[ -z "$p" ] || kill -9 $p 2> /dev/null; wait 2> /dev/null; rm -rf "$T"' EXIT

cat > "$T/busy.c" <<'C'
#include <time.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void inlined_burn(int n)
{
	for (int i = 0; i < n; i++)
		sum += i; /* line 6 */
}
__attribute__((noinline)) void rest(void)
{
	struct timespec t = { 0, 2000000 };

	nanosleep(&t, 0); /* line 12 */
	sum++;
}
__attribute__((noinline)) void work(void)
{
	inlined_burn(1000000); /* line 17 */
	rest();
	sum--;
}
int main(void)
{
	for (;;)
		work(); /* line 24 */
}
C
has() {
	if grep -qE "$2" "$T/folded"; then echo "ok $1"; else echo "NOT ok $1: no line like '$2' in:"; cat "$T/folded"; failed=1; fi
}
for how in plain debuglink dwo; do
	case $how in
	plain) (cd "$T" && gcc -O2 -g -o busy busy.c) ;;
	debuglink) (cd "$T" && gcc -O2 -g -o busy busy.c && objcopy --only-keep-debug busy busy.debug && strip --strip-all busy && objcopy --add-gnu-debuglink=busy.debug busy) ;;
	dwo) (cd "$T" && gcc -O2 -g -gsplit-dwarf -o busy busy.c) ;;
	esac || { echo "NOT ok $how: does not build"; exit 1; }
	"$T/busy" & p=$!
	sleep 0.2
	[ $how != plain ] || (sleep 0.5; rm "$T/busy") &
	"$cp" record -q -p $p --lines 1 -o "$T/$how.cprof" --no-svg || failed=1
	kill -9 $p; wait $p 2> /dev/null; p=''
	"$cp" fold --kinds=all --lines --annotate "$T/$how.cprof" > "$T/folded"
	has "$how: inlined, with lines" 'main \([^;]*busy\.c:24\);work \([^;]*busy\.c:17\);inlined_burn \([^;]*busy\.c:[56]\)_\[i\];\[running\]'
	has "$how: a wait" 'main \([^;]*busy\.c:24\);work \([^;]*busy\.c:1[89]\);rest \([^;]*busy\.c:1[23]\);.*nanosleep.*\[sleep\]'
	"$cp" fold --kinds=all "$T/$how.cprof" > "$T/folded"
	has "$how: names alone" 'main;work;inlined_burn;\[running\]'
done
# without being asked for, lines are not looked up
(cd "$T" && gcc -O2 -g -o busy busy.c); "$T/busy" & p=$!
sleep 0.2
"$cp" record -q -p $p 0.5 -o "$T/none.cprof" --no-svg || failed=1
"$cp" fold --kinds=all --lines "$T/none.cprof" > "$T/folded"
has "not asked for" 'main;work;\[running\]'
exit $failed
