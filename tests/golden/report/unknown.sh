#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames without a name by file, reason and what was tried, most time first; hostile text stays harmless.
. tests/golden/lib.sh
cat > "$T/u.txt" <<'P'
causeprof-text 1
header window_end_ns=100000000 unit="ns"
process 1 pid=10 comm="server"
process 2 pid=11 comm="script"
mapping 1 start=0x1000 end=0x9000 path="/usr/sbin/server" process=1 tried="debug file /usr/lib/debug/.build-id/ab/cd.debug: No such file or directory\n.symtab: none\n.dynsym: 12 functions\n"
mapping 2 start=0x10000 end=0x19000 path="/usr/lib/libjs.so" process=1
mapping 3 start=0x20000 end=0x29000 process=1 tried="perf map /tmp/perf-10.map: No such file or directory\n"
mapping 4 start=0x20000 end=0x29000 process=2 tried="perf map /tmp/perf-11.map: belongs to user 12345\n"
mapping 5 start=0x30000 end=0x39000 path="/tmp/\x1b[2Jevil" process=2 tried="path /tmp/\x1b[2Jevil: Permission denied"
frame 1 name="main"
frame 2 addr=0x1300 mapping=1 module="server" function=0x300 reason="[stripped]"
frame 3 addr=0x1200 mapping=1 module="server" function=0x200 reason="[stripped]"
frame 4 addr=0x10010 mapping=2 reason="[stripped]"
frame 5 addr=0x20010 mapping=3 reason="[anon]"
frame 6 addr=0x20010 mapping=4 reason="[anon]"
frame 7 addr=0x30010 mapping=5 reason="[unreadable]"
frame 8 addr=0x44 reason="[no map]"
frame 9 addr=0xffffffff81000000 kind=kernel module="[kernel]" reason="[kernel addresses hidden]"
frame 10 addr=0x55 reason="[exited]"
frame 11 name="[walk stopped: no unwind row]" kind=mark
stack 1 frame=1
stack 2 parent=1 frame=2
stack 3 parent=2 frame=3
stack 4 parent=1 frame=4
stack 5 frame=5
stack 6 frame=6
stack 7 parent=6 frame=7
stack 8 frame=8
stack 9 parent=3 frame=9
stack 10 frame=10
stack 11 frame=11
sum stack=3 process=1 kind=sleep ns=40000000 cnt=1
sum stack=9 process=1 kind=sleep ns=9000000 cnt=1
sum stack=4 process=1 kind=sleep ns=8000000 cnt=1
sum stack=5 process=1 kind=sleep ns=7000000 cnt=1
sum stack=7 process=2 kind=sleep ns=6000000 cnt=1
sum stack=8 process=1 kind=sleep ns=5000000 cnt=1
sum stack=10 process=1 kind=sleep ns=4000000 cnt=1
sum stack=11 process=1 kind=sleep ns=3000000 cnt=1
sum stack=1 process=1 kind=sleep ns=18000000 cnt=1
P
"$cp" load "$T/u.txt" -o "$T/u.cprof"
{
	"$cp" report --unknown "$T/u.cprof"
	echo "-- merged with itself and once more: equal groups stay one"
	"$cp" merge "$T/u.cprof" "$T/u.cprof" -o "$T/v.cprof" > /dev/null
	"$cp" report --unknown "$T/v.cprof" | grep -c 'usr/sbin/server'
	echo "-- JSON"
	"$cp" report --json "$T/u.cprof" | python3 -c 'import json, sys
for u in json.load(sys.stdin)["unnamed"]: print(json.dumps(u, sort_keys=True))'
	echo "-- functions without a name are told apart by where they start"
	"$cp" fold "$T/u.cprof" | grep '+0x'
	echo "-- redacted"
	"$cp" dump --redact "$T/u.cprof" | grep -c -E 'perf-1|debug|No such|function=0x[23]00' || true
} | expect unknown
