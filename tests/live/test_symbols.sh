#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names in living processes: other mount and PID namespaces, files deleted, renamed or replaced, code in
# memfds, remapped text, perf maps and who may write them, real JIT compilers.
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
O=${O:-build} cp=$PWD/${O:-build}/causeprof load=$PWD/$O/tests/workloads/code_in_memory
T=$(mktemp -d) pids=() failed=0
chmod 755 "$T"
cleanup() {
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2> /dev/null
	wait 2> /dev/null
	rm -rf "$T"
	rm -f "${maps[@]}"
}
maps=()
trap cleanup EXIT

# is WHAT PID ADDRESS REGEX: the name must match
is() {
	got=$("$cp" symbolize -p "$2" "$3" | sed 's/^[^ ]* //')
	if [[ $got =~ $4 ]]; then
		echo "ok $1: $got"
	else
		echo "NOT ok $1: got '$got', want $4"
		"$cp" symbolize --why -p "$2" "$3"
		failed=1
	fi
}
# addr FILE: waits for the address that a program prints
addr() { for _ in $(seq 50); do [ -s "$1" ] && break; sleep 0.1; done; head -n 1 "$1"; }

printf '#include <stdio.h>\n#include <unistd.h>\n__attribute__((noinline)) int FN(int x) { return x * 3; }
int main(int c, char **v) { (void)v; printf("%%lx\\n", (unsigned long)FN + 1); fflush(stdout); alarm(60); pause(); return FN(c); }\n' > "$T/t.c"
gcc -O1 -DFN=real_function -o "$T/real" "$T/t.c" && gcc -O1 -DFN=wrong_function -o "$T/wrong" "$T/t.c" || exit 1

for how in replaced removed renamed; do
	cp "$T/real" "$T/program"
	: > "$T/addr"; "$T/program" > "$T/addr" & p=$!; pids+=($p); a=$(addr "$T/addr")
	case $how in
	replaced) cp "$T/wrong" "$T/new" && mv "$T/new" "$T/program" ;;
	removed) rm "$T/program" ;;
	renamed) mv "$T/program" "$T/elsewhere" && cp "$T/wrong" "$T/program" ;;
	esac
	is "file $how" "$p" "$a" '^real_function$'
	rm -f "$T/program"
done

# the same path names another program outside of the namespace; debug files are looked for inside
mkdir "$T/d"; cp "$T/wrong" "$T/d/program"
: > "$T/addr"
unshare -m bash -c "mount --make-rprivate / && mount -t tmpfs t $T/d && cp $T/real $T/d/program && exec $T/d/program" > "$T/addr" 2> /dev/null & p=$!
pids+=($p); a=$(addr "$T/addr")
is "mount namespace" "$p" "$a" '^real_function$'

gcc -g -O1 -Wl,--build-id=sha1 -DFN=real_function -o "$T/full" "$T/t.c"
id=$(readelf -n "$T/full" | awk '/Build ID/ { print $3 }'); dir=$T/d/root/usr/lib/debug/.build-id/${id:0:2}
: > "$T/addr"
unshare -m bash -c "mount --make-rprivate / && mount -t tmpfs t $T/d && mkdir -p $dir && objcopy --only-keep-debug $T/full $dir/${id:2}.debug &&
	strip -s -o $T/d/root/program $T/full && mkdir -p $T/d/root/{lib,lib64,proc,tmp,usr} && mount --rbind /lib $T/d/root/lib && mount --rbind /lib64 $T/d/root/lib64 &&
	exec chroot $T/d/root /program" > "$T/addr" 2> "$T/err" & p=$!
pids+=($p); a=$(addr "$T/addr")
is "debug file in the target's root" "$p" "$a" '^real_function$'

: > "$T/addr"; "$load" remap > "$T/addr" & p=$!; pids+=($p)
is "remapped text" "$p" "$(addr "$T/addr")" '^known_function$'

