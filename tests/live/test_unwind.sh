#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Off-CPU stacks of threads in all kinds of waits, of programs built in all kinds of ways: rows against gdb
# (without debug files), against libunwind, and against what the kernel's walker gives for the same stopped
# threads. No frame may differ.
# usage: tests/live/test_unwind.sh [NAME]   (one of the builds below)
set -u
O=${O:-build}
only=${1-}
tools=$O/tests/tools
dir=$O/tests/unwind
command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "needs root (ptrace)"; exit 77; }
mkdir -p "$dir"
failed=0 kernel=0 threads=0 frames=0 programs=0 skipped='' early=0
pid=''
trap '[ -z "$pid" ] || kill -9 $pid 2> /dev/null' EXIT

# One line a thread from two files: TID WHO STOP pc...; rows may end at a root before gdb does (the first
# function of a coroutine: nobody called it), never after it, and not with another frame.
compare() {
	awk -v name="$3" '
	NR == FNR { theirs[$1] = $0; next }
	$2 != "rows" { next }
	{
		if (!($1 in theirs)) { print name ": thread " $1 " is not known to gdb"; bad++; next }
		n = split(theirs[$1], g, " "); threads++; frames += NF - 3
		for (i = 4; i <= NF && i <= n; i++)
			if ($i != g[i]) break
		if ($3 == "zero" && NF == 4 && n == 5 && g[5] == "0") next # a thread that has not started
		if ((i <= NF && i <= n) || NF > n || $3 != "root") {
			print name ": rows and gdb differ at frame " i - 4; print "  " $0; print "  " theirs[$1]; bad++
		} else if (NF < n) early++
	}
	END { print "T", threads + 0, frames + 0, bad + 0, early + 0 }' "$2" "$1"
}

# The user stacks of a profile, as addresses from the innermost on, one a line.
profile_stacks() {
	"$O/causeprof" dump "$1" | awk '
	function field(name,   i) { for (i = 2; i <= NF; i++) if (index($i, name "=") == 1) return substr($i, length(name) + 2); return "" }
	$1 == "frame" { addr[$2] = /kind=kernel|kind=mark|inlined/ ? "" : substr(field("addr"), 3) }
	$1 == "stack" { parent[$2] = field("parent"); frame[$2] = field("frame") }
	$1 == "sum" {
		line = ""
		for (s = field("stack"); s in frame; s = parent[s])
			if (addr[frame[s]] != "") line = line (line == "" ? "" : " ") addr[frame[s]]
		if (line != "") print line
	}' | sort -u
}

# The kernel walked the stopped threads while it took its census.
check_kernel() {
	rm -f "$dir/x.cprof" "$dir/x.svg"
	if ! "$O/causeprof" record -p "$2" --duration 0.05 -o "$dir/x.cprof" > "$dir/log" 2>&1; then
		echo "$1: record failed:"; cat "$dir/log"; failed=1; return
	fi
	profile_stacks "$dir/x.cprof" > "$dir/kernel"
	awk '$2 == "rows" { $1 = $2 = $3 = ""; sub(/^ */, ""); print }' "$dir/rows" | sort -u > "$dir/want"
	if ! cmp -s "$dir/want" "$dir/kernel"; then
		echo "$1: the kernel walked other stacks (< reference, > kernel)"; diff "$dir/want" "$dir/kernel"; failed=1
	fi
	kernel=$((kernel + $(wc -l < "$dir/kernel")))
}

check() { # NAME PROGRAM
	name=$1; shift
	rm -f "$dir/ready" # the shell's child makes it anew, perhaps after the first look below
	"$@" > "$dir/ready" & pid=$!
	for _ in $(seq 200); do grep -q ready "$dir/ready" 2> /dev/null && break; sleep 0.05; done
	kill -STOP $pid
	sleep 0.1
	"$tools/walk_threads" $pid > "$dir/rows" || { echo "$name: rows and libunwind differ"; cat "$dir/rows"; failed=1; }
	gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -iex 'set auto-load no' -p $pid \
		-ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' -ex 'set backtrace limit 200' \
		-x tests/tools/gdb_stacks.py 2> /dev/null | grep -E '^[0-9]+ gdb ' > "$dir/gdb"
	check_kernel "$name" $pid
	kill -9 $pid; wait $pid 2> /dev/null; pid=''
	compare "$dir/rows" "$dir/gdb" "$name" > "$dir/verdict"
	grep -v '^T ' "$dir/verdict"
	# shellcheck disable=SC2046 # five words
	set -- $(grep '^T ' "$dir/verdict")
	threads=$((threads + $2)); frames=$((frames + $3)); early=$((early + $5)); programs=$((programs + 1))
	[ "$4" = 0 ] || failed=1
	[ "$2" -ge 4 ] || { echo "$name: only $2 threads compared, 4 or more wait in it"; failed=1; }
}

build() { # NAME COMPILER SOURCE FLAGS...
	[ -z "$only" ] || [ "$only" = "$1" ] || return 0
	out=$dir/$1 cc=$2 src=$3; shift 3
	command -v "${cc%% *}" > /dev/null || { skipped="$skipped ${out##*/}"; return; }
	# shellcheck disable=SC2086 # a compiler with its flags
	if $cc -O2 -fomit-frame-pointer -D_GNU_SOURCE "$@" "$src" -o "$out" -lpthread 2> "$dir/log"; then
		case $out in *debug-frame) ;; *) strip "$out" ;; esac
		check "${out##*/}" "$out"
	else
		skipped="$skipped ${out##*/}"
	fi
}

waits=tests/workloads/unwind_waits.c throw=tests/workloads/unwind_throw.cpp
for c in gcc clang; do
	build waits-$c-pie $c $waits -fPIE -pie
	build waits-$c-exec $c $waits -fno-pie -no-pie
	build waits-$c-static $c $waits -static -fno-pie -no-pie
	build waits-$c-static-pie $c $waits -static-pie -fPIE
	build waits-$c-debug-frame $c $waits -g -fno-asynchronous-unwind-tables -fno-unwind-tables
done
build waits-gcc-now gcc $waits -Wl,-z,now -fcf-protection=full
build waits-clang-lld clang $waits -fuse-ld=lld
build throw-gcc g++ $throw -fPIE -pie
build throw-gcc-static g++ $throw -static
build throw-clang clang++ $throw
echo "$programs programs, $threads threads, $frames frames compared with gdb, $early stacks end at a root before gdb's;" \
	"$kernel different stacks equal in the kernel;" \
	"not built:${skipped:- none}"
[ $failed = 0 ] && [ $programs -ge "$([ -z "$only" ] && echo 5 || echo 1)" ]
