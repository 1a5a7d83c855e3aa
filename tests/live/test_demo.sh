#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first command of the README, twice in a row: status 0, a picture, a summary, and nothing else left behind.
set -eu
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
here=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
mkdir "$T/tmp" "$T/here"
for run in 1 2; do
	(cd "$T/here" && TMPDIR=$T/tmp "$here/scripts/demo" > "$T/said" 2>&1) || { echo "run $run: status $?"; cat "$T/said"; exit 1; }
	[ "$(ls "$T/here" | tr '\n' ' ')" = "demo.cprof demo.svg " ] || { echo "run $run left"; ls "$T/here"; exit 1; }
	xmllint --noout "$T/here/demo.svg"
	grep -q '^thread time' "$T/said" && grep -q 'front: ' "$T/said" || { echo "run $run: no summary"; cat "$T/said"; exit 1; }
	[ -z "$(ls "$T/tmp")" ] || { echo "run $run left in the folder of temporary files:"; ls "$T/tmp"; exit 1; }
done
