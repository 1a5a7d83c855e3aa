#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf script text to folded stacks, beside stackcollapse-perf.pl --all; and a difference as a picture, beside
# difffolded.pl | flamegraph.pl. FLAMEGRAPH=FOLDER with those scripts; without it only ours. Both read the same
# files, runs are interleaved, times are user + system CPU seconds.
# SAMPLES=100000 STACKS=100000 RUNS=3
set -eu
samples=${SAMPLES:-100000} stacks=${STACKS:-100000} runs=${RUNS:-3} peers=${FLAMEGRAPH-}
cp=${O:-build}/causeprof
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
gen_perf() {
	awk -v n="$1" 'BEGIN { srand(7)
		for (i = 0; i < n; i++) {
			printf "server %d [%03d] %d.%06d:     250000 cpu-clock:u: \n", 100 + i % 8, i % 4, i / 1000, i % 1000
			d = 6 + int(rand() * 20); k = int(rand() * 4000)
			for (j = d; j > 0; j--) {
				printf "\t    7f%010x function_%d_of_module_%d+0x%x (/usr/lib/libmodule%d.so)\n",
					k * 4096 + int(rand() * 16) * 16, k, k % 37, int(rand() * 16) * 16, k % 37
				k = int(k / 3 + j) % 4000
			}
			print "\t    55d000001000 main+0x10 (/usr/bin/server)\n"
		} }'
}
gen_folded() { # STACKS SEED
	awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed)
		for (i = 0; i < n; i++) {
			s = "server"; k = 0; d = 8 + i % 17
			for (j = 0; j < d; j++) { k = (k * 7 + i * (j + 1) + j * 13) % 4000
				s = s ";function_" k "_of_module_" k % 37 }
			print s ";leaf_" i % 50021 " " 1 + int(rand() * 1000) } }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
	printf "%.2f %.2f %.2f\n", m, v[1], v[NR] }'; }
measure() { # OUT COMMAND: appends "cpu-seconds peak-KiB"
	/usr/bin/time -f '%U %S %M' -o "$tmp/t" sh -c "$2" > "$tmp/out" 2> /dev/null
	tail -n 1 "$tmp/t" | awk '{ print $1 + $2, $3 }' >> "$1"
}
row() { # NAME FILE
	# shellcheck disable=SC2046 # three words
	set -- "$1" "$2" $(cut -d' ' -f1 "$2" | median)
	printf '%-44s %9s s  %16s  %6d MiB\n' "$1" "$3" "$4..$5" "$(($(cut -d' ' -f2 "$2" | sort -n | tail -n 1) / 1024))"
}
compare() { # TITLE OUR-COMMAND PEER-NAME PEER-COMMAND AIM
	echo "$1"
	: > "$tmp/ours"; : > "$tmp/theirs"
	i=0
	while [ $i -lt "$runs" ]; do
		i=$((i + 1))
		measure "$tmp/ours" "$2"
		[ -z "$peers" ] || measure "$tmp/theirs" "$4"
	done
	row "  causeprof" "$tmp/ours"
	[ -n "$peers" ] || return 0
	row "  $3" "$tmp/theirs"
	a=$(cut -d' ' -f1 "$tmp/theirs" | median | cut -d' ' -f1); b=$(cut -d' ' -f1 "$tmp/ours" | median | cut -d' ' -f1)
	awk -v a="$a" -v b="$b" -v aim="$5" 'BEGIN { printf "  ratio %.0fx%s\n", a / b, aim }'
}
gen_perf "$samples" > "$tmp/perf.txt"
gen_folded "$stacks" 1 > "$tmp/a.folded"; gen_folded "$stacks" 2 > "$tmp/b.folded"
compare "collapse: $samples samples, $(($(wc -c < "$tmp/perf.txt") / 1000000)) MB of perf script text" \
	"$cp export $tmp/perf.txt" "stackcollapse-perf.pl --all" \
	"perl $peers/stackcollapse-perf.pl --all $tmp/perf.txt" " (aim 30x)"
compare "diff: two folded files of $stacks stacks, picture" \
	"$cp diff -o - $tmp/a.folded $tmp/b.folded" "difffolded.pl | flamegraph.pl" \
	"perl $peers/difffolded.pl $tmp/a.folded $tmp/b.folded | perl $peers/flamegraph.pl" ""
