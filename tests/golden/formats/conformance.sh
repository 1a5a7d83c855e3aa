#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Other tools' own test inputs: stacks and values of FlameGraph's and inferno's collapsers, totals of
# speedscope's and pprof's samples. Read from where they lie; none of them is part of the project.
. tests/golden/lib.sh
shared=${CAUSEPROF_SHARED:-../shared}/cases
[ -d "$shared/files/FlameGraph" ] || { echo "no test inputs of other tools in $shared"; exit 77; }
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
files=$shared/files

# compare NAME INPUT EXPECTED [OPTION...]: folded output as multisets, suffixes aside. The last stack of a dump
# without a blank line at its end is missing from FlameGraph's results (its issue 230): it is cut from the input.
compare() {
	name=$1 input=$2 want=$3; shift 3
	python3 - "$input" "$T/in" <<-'END'
	import re, sys
	text = open(sys.argv[1], encoding='utf-8', errors='surrogateescape').read()
	if sys.argv[1].find('/FlameGraph/') >= 0 and not text.endswith('\n\n'):
	    text = text[:text.rstrip('\n').rfind('\n\n') + 2]
	open(sys.argv[2], 'w', encoding='utf-8', errors='surrogateescape').write(text)
	END
	$cp export --from perf "$@" "$T/in" > "$T/got" 2> /dev/null || :
	if python3 "$shared/tools/foldcmp.py" --tidy --strip-kj "$T/got" "$want" > "$T/why"; then
		echo "same   $name"
	else
		echo "differ $name: $(head -n 3 "$T/why")"
	fi
}

total() { # total FILE [OPTION...]: stacks and sum, or the refusal
	file=$1; shift
	if $cp export "$@" "$file" > "$T/got" 2> "$T/err"; then
		awk -v n="${file##*/}" '{ s += $NF } END { printf "%s: %d stacks, %.0f\n", n, NR, s }' "$T/got"
	else
		sed "s|.*/\(${file##*/}\)|refused: \1|" "$T/err" | tail -n 1
	fi
}
{
	for f in "$files"/FlameGraph/test/*.txt; do
		n=${f##*/}; n=${n%.txt}
		tidy=--tidy # which drops rustc's hashes and escapes, as inferno does and FlameGraph does not
		[ "$n" = perf-rust-Yamakaky-dcpu ] && tidy=--no-tidy
		for o in all kernel jit; do
			compare "$n $o" "$f" "$files/FlameGraph/test/results/$n-collapsed-$o.txt" $tidy
		done
	done
	in=$files/inferno/tests/data/collapse-perf
	for n in no-events single-line-stacks single-event go-stacks java-inline cpp-stacks-std-function; do
		compare "inferno $n" "$in/$n.txt" "$in/results/$n-collapsed.txt" --tidy
	done
	compare "inferno versioned-vmlinux" "$in/versioned-vmlinux.txt" "$in/results/versioned-vmlinux-collapsed-kernel.txt" --tidy
	compare "inferno sourcepawn-jitdump" "$in/sourcepawn-jitdump.txt" "$in/results/sourcepawn-jitdump-collapsed-jit.txt" --tidy
	d=$files/inferno/tests/data/diff-folded
	$cp diff --folded "$d/before.txt" "$d/after.txt" | sort > "$T/got"
	LC_ALL=C sort "$d/results/default.txt" > "$T/a"; LC_ALL=C sort "$T/got" | cmp - "$T/a" && echo "same   difffolded"
	$cp diff --folded --strip-addresses "$d/before.txt" "$d/after.txt" > "$T/got"
	LC_ALL=C sort "$d/results/strip_hex.txt" > "$T/a"; LC_ALL=C sort "$T/got" | cmp - "$T/a" && echo "same   difffolded -s"
	# these cut fractions of both columns, ours are rounded half up: at most one unit apart
	$cp diff --folded -n total "$d/before.txt" "$d/after.txt" > "$T/got"
	LC_ALL=C sort "$d/results/normalize.txt" > "$T/a"
	LC_ALL=C sort "$T/got" | paste -d' ' - "$T/a" | awk '{ h = NF / 2; for (i = 1; i <= h; i++) {
		d = $i - $(i + h); if (i > h - 2 ? d < 0 || d > 1 : $i != $(i + h)) print "differ:", $0 } }
		END { print "same   difffolded -n within 1, " NR " stacks" }'
	s=$files/speedscope/profiles
	for f in forks one-sample rust-mangled simple-with-header simple-with-pid simple system-wide; do
		total "$s/linux-perf/$f.linux-perf.txt" --hz 1e9
	done
	for f in simple simple-crlf simple-with-invalids simple-utf16-le simple-utf16-be alternating recursion; do
		total "$s/stackcollapse/$f.txt"
	done
	for f in "$s"/speedscope/*/*.json; do total "$f"; done
	total "$s/pprof/simple.prof"
	total "$files/pprof/internal/driver/testdata/cppbench.cpu_no_samples_type"
	total "$files/pprof/internal/driver/testdata/go.nomappings.crash"
	for f in "$s"/trace-event/*.json; do total "$f"; done
} | expect conformance
