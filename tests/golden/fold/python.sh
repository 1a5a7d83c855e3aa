#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Python in folded text: called by file and line, marked "_[p]", and read back as they were.
. tests/golden/lib.sh
cat > "$T/p.txt" <<'P'
causeprof-text 1
header window_start_ns=0 window_end_ns=1000000000 unit="ns"
frame 1 name="main" module="/usr/bin/python3.11" addr=0x10
frame 2 name="Shop.open" module="[python]" file="/srv/shop.py" line=12 kind=interpreted
frame 3 name="<module>" module="[python]" file="shop.py" kind=interpreted
frame 4 reason=4 module="[python]" kind=interpreted
stack 1 frame=1
stack 2 parent=1 frame=3
stack 3 parent=2 frame=2
stack 4 parent=3 frame=4
sum stack=4 kind=sleep ns=1000 cnt=1
P
{
	echo "# fold"; "$cp" load "$T/p.txt" -o "$T/p.cprof" && "$cp" fold "$T/p.cprof"
	echo "# fold --annotate"; "$cp" fold --annotate "$T/p.cprof" | tee "$T/p.folded"
	echo "# read back"; "$cp" import "$T/p.folded" -o "$T/q.cprof" > "$T/said" 2>&1; "$cp" dump "$T/q.cprof" | grep interpreted
	"$cp" export "$T/q.cprof"
} 2>&1 | expect python
