#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A model learned from normal traces finds what was shuffled, explains it, says the same twice, and tells each
# verdict as soon as its trace has arrived.
. tests/golden/lib.sh
g=${O:-build}/tests/workloads/spangen
[ -x "$g" ] || { echo "spangen is not built"; exit 77; }
$g endpoint 1 1500 1 > "$T/train.jsonl"
$g endpoint 1 50 2 > "$T/normal.jsonl"
$g endpoint 1 50 3 shuffle > "$T/odd.jsonl"
for vector in scpv stv; do
	for detector in robust autoencoder; do
		$cp critical train --vector $vector --detector $detector -m "$T/m" "$T/train.jsonl" 2>/dev/null
		$cp critical train --vector $vector --detector $detector -m "$T/m2" "$T/train.jsonl" 2>/dev/null
		cmp "$T/m" "$T/m2"
		$cp critical score -m "$T/m" "$T/normal.jsonl" > "$T/n" 2>/dev/null
		$cp critical score -m "$T/m" "$T/odd.jsonl" > "$T/o" 2>/dev/null
		false_alarms=$(grep -c ^ALARM "$T/n" || true) found=$(grep -c ^ALARM "$T/o")
		[ "$false_alarms" -le 2 ] && [ "$found" -ge 45 ] ||
			{ echo "$vector $detector: $false_alarms false alarms, $found of 50 found"; exit 1; }
		awk -F '\t' '/^ALARM/ && NF < 4 { exit 1 }' "$T/o" || { echo "an alarm without a reason"; exit 1; }
	done
done
$cp critical score --json -m "$T/m" "$T/odd.jsonl" 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    v = json.loads(line)
    assert v["alarm"] == (v["score"] > v["threshold"])'
# --follow: the verdict on a trace is there before the next one is
mkfifo "$T/in" "$T/out"
$cp critical score --follow -m "$T/m" - < "$T/in" > "$T/out" 2>/dev/null &
exec 3> "$T/in" 4< "$T/out"
head -n 1 "$T/odd.jsonl" >&3; read -r first <&4
sed -n 2p "$T/odd.jsonl" >&3; read -r second <&4
exec 3>&-
wait
case $first$second in *0000030000000000*0000030000000001*) ;; *) echo "follow: $first / $second"; exit 1 ;; esac
