# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by golden tests. The current folder is the repository, $O the build.
# shellcheck shell=sh
set -eu
cp=${O:-build}/causeprof
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT

# expect NAME < output: compares with NAME.out beside the test, or rewrites it when ACCEPT=1.
expect() {
	expected=${0%/*}/$1.out
	if [ "${ACCEPT:-0}" = 1 ]; then cat > "$expected"; return; fi
	cat > "$T/expect.got"
	diff -u "$expected" "$T/expect.got" || { echo "$0: the output differs from $expected"; exit 1; }
}

# fails STATUS COMMAND...: the command must end with this status; prints its messages.
fails() {
	want=$1; shift
	rc=0; "$@" > "$T/fails.out" 2>&1 || rc=$?
	[ $rc = "$want" ] || { echo "$*: status $rc, not $want"; cat "$T/fails.out"; exit 1; }
	cat "$T/fails.out"
}
