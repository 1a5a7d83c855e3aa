#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs inside the machine (scripts/vm-run): captures each workload of the file "plan", whose lines are
# "SCENARIO HOOK SECONDS OPTIONS", and delivers after each its profile, stamps, raw events, report and picture. The file
# "run" says how it went: "SCENARIO HOOK PID RECORD-STATUS WORKLOAD-STATUS OUTPUT-STATUS".
export PATH=/bin:/job LC_ALL=C COLUMNS=100
echo 0 > /proc/sys/kernel/printk
while read -r scenario hook seconds options; do
	out=/out/$scenario-$hook
	truth "$scenario" "$out.stamps" &
	work=$!
	sleep 0.5
	pids=$work
	for child in $([ "$scenario" != stopped ] || cat "/proc/$work/task/$work/children"); do pids=$pids,$child; done
	# shellcheck disable=SC2086 # options are words
	causeprof record -p "$pids" --duration "$seconds" --hook "$hook" --per-thread --verify --raw-events "$out.raw" --force \
		--no-svg $options -o "$out.cprof" > "$out.summary" 2>&1 < /dev/null
	record=$?
	kill "$work"
	wait "$work"
	ended=$?
	causeprof report "$out.cprof" > "$out.report" 2>&1 < /dev/null &&
		causeprof flame --static --plain "$out.cprof" -o "$out.svg" >> "$out.report" 2>&1 < /dev/null
	echo "$scenario $hook $work $record $ended $?" > /out/run
	deliver
done < plan
