#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Situations from public bug reports of other tools (folder "cases" beside the repository), for pictures.
cases=${CAUSEPROF_SHARED:-../shared}/cases
[ -d "$cases/01-xml-escape" ] || { echo "no $cases: set CAUSEPROF_SHARED"; exit 77; }
env=$(mktemp); trap 'rm -f "$env"' EXIT
cat > "$env" <<P
CP=$(cd "$(dirname "$O/causeprof")" && pwd)/causeprof
cp_flame() { "\$CP" flame "\$@"; }
cp_fold() { [ "\$1" = perf ] || return 64; "\$CP" export --from=perf --format=folded -; }
cp_mix() {
	t=\$(mktemp -d)
	"\$CP" import --hz "\$ON_HZ" --kind running -o "\$t/on.cprof" "\$1" &&
		"\$CP" import --unit us --kind sleep -o "\$t/off.cprof" "\$2" &&
		"\$CP" merge -o "\$t/mix.cprof" "\$t/on.cprof" "\$t/off.cprof" && "\$CP" flame "\$t/mix.cprof"
	r=\$?; rm -rf "\$t"; return \$r
}
P
status=0
for c in 01-xml-escape 03-control-chars 05-empty-input 06-odd-counts 08-spaces-and-digits 13-line-endings \
	15-unsorted-and-duplicate-stacks 19-deep-and-wide 21-large-input 24-on-off-cpu-units; do
	CASES_ENV=$env bash "$cases/$c/try.sh" > "$env.out" 2>&1 || status=1
	grep -v '^PASS' "$env.out" | sed "s/^/$c: /"
	grep -q '^PASS' "$env.out" || { echo "$c: nothing passed"; status=1; }
	rm -f "$env.out"
done
exit $status
