#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Twelve runs a side with noise from a fixed seed, one function 10 % slower: it alone is found, with its
# ancestors by what they call; the same bytes every time; without the change nothing is.
. tests/golden/lib.sh
awk -v T="$T" '
function noise(   i, sum) { # the same numbers in every awk
	for (i = 0; i < 3; i++) { x = (x * 16807) % 2147483647; sum += x / 2147483647 }
	return sum - 1.5
}
BEGIN {
	x = 7
	for (r = 0; r < 36; r++) {
		common = 1 + 0.02 * (noise())
		for (i = 1; i <= 30; i++) {
			v = 100000 * (1 + i % 4) * (i == 17 && r >= 24 ? 1.1 : 1) * (i == 17 ? 9 : 1)
			v *= common * (1 + 0.04 * (noise()))
			printf "app;main;group%d;f%d %d\n", i % 3, i, v > (T "/run" r)
		}
	}
}'
side() { i=$1; while [ "$i" -le "$2" ]; do printf '%s\n' "$T/run$i"; i=$((i + 1)); done; }
{
	# shellcheck disable=SC2046 # lists of files
	$cp diff --unit us --before $(side 0 11) --after $(side 24 35) --top 3
	# shellcheck disable=SC2046
	$cp diff --unit us --before $(side 0 11) --after $(side 24 35) -o "$T/x.svg" --json > "$T/one.json"
	# shellcheck disable=SC2046
	$cp diff --unit us --before $(side 0 11) --after $(side 24 35) --json | cmp - "$T/one.json" && echo "the same bytes"
	xmllint --noout "$T/x.svg" && echo "a sound picture"
	grep -c '"stack"' "$T/one.json"
	# shellcheck disable=SC2046
	fails 4 "$cp" diff --unit us --fail-if 'any regression > 5%' --markdown --before $(side 0 11) --after $(side 24 35)
	echo "-- nothing changed"
	# shellcheck disable=SC2046
	$cp diff --unit us --fail-if 'any change > 0%' --markdown --before $(side 0 11) --after $(side 12 23)
	echo "-- three runs a side"
	# shellcheck disable=SC2046
	$cp diff --unit us --before $(side 0 2) --after $(side 24 26) --markdown
} | expect runs
