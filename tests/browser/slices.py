# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile of 60 s as "causeprof load" text: a worker that computes 0.3 s of each second, a log flush every
tenth second, and from 30 s to 33 s a lock that stops the work."""
import random

random.seed(4)
print("causeprof-text 1")
print('header window_start_ns=0 window_end_ns=60000000000 unit="ns" flags=1')
print('process pid=10 comm="server"')
print('thread tid=11 process=1 comm="worker" last_ns=60000000000')
at, ms, total = 0, 1000000, {}


def put(length, kind, stack):
    global at
    end = min(at + int(length), 60 * 10**9)
    if end > at:
        print('interval start_ns=%d end_ns=%d thread=1 stack="%s" kind=%s' % (at, end, stack, kind))
        total[(stack, kind)] = total.get((stack, kind), 0) + end - at
    at = end


while at < 60 * 10**9:
    second = at // 10**9
    if 30 <= second < 33:
        put(40 * ms, "sleep", "main;serve;lock;futex_wait_[k]")
        put(2 * ms, "woken", "main;serve;lock;futex_wait_[k]")
        continue
    if at % 10**9 < 300 * ms:
        put(random.randint(3, 9) * ms, "running", "main;serve;" + random.choice(["parse", "render", "hash"]))
        put(random.randint(1, 2) * ms, "sleep", "main;serve;read_[k]")
    elif second % 10 == 7 and at % 10**9 < 700 * ms:
        put(60 * ms, "disk", "main;flush;fsync_[k]")
    else:
        put(20 * ms, "sleep", "main;wait;epoll_wait_[k]")
for (stack, kind), ns in sorted(total.items()):
    print('sum stack="%s" process=1 kind=%s ns=%d cnt=1' % (stack, kind, ns))
