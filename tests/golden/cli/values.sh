#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A value that cannot be meant is a mistake in the command line, whoever reads it in the end: status 2 and one line that
# names the option, before any file is opened.
. tests/golden/lib.sh
none=$T/none # does not exist: to complain about it is too late
bad() { fails 2 "$cp" "$@" | sed "s|$T|T|g" | grep -v 'tells the options.$'; }
{
	for v in report fold flame 'export --format folded' "merge -o $T/o.cprof" "diff $none"; do
		echo "== ${v%% *}"
		for o in '--since x' '--until 3y' '--only /[/' '--without /(/' '--base /[/' '--pid x' '--max-depth 0'; do
			# shellcheck disable=SC2086 # two words
			bad $v $o "$none"
		done
	done
	echo '== others'
	for v in import flame "merge -o $T/o.cprof" "diff $none"; do
		# shellcheck disable=SC2086 # several words
		bad $v --from x "$none"
	done
	bad export --in h "$none"
	bad export --format x "$none"
	bad critical --what-if x "$none"
	bad critical --what-if 'a=-120%' "$none"
	bad critical -f folded -P 20-x "$none"
	bad critical -f folded --percentile 101 "$none"
	bad maketrace -s 'copies many' "$none"
	bad maketrace --set x "$none"
	bad symbolize --elf "$none" zz
	bad symbolize --kernel 0x10 0x
	bad diff --fail-if x "$none" "$none"
	bad fold --kinds x "$none"
	bad flame --colors x "$none"
	bad record -p 1 --state x
	bad record -p 1 --label x
	bad record -p 1 --slice 0
	bad record -p 1 --slice 10us
	bad record -p 1 --duration 1 2
	bad record -p 1 --frequency 0
	[ ! -e "$T/o.cprof" ]
} > "$T/said"
expect values < "$T/said"
# the file that is not there is another matter
fails 1 "$cp" symbolize --kallsyms "$none" 10 | sed "s|$T|T|" | expect values_file
