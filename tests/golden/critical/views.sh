#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The forms of the answer, on synthetic traces whose answer is known: a child that makes 47 % of the latency in
# the tail only, and an order with four kinds of opportunity.
. tests/golden/lib.sh
g=${O:-build}/tests/workloads/spangen
[ -x "$g" ] || { echo "spangen is not built"; exit 77; }
$g getDriverTasks 1000 1 > "$T/tasks.jsonl"
$g createOrder 200 1 > "$T/order.jsonl"
{
	echo '== getDriverTasks'; $cp critical "$T/tasks.jsonl"
	echo '== difference of the tail and the fast half'; $cp critical -f diff -P 0-50,95-100 "$T/tasks.jsonl"
	echo '== createOrder'; $cp critical "$T/order.jsonl"
	echo '== drag'; $cp critical -f drag "$T/order.jsonl"
	echo '== what if'; $cp critical --what-if '[order] decideOrderRisk=-50%' "$T/order.jsonl"
	echo '== folded'; $cp critical -f folded -P 50 "$T/order.jsonl"
	echo '== spans'; $cp critical -f freq "$T/order.jsonl" | head -n 2
	echo '== callpaths'; $cp critical -f csv "$T/order.jsonl" | head -n 3
	echo '== heat map'; $cp critical -f heatmap "$T/order.jsonl" | head -n 3
	echo '== compare'; $g createOrder 200 2 > "$T/order2.jsonl"; $cp critical --compare "$T/order.jsonl" "$T/order2.jsonl"
} | expect views
