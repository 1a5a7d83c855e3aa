#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was tried for unnamed frames is kept in the profile: it is there when programs and files are gone.
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
O=${O:-build} cp=$PWD/${O:-build}/causeprof
T=$(mktemp -d) pids=() failed=0
chmod 755 "$T"
trap '[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2> /dev/null; wait 2> /dev/null; rm -rf "$T"' EXIT

# says WHAT FILE REGEX: a line of the file must match
says() {
	if grep -qE "$3" "$2"; then
		echo "ok $1"
	else
		echo "NOT ok $1: no line like '$3' in:"; cat "$2"; failed=1
	fi
}

cat > "$T/t.c" <<'C'
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) static void hidden_burn(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void hidden_rest(void) { struct timespec t = { 0, 2000000 }; nanosleep(&t, 0); sum++; }
int main(void) { for (;;) { hidden_burn(1000000); hidden_rest(); } }
C
gcc -g -O1 -Wl,--build-id=sha1 -o "$T/full" "$T/t.c" && strip -o "$T/program" "$T/full" || exit 1
id=$(readelf -n "$T/full" | awk '/Build ID/ { print $3 }')

for _ in 1 2; do "$T/program" & pids+=($!); done
sleep 0.2
"$cp" record -q -p "${pids[0]},${pids[1]}" 1 -o "$T/a.cprof" --no-svg || failed=1
kill -9 "${pids[@]}"; wait 2> /dev/null; pids=()
mv "$T/program" "$T/gone"
"$cp" report --unknown "$T/a.cprof" > "$T/out"
says "the file and the reason" "$T/out" "\[stripped\] $T/program 0x"
says "the debug file that was looked for" "$T/out" "debug file /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug: No such file"
says "the tables that were read" "$T/out" '\.symtab: none'
# functions are told apart all the same, by where they start
start() { echo "$((0x$(nm "$T/full" | awk -v n="$1" '$3 == n { print $1 }')))"; }
"$cp" fold --kinds=all "$T/a.cprof" > "$T/folded"
says "where a running function starts" "$T/folded" "$(printf '\\[stripped\\] %s\\+0x%x;\\[stripped\\] %s\\+0x%x;.*running' "$T/program" "$(start main)" "$T/program" "$(start hidden_burn)")"
says "where a waiting function starts" "$T/folded" "$(printf '\\[stripped\\] %s\\+0x%x;.*nanosleep.*sleep' "$T/program" "$(start hidden_rest)")"
groups=$(grep -c "$T/program 0x" "$T/out")
[ "$groups" = 1 ] && echo "ok processes of one program are one group" || { echo "NOT ok: $groups groups of one program"; cat "$T/out"; failed=1; }

# later, with a debug file: named; the program itself is found where it was
mv "$T/gone" "$T/program"
mkdir -p "$T/debug/.build-id/${id:0:2}"; objcopy --only-keep-debug "$T/full" "$T/debug/.build-id/${id:0:2}/${id:2}.debug"
"$cp" symbolize --debug-dirs "$T/debug" "$T/a.cprof" -o "$T/b.cprof" > /dev/null
"$cp" fold --kinds=all "$T/b.cprof" > "$T/folded"
says "named later" "$T/folded" 'main;hidden_burn'
"$cp" report --unknown "$T/b.cprof" > "$T/out"
if grep -q "$T/program" "$T/out"; then echo "NOT ok: still unnamed"; cat "$T/out"; failed=1; else echo "ok nothing of the program is unnamed"; fi

# code that a compiler made in memory, without a perf map
if command -v node > /dev/null; then
	(cd "$T" && exec node -e 'const end = Date.now() + 20000; function busy(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }
		(function loop() { busy(1e5); if (Date.now() < end) setImmediate(loop) })()') & pids+=($!); sleep 1
	"$cp" record -q -p "${pids[0]}" 1 -o "$T/c.cprof" --no-svg || failed=1
	"$cp" report --unknown "$T/c.cprof" > "$T/out"
	says "compiled in memory" "$T/out" '\[anon\] - 0x'
	says "the perf map that was looked for" "$T/out" "perf map /tmp/perf-${pids[0]}.map .*: No such file"
fi
exit $failed