echo 'int known_function_of_library(int x) { return x * 5; }' > "$T/lib.c"
gcc -O1 -shared -fPIC -o "$T/lib.so" "$T/lib.c"
: > "$T/addr"; "$load" memfd "$T/lib.so" > "$T/addr" & p=$!; pids+=($p)
is "library in a memfd" "$p" "$(addr "$T/addr")" '^known_function_of_library$'

: > "$T/addr"; "$load" jit > "$T/addr" & p=$!; pids+=($p); a=$(addr "$T/addr"); maps+=("/tmp/perf-$p.map")
is "perf map" "$p" "$a" '^known_function$'
chown 12345 "/tmp/perf-$p.map"
is "perf map of another user" "$p" "$a" '\[anon\]$'
chown 0 "/tmp/perf-$p.map"; touch -d '1 hour ago' "/tmp/perf-$p.map"
is "perf map older than the process" "$p" "$a" '\[anon\]$'
mv "/tmp/perf-$p.map" "$T/map"; touch "$T/map"; ln -s "$T/map" "/tmp/perf-$p.map"
is "perf map behind a symbolic link" "$p" "$a" '\[anon\]$'
rm "/tmp/perf-$p.map"

: > "$T/addr"; cp "$load" "$T/jit"
unshare -m -p -f bash -c "mount --make-rprivate / && mount -t proc proc /proc && cp $T/jit /var/tmp/.jit$$ && mount -t tmpfs t /tmp && { /var/tmp/.jit$$ jit & } && wait" > "$T/addr" 2> /dev/null & pids+=($!)
a=$(addr "$T/addr"); p=$(pgrep -n -f "^/var/tmp/.jit$$"); rm -f /var/tmp/.jit$$
if [ -n "$p" ]; then
	pids+=("$p"); maps+=("/tmp/perf-$p.map")
	echo "$a 40 wrong_outer_map" > "/tmp/perf-$p.map"
	is "perf map in a PID namespace" "$p" "$a" '^known_function$'
else
	echo "NOT ok perf map in a PID namespace: the process did not start"; failed=1
fi

if command -v node > /dev/null; then
	# it writes a log into the folder where it runs
	(cd "$T" && exec node --perf-basic-prof -e 'function busyOne(n){let s=0;for(let i=0;i<n;i++)s+=i%7;return s} let end=Date.now()+20000; function loop(){busyOne(1e5); if(Date.now()<end) setImmediate(loop)} loop()') & p=$!
	pids+=($p); maps+=("/tmp/perf-$p.map"); sleep 2
	line=$(grep -E '[:*~^+]busyOne' "/tmp/perf-$p.map" | tail -n 1)
	[ -n "$line" ] && is "node" "$p" "$(printf '%x' $((0x${line%% *} + 1)))" 'busyOne' || { echo "NOT ok node: no perf map"; failed=1; }
	kill -9 "$p"
fi

if command -v javac > /dev/null && command -v jcmd > /dev/null; then
	cat > "$T/Busy.java" <<'J'
public class Busy {
	static volatile long sum;
	static void busyMethod(int n) { for (int i = 0; i < n; i++) sum += i % 7; }
	public static void main(String[] a) { long end = System.currentTimeMillis() + 30000; while (System.currentTimeMillis() < end) busyMethod(100000); }
}
J
	javac -d "$T" "$T/Busy.java"
	java -XX:+PreserveFramePointer -cp "$T" Busy & p=$!
	pids+=($p); maps+=("/tmp/perf-$p.map"); line=''
	for _ in $(seq 15); do
		sleep 1
		jcmd "$p" Compiler.perfmap > /dev/null 2>&1
		line=$(grep -s busyMethod "/tmp/perf-$p.map" | tail -n 1)
		[ -z "$line" ] || break
	done
	start=${line%% *}; start=${start#0x}
	[ -n "$line" ] && is "java" "$p" "$(printf '%x' $((0x$start + 1)))" 'busyMethod' || { echo "NOT ok java: no perf map"; failed=1; }
	kill -9 "$p"
fi
exit $failed
