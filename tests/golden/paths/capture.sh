#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Captures of loss, reordering and repetition: latencies from request to reply. Needs the cases' folder.
. tests/golden/lib.sh
cases=${CAUSEPROF_SHARED:-../shared}/cases/64-pcap-loss-and-order
[ -d "$cases" ] || { echo "no folder $cases"; exit 77; }
while read -r name want; do
	got=$($cp messages import --calls "$cases/$name.pcap" 2> "$T/notes" | sed 's/.* //' | paste -sd,)
	echo "$got" | grep -qxE "$want" || { echo "$name: $got, not $want"; cat "$T/notes"; exit 1; }
done < "$cases/want.txt"
grep -q '1400 bytes lost' "$T/notes" || $cp messages import --calls "$cases/response-gap.pcap" 2>&1 | grep -q '1400 bytes lost'
# foreign captures: no crash, no hang, missing data said
for f in "$cases"/../files/PcapPlusPlus/*/*.pcap* "$cases"/../files/tcpdump/tests/*.pcap; do
	timeout 20 $cp messages import --calls "$f" > "$T/calls" 2> "$T/notes" || { echo "$f: $(cat "$T/notes")"; exit 1; }
done
$cp messages import "$cases/../files/PcapPlusPlus/PcapExamples/unidirectional_tcp_stream_with_missing_packet.pcap" 2>&1 |
	grep -q 'gaps: 1420 bytes lost'
# a capture goes through paths as it is
$cp paths --method nesting "$cases/clean.pcap" 2> /dev/null | grep -q '^#1  3 instances'
