#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes of docs/critical.md for many machines, run here with several workers: GNU parallel and Open MPI.
# Each must give the bytes that one process gives.
. tests/golden/lib.sh
command -v parallel > /dev/null || { echo "GNU parallel is not installed"; exit 77; }
command -v mpirun > /dev/null || { echo "Open MPI is not installed"; exit 77; }
g=${O:-build}/tests/workloads/spangen
[ -x "$g" ] || { echo "spangen is not built"; exit 77; }
cp=$(cd "$(dirname "$cp")" && pwd)/causeprof
mkdir "$T/traces"
$g endpoint 2 400 1 > "$T/all.jsonl"
(cd "$T/traces" && split -l 20 -d --additional-suffix=.json ../all.jsonl)
cd "$T"
find traces -name '*.json' | sort > list
$cp critical --partial -o whole.ccct traces 2>/dev/null

# GNU parallel: with --sshloginfile HOSTS it runs on other machines that see the same files
parallel -a list -j 4 -N 5 "$cp" critical --partial -o 'part-{#}.ccct' '{}' 2>/dev/null
[ "$(ls part-*.ccct | wc -l)" = 4 ]
$cp critical --partial -o parallel.ccct part-*.ccct
cmp parallel.ccct whole.ccct

# Open MPI: each rank takes every n-th file
mpirun --allow-run-as-root --oversubscribe -n 3 sh -c '
	awk -v n="$OMPI_COMM_WORLD_SIZE" -v r="$OMPI_COMM_WORLD_RANK" "NR % n == r" list |
	xargs "$0" critical --partial -o "rank-$OMPI_COMM_WORLD_RANK.ccct"' "$cp" 2>/dev/null
[ "$(ls rank-*.ccct | wc -l)" = 3 ]
$cp critical --partial -o mpi.ccct rank-*.ccct
cmp mpi.ccct whole.ccct

# streaming engines (Hadoop streaming, Spark pipe): a mapper that reads lines and writes a partial result
split -n l/3 --filter="$cp critical --partial - > \$FILE.ccct 2>/dev/null" all.jsonl pipe-
$cp critical --partial -o pipe.ccct pipe-*.ccct
$cp critical --json pipe.ccct | grep -v '"files"' > pipe.json
$cp critical --json whole.ccct | grep -v '"files"' > whole.json
cmp pipe.json whole.json
