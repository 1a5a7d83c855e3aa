#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture outlives many more processes than it has room for: what ended processes had is used again, no map
fills, and no time is lost. usage: test_short_processes.py [PROCESSES]"""
import subprocess, sys, tempfile
from profile import *

need_root()
CNT = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
AT_A_TIME = 4
ROOM = 512  # of processes, ended ones too until the kernel frees them, and mappings: an executed child has 4
STACKS = 1024  # and 4096 sums


with tempfile.TemporaryDirectory(prefix="causeprof-short.") as folder:
    for sink in ("--verify", "--intervals"):
        p = record(folder + "/x.cprof", sink, "--process-storage-size", str(ROOM), "--stack-storage-size", str(STACKS),
                   "--", os.path.join(WORKLOADS, "short_processes"), str(CNT), str(AT_A_TIME))
        full = {c: l["events"] for c, l in p.loss.items() if "full" in c}
        check(f"{sink}: nothing was full {full or ''}", not full)
        check(f"{sink}: {len(p.threads)} threads of {CNT + 1}", len(p.threads) == CNT + 1)
        check(f"{sink}: {len(p.processes)} processes in room for {ROOM}", len(p.processes) > 7 * ROOM)
        check(f"{sink}: {len(p.sums)} sums in room for {4 * STACKS}", len(p.sums) > 4 * STACKS)
        life = sum(num(t, "last_ns") - num(t, "first_ns") for t in p.threads.values())
        sums = sum(num(s, "ns") for s in p.sums)
        lost = sum(num(l, "ns") for c, l in p.loss.items() if c == "switch unseen" and l["ns"] != "unknown")
        check(f"{sink}: {sums} ns in the sums of {life} ns of life", abs(life - sums) <= lost + life // 100000)
        # children that only fork have their parent's rows; what others execute is gone before anybody reads its mappings
        waits = {False: 0, True: 0}
        for s in p.sums:
            frames = [f[0] for f in p.frames(s.get("stack"))]
            if "short_wait" in frames and s["kind"] == "sleep":
                waits[frames[-1] in ("_start", "clone", "__libc_start_main")] += num(s, "cnt")
        check(f"{sink}: {waits[True]} waits of {CNT} children reach the root, {waits[False]} do not", waits[True] >= 0.99 * CNT)
sys.exit(exit_status())
