#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Folded stacks to SVG, beside flamegraph.pl (FLAMEGRAPH_PL=FILE; without it only ours). Both read the same
# file; runs are interleaved; times are user + system CPU seconds, because machines are shared.
# STACKS="100000 1000000" RUNS=3 PERL_RUNS=1
set -eu
stacks=${STACKS:-100000 1000000} runs=${RUNS:-3} perl_runs=${PERL_RUNS:-1}
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
gen() {
	awk -v n="$1" 'BEGIN { srand(7)
		for (i = 0; i < n; i++) {
			s = "server"; k = 0; d = 8 + int(rand() * 24)
			for (j = 0; j < d; j++) { k = (k * 7 + (rand() < .4 ? 0 : int(rand() * 6)) + j * 13) % 4000
				s = s ";function_" k "_of_module_" k % 37 }
			print s ";leaf_" i % 50021 " " 1 + int(rand() * 1000) } }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
	printf "%.2f %.2f %.2f\n", m, v[1], v[NR] }'; }
measure() { # OUT COMMAND...: appends "cpu-seconds peak-KiB"
	out=$1; shift
	/usr/bin/time -f '%U %S %M' -o "$tmp/t" "$@" > "$tmp/svg" 2> /dev/null
	awk '{ print $1 + $2, $3 }' "$tmp/t" >> "$out"
}
printf '%-10s %-14s %10s %18s %10s %10s\n' stacks program 'median s' 'least..most s' 'peak MiB' 'SVG MB'
for n in $stacks; do
	gen "$n" > "$tmp/in"
	: > "$tmp/ours"; : > "$tmp/theirs"
	for i in $(seq "$runs"); do
		measure "$tmp/ours" "$O/causeprof" flame "$tmp/in"; ours_bytes=$(wc -c < "$tmp/svg")
		[ -z "${FLAMEGRAPH_PL-}" ] || [ "$i" -gt "$perl_runs" ] || {
			measure "$tmp/theirs" perl "$FLAMEGRAPH_PL" "$tmp/in"; theirs_bytes=$(wc -c < "$tmp/svg"); }
	done
	for p in ours theirs; do
		[ -s "$tmp/$p" ] || continue
		# shellcheck disable=SC2046 # three words
		set -- $(cut -d' ' -f1 "$tmp/$p" | median)
		peak=$(cut -d' ' -f2 "$tmp/$p" | sort -n | tail -n 1)
		eval "bytes=\$${p}_bytes ${p}_s=$1"
		printf '%-10s %-14s %10s %18s %10s %10s\n' "$n" \
			"$([ $p = ours ] && echo causeprof || echo flamegraph.pl)" "$1" "$2..$3" $((peak / 1024)) \
			"$(awk -v b="$bytes" 'BEGIN { printf "%.2f", b / 1e6 }')"
	done
	[ ! -s "$tmp/theirs" ] || awk -v n="$n" -v a="$theirs_s" -v b="$ours_s" \
		'BEGIN { printf "%-10s ratio          %9.0fx (aim 50x)\n", n, a / b }'
done
