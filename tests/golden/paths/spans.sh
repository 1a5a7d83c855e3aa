#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nesting over the oracle's span tables: the share of traces right end to end, at least what specs D.3 measured - 1.
. tests/golden/lib.sh
o=${CAUSEPROF_SHARED:-../shared}/oracles/tracing-oracle
[ -d "$o" ] || { echo "no folder $o"; exit 77; }
while read -r set want; do
	$cp paths --method nesting --links "$o/$set.spans.tsv.gz" > "$T/links" 2> /dev/null
	got=$(python3 "$o/score.py" "$o/$set.spans.tsv.gz" "$o/$set.truth.tsv.gz" "$T/links" |
		sed -n 's/^end-to-end.\([0-9.]*\)%.*/\1/p')
	echo "$set $got"
	awk "BEGIN { exit !($got >= $want - 1) }" || { echo "$set: $got, not $want - 1"; exit 1; }
done <<END
hotel-100 91.0
media-100 76.2
node-100 87.1
END
