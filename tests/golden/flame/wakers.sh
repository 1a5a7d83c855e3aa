#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flame chart of threads, and the wake-up graph over two hops: a lock, whose holder waited for a disk, which a third thread flushed.
. tests/golden/lib.sh
cat > "$T/p.txt" <<'P'
causeprof-text 1
header window_start_ns=0 window_end_ns=1000 unit="ns" flags=1
process pid=10 comm="db"
process pid=20 comm="flusher"
thread tid=11 process=1 last_ns=1000
thread tid=12 process=1 last_ns=1000
thread tid=21 process=2 last_ns=1000
interval start_ns=100 end_ns=900 thread=1 stack="main;query;lock" kind=sleep waker=2 waker_stack="main;commit;unlock"
interval start_ns=200 end_ns=700 thread=2 stack="main;commit;fsync_[k]" kind=disk waker=3 waker_stack="loop;complete"
interval start_ns=20 end_ns=90 thread=2 stack="main;idle" kind=sleep
P
"$cp" load "$T/p.txt" -o "$T/p.cprof"
"$cp" flame --wakers --static --plain "$T/p.cprof" | grep -o '<title>[^<]*</title><rect x="[^"]*" y="[^"]*"' | sed 's/<[^>]*>/ /g; s/<rect//' | expect wakers
"$cp" flame --flamechart --static --plain "$T/p.cprof" | grep -o '<title>[^<]*</title><rect x="[^"]*" y="[^"]*"' | sed 's/<[^>]*>/ /g; s/<rect//' | expect chart
"$cp" load tests/golden/fold/server.txt -o "$T/s.cprof"
fails 1 "$cp" flame --wakers "$T/s.cprof" 2>&1 | sed "s|$T|T|" | expect wakers_none
