#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What Python frames cost: kernel time for each switch of a ping-pong in Python over a pipe, with the interpreter under
# its own name, and under one by which causeprof does not look for Python. Frames deep: 4 and 44. Interleaved, medians.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
python=$(readlink -f /usr/bin/python3)
case $python in *python3.1[123]) ;; *) echo "no CPython 3.11 to 3.13 at /usr/bin/python3"; exit 77 ;; esac
O=${O:-build} rounds=${ROUNDS:-5} dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$python" "$dir/python3" && cp "$python" "$dir/interpreter"
cat > "$dir/pingpong.py" <<'P'
import os, sys
def turn(i, o):
    os.read(i, 1)
    os.write(o, b"x")
def deep(n, i, o):
    if n:
        deep(n - 1, i, o)
    else:
        while True:
            turn(i, o)
def main():
    os.sched_setaffinity(0, {0})
    a, b = os.pipe(), os.pipe()
    depth = int(sys.argv[1])
    if os.fork():
        os.write(b[1], b"x")
        deep(depth, a[0], b[1])
    deep(depth, b[0], a[1])
main()
P
one() { # NAME DEPTH
	"$dir/$1" "$dir/pingpong.py" "$2" & local work=$! child
	sleep 0.3
	child=; while [ -z "$child" ]; do child=$(pgrep -P $work); done
	"$O/causeprof" record -p "$work,$child" --duration 0.5 -q --no-svg --force --replace -o "$dir/p.cprof"
	kill $work $child; wait $work 2> /dev/null
	"$O/causeprof" dump "$dir/p.cprof" | sed -n 's/^header.* target_switch_cnt=\([0-9]*\).* bpf_ns=\([0-9]*\).*/\1 \2/p; s/^header.* bpf_ns=\([0-9]*\).* target_switch_cnt=\([0-9]*\).*/\2 \1/p' |
		awk '{ printf "%.0f\n", $2 / $1 }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'; }
for depth in 0 40; do
	for name in python3 interpreter; do : > "$dir/$name.$depth"; done
	for _ in $(seq "$rounds"); do
		for name in interpreter python3; do one $name $depth >> "$dir/$name.$depth"; done
	done
	read -r with with_least with_most < <(median < "$dir/python3.$depth")
	read -r without without_least without_most < <(median < "$dir/interpreter.$depth")
	printf '%d Python frames: %d ns a switch (%d .. %d), %d without them (%d .. %d): %.2f x\n' $((depth + 4)) \
		"$with" "$with_least" "$with_most" "$without" "$without_least" "$without_most" \
		"$(awk "BEGIN { print $with / $without }")"
done
