#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged traces: the answer, and what is said about the damage.
. tests/golden/lib.sh
D=tests/golden/critical
for f in orphans truncated-trace-id cycle only-cycle link-cycle skew durations overflow-chain messaging outlives; do
	echo "== $f"
	$cp critical --format operations $D/$f.json 2>&1
done | expect damage
