#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# causeprof critical beside CRISP (Python) on the same files, interleaved; then how it grows.
# CRISP: folder of a checkout with its Python packages at hand (PYTHON, default python3); TRACES: folders of
# Jaeger JSON as NAME=SERVICE=OPERATION=FOLDER, separated by newlines. Without them only the growth is measured.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build} runs=${RUNS:-5} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp=$O/causeprof gen=$O/tests/workloads/spangen

# timed OUT COMMAND...: appends "user+system seconds, elapsed seconds, peak KiB"
timed() { out=$1; shift; /usr/bin/time -a -o "$out" -f '%U %S %e %M' "$@" > /dev/null 2>&1; }
median() { awk '{ print $1 + $2, $3, $4 }' "$1" | awk -v k="$2" '{ v[NR] = $k } END {
	for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
	print v[int((NR + 1) / 2)], v[1], v[NR] }'; }

peer() { # NAME SERVICE OPERATION FOLDER
	bytes=$(cat "$4"/*.json | wc -c)
	rm -f "$tmp/ours" "$tmp/crisp"
	for _ in $(seq "$runs"); do
		rm -rf "$tmp/in"; mkdir "$tmp/in"; ln -s "$(cd "$4" && pwd)"/*.json "$tmp/in"
		timed "$tmp/crisp" env PYTHONPATH="$CRISP${CRISP_PATH:+:$CRISP_PATH}" "${PYTHON:-python3}" -m crisp.process_trace \
			-s "$2" -a "$3" -i "$tmp/in" -o "$tmp/out" --parallelism 1
		timed "$tmp/ours" "$cp" critical -j 1 -S "$2" -O "$3" -w "$tmp/w" "$4"
	done
	echo "$(median "$tmp/crisp" 1) $(median "$tmp/ours" 1) $(median "$tmp/crisp" 3) $(median "$tmp/ours" 3)" |
		awk -v n="$1" -v mb="$bytes" '{ printf "%-8s %6.1f MB  CRISP %.2f s (%.2f..%.2f)  ours %.3f s (%.3f..%.3f)  %5.1f times faster, %4.0f MB/s  memory %4.0f / %.1f MiB\n",
			n, mb / 1e6, $1, $2, $3, $4, $5, $6, $1 / $4, mb / 1e6 / $4, $7 / 1024, $10 / 1024 }'
}

if [ -n "${CRISP-}" ] && [ -n "${TRACES-}" ]; then
	echo 'CPU seconds (medians, least..most), all outputs of both:'
	echo "$TRACES" | while IFS== read -r name service operation folder; do
		[ -n "$name" ] || continue
		peer "$name" "$service" "$operation" "$folder"
	done
fi

echo 'one trace of N spans (CPU seconds, peak MiB, bytes a span):'
for kind in wide chain; do
	for n in 10000 100000 275000 1000000; do
		[ $kind = wide ] || [ $n -le 10000 ] || continue
		$gen $kind $n > "$tmp/t.json"
		rm -f "$tmp/ours"
		for _ in 1 2 3; do timed "$tmp/ours" "$cp" critical "$tmp/t.json"; done
		echo "$(median "$tmp/ours" 1) $(median "$tmp/ours" 3)" | awk -v k=$kind -v n=$n \
			'{ printf "%-6s %8d spans  %.3f s  %6.1f MiB  %5.0f B\n", k, n, $1, $4 / 1024, $4 * 1024 / n }'
	done
done
echo 'many traces (endpoint 3, 128 spans each):'
for n in 100 1000 10000; do
	$gen endpoint 3 $n 1 > "$tmp/t.json"
	rm -f "$tmp/ours"
	for _ in 1 2 3; do timed "$tmp/ours" "$cp" critical -j 1 "$tmp/t.json"; done
	echo "$(median "$tmp/ours" 1) $(median "$tmp/ours" 3) $(wc -c < "$tmp/t.json")" | awk -v n=$n \
		'{ printf "%8d traces  %7.1f MB  %.3f s  %4.0f MB/s  %6.1f MiB\n", n, $7 / 1e6, $1, $7 / 1e6 / $1, $4 / 1024 }'
done
