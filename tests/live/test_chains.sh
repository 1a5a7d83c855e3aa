#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Known chains main -> first -> second -> third, for each language and runtime that is here: every frame is in the stacks
# of running time, in order, with nothing between; compiled code in memory through perf maps.
#	tests/live/test_chains.sh [c cpp rust node java]
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
cp=$PWD/${O:-build}/causeprof
T=$(mktemp -d) p='' failed=0 tried=0
chmod 755 "$T"
trap '[ -z "$p" ] || { kill -9 $p; wait $p; rm -f "/tmp/perf-$p.map"; } 2> /dev/null; rm -rf "$T"' EXIT
[ $# -gt 0 ] || set -- c cpp rust node java

# chain NAME REGEX COMMAND...: captures the command; a folded line must match
chain() {
	local name=$1 regex=$2
	shift 2
	tried=1
	(cd "$T" && exec "$@") > "$T/log" 2>&1 & p=$!
	sleep "${WARM_UP:-0.3}"
	[ -z "${BEFORE:-}" ] || $BEFORE "$p" > /dev/null 2>&1
	"$cp" record -q -p $p 1 -o "$T/$name.cprof" --replace --no-svg || failed=1
	"$cp" fold --kinds=all "$T/$name.cprof" > "$T/folded"
	{ kill -9 $p; wait $p; } 2> /dev/null
	rm -f "/tmp/perf-$p.map"; p=''
	if grep -qE "$regex" "$T/folded"; then
		echo "ok $name: $(grep -oE -m 1 "$regex" "$T/folded" | cut -c 1-160)"
	else
		echo "NOT ok $name: no line like '$regex' in:"; cut -c 1-300 "$T/folded" | head -n 20; cat "$T/log"; failed=1
	fi
}

body='volatile unsigned long sum;
#define KEEP __attribute__((noinline))
KEEP void third(int n) { for (int i = 0; i < n; i++) sum += i; struct timespec t = { 0, 2000000 }; nanosleep(&t, 0); sum++; }
KEEP void second(int n) { third(n); sum++; }
KEEP void first(int n) { second(n); sum++; }
int main(void) { for (;;) first(1000000); }'
for language; do
	case $language in
	c)
		printf '#include <time.h>\n%s\n' "$body" > "$T/t.c"
		for compiler in gcc clang; do
			for flags in '-pie -fPIE' '-static' '-static-pie -fPIE'; do
				# shellcheck disable=SC2086 # a list
				$compiler -O2 -fomit-frame-pointer $flags -o "$T/t" "$T/t.c" 2> "$T/err" || { echo "skipped $compiler $flags: $(head -n 1 "$T/err")"; continue; }
				chain "$compiler$flags" 'main;first;second;third;\[running\]' ./t
			done
		done ;;
	cpp)
		printf '#include <time.h>\nnamespace chain {\n%s\n' "${body/int main(void)/\} int main()}" | sed 's/for (;;) first/for (;;) chain::first/' > "$T/t.cpp"
		g++ -O2 -fomit-frame-pointer -o "$T/t" "$T/t.cpp" || { failed=1; continue; }
		chain cpp 'main;chain::first\(int\);chain::second\(int\);chain::third\(int\);\[running\]' ./t ;;
	rust)
		command -v rustc > /dev/null || { echo "skipped rust: no rustc"; continue; }
		cat > "$T/t.rs" <<'R'
use std::{hint::black_box, thread, time::Duration};
#[inline(never)] fn third(n: u64) { let mut s = 0u64; for i in 0..n { s = black_box(s + i); } thread::sleep(Duration::from_millis(2)); black_box(s); }
#[inline(never)] fn second(n: u64) { third(n); black_box(n); }
#[inline(never)] fn first(n: u64) { second(n); black_box(n); }
fn main() { loop { first(black_box(1000000)); } }
R
		(cd "$T" && rustc -O -o t t.rs 2> err) || { echo "NOT ok rust: $(head -n 3 "$T/err")"; failed=1; continue; }
		chain rust 't::main;t::first;t::second;t::third;\[running\]' ./t
		chain rust-wait 't::main;t::first;t::second;t::third;std::thread::.*sleep.*nanosleep.*\[sleep\]' ./t ;;
	node)
		command -v node > /dev/null || { echo "skipped node: no node"; continue; }
		cat > "$T/t.js" <<'J'
let sum = 0;
function third(n) { for (let i = 0; i < n; i++) sum = (sum + i) % 1000003; return sum; }
function second(n) { return third(n) + 1; }
function first(n) { return second(n) + 1; }
const end = Date.now() + 30000;
(function loop() { for (let i = 0; i < 20; i++) first(100000); if (Date.now() < end) setImmediate(loop); })();
J
		WARM_UP=2 chain node '[:*~^+]?first [^;]*;[^;]*[:*~^+]?second [^;]*;[^;]*[:*~^+]?third [^;]*;.*\[running\]' \
			node --perf-basic-prof --no-turbo-inlining --no-maglev-inlining t.js
		;;
	java)
		command -v javac > /dev/null && command -v jcmd > /dev/null || { echo "skipped java: no JDK"; continue; }
		cat > "$T/Chain.java" <<'J'
public class Chain {
	static volatile long sum;
	static void third(int n) { for (int i = 0; i < n; i++) sum += i % 7; }
	static void second(int n) { third(n); sum++; }
	static void first(int n) { second(n); sum++; }
	public static void main(String[] a) { long end = System.currentTimeMillis() + 60000; while (System.currentTimeMillis() < end) first(20000); }
}
J
		javac -d "$T" "$T/Chain.java" || { failed=1; continue; }
		perfmap() { sleep 1; jcmd "$1" Compiler.perfmap; }
		WARM_UP=4 BEFORE=perfmap chain java 'Chain\.first[^;]*;[^;]*Chain\.second[^;]*;[^;]*Chain\.third[^;]*;.*\[running\]' \
			java -XX:+PreserveFramePointer -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Chain::* -cp . Chain ;;
	esac
done
[ $tried = 1 ] || { echo "nothing to try"; exit 77; }
exit $failed
