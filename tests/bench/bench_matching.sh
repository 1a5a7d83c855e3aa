#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# End-to-end accuracy of "causeprof paths --method match" on sets of call records with known causes, beside
# other people's tools on the same sets. usage: bench_matching.sh [FOLDER]
#
# FOLDER (default ${CAUSEPROF_SHARED:-../shared}/oracles/tracing-oracle) holds NAME-LOAD.spans.tsv.gz,
# NAME-LOAD.truth.tsv.gz, score.py (the judge) and anchors.tsv (what others reach, in percent). A folder without
# anchors.tsv is judged without a comparison. Exit status 1 if a set misses what is demanded: the matching
# prototype's figure less 0.5 points everywhere, TraceWeaver's on hotel loads from 100 and on media, and one
# second of CPU time a set.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build}
dir=${1:-${CAUSEPROF_SHARED:-../shared}/oracles/tracing-oracle}
[ -f "$dir/score.py" ] || { echo "no sets in $dir"; exit 77; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
for spans in "$dir"/*.spans.tsv.gz; do
	set=${spans##*/}; set=${set%.spans.tsv.gz}
	sh -c '"$1" paths --method match --links "$2" > "$3" 2> /dev/null; times' sh "$O/causeprof" "$spans" \
		"$tmp/links" > "$tmp/times"
	cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += t[1] * 60 + t[2] } printf "%.2f", s }' "$tmp/times")
	python3 "$dir/score.py" "$spans" "$dir/$set.truth.tsv.gz" "$tmp/links" > "$tmp/score"
	acc=$(awk -F'\t' '$1 == "end-to-end" { sub(/%/, "", $2); print $2 }' "$tmp/score")
	links=$(awk -F'\t' '$1 == "links" { sub(/%/, "", $2); print $2 }' "$tmp/score")
	printf '%s\t%s\t%s\t%s\t%s\n' "${set%-*}" "${set##*-}" "$acc" "$links" "$cpu"
done | sort -k1,1 -k2,2n > "$tmp/ours"
awk -F'\t' -v anchors="$dir/anchors.tsv" '
function put(name) { return (name in col) && key in row ? at[key, col[name]] : "-" }
BEGIN {
	while ((getline line < anchors) > 0) {
		k = split(line, f, "\t")
		if (f[1] == "dataset") { for (i = 1; i <= k; i++) col[f[i]] = i; continue }
		row[f[1] "-" f[2]] = 1
		for (i = 1; i <= k; i++) at[f[1] "-" f[2], i] = f[i]
	}
	print "| set | WAP5 | FCFS | vPath | matching prototype | TraceWeaver | causeprof | links | CPU s |"
	print "|---|---|---|---|---|---|---|---|---|"
}
{
	key = $1 "-" $2; em = put("match_EM"); tw = put("TraceWeaver"); why = ""
	if (em != "-" && $3 < em - 0.5) why = why " (below the prototype)"
	if (tw != "-" && $3 < tw && ($1 == "media" || ($1 == "hotel" && $2 >= 100))) why = why " (below TraceWeaver)"
	if ($5 > 1) why = why " (too slow)"
	printf "| %s | %s | %s | %s | %s | %s | **%s**%s | %s | %s |\n", key, put("WAP5"), put("FCFS"), put("vPath"), em, tw, $3, why, $4, $5
	if (why != "") bad = 1
	if (tw != "-") { n++; ours += $3; theirs += tw; wins += $3 > tw; level += $3 == tw }
}
END {
	if (n) printf "\nMean of %d sets: causeprof %.1f, TraceWeaver %.1f; better on %d, equal on %d.\n", n, ours / n, theirs / n, wins, level
	exit bad
}' "$tmp/ours"
