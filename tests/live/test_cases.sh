#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Situations from public bug reports of other tools (folder "cases" beside the repository): names in files and living
# processes, kernel functions that change their names, PID namespaces, a C library without frame pointers.
#	tests/live/test_cases.sh [CASE...]
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
cases=$(realpath -m "${CAUSEPROF_SHARED:-../shared}/cases")
[ -d "$cases/39-short-lived-and-renamed" ] || { echo "no $cases: set CAUSEPROF_SHARED"; exit 77; }
T=$(mktemp -d) failed=0
trap 'rm -rf "$T"' EXIT
cat > "$T/env" <<P
CP=$(realpath "${O:-build}/causeprof")
P
cat >> "$T/env" <<'P'
cp_sym() { local f=$1; shift; "$CP" symbolize --inlined --elf "$f" "$@"; }
cp_sympid() { local p=$1; shift; "$CP" symbolize -p "$p" "$@"; }
cp_symk() { local f=$1; shift; "$CP" symbolize --kallsyms "$f" "$@"; }
cp_symmap() { local f=$1; shift; "$CP" symbolize --perf-map "$f" "$@"; }
cp_demangle() { "$CP" symbolize --demangle; }
# capture KINDS -p PID -d SECONDS [--children]: children are always watched
capture() {
	local kinds=$1 pid='' seconds='' hz=()
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		-p) pid=$2; shift ;;
		-d) seconds=$2; shift ;;
		-F) hz=(-F "$2"); shift ;;
		esac
		shift
	done
	"$CP" record -q -f --kinds="$kinds" "${hz[@]}" -p "$pid" "$seconds"
}
cp_oncpu() { capture running "$@"; }
cp_offcpu() { capture blocked "$@"; }
P
# before all that is busy here: the cases count on a machine that has nothing else to do
first=()
! chrt -r 1 true 2> /dev/null || first=(chrt -r 1)
[ $# -gt 0 ] || set -- 25 26 29 30 32 34 35 37 38 39 41 42 48 55
for n; do
	folder=$(echo "$cases/$n"-*)
	for try in 1 2; do
		env "CASES_ENV=$T/env" ${first[@]+"${first[@]}"} timeout 120 bash "$folder/try.sh" > "$T/out" 2>&1 < /dev/null &&
			grep -q '^PASS' "$T/out" && break
		[ $try = 1 ] || failed=1
	done
	grep -E '^(FAIL|SKIP)' "$T/out"
	passed=$(grep -c '^PASS' "$T/out")
	echo "$(basename "$folder"): $passed checks passed"
	[ "$passed" -gt 0 ] || { cat "$T/out"; failed=1; }
done
exit $failed
