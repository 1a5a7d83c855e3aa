#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole machine while processes are born and die around both ends of the window: every sum belongs to a thread
that is in the table, and each thread's sums are its books."""
import os, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-system.")
storm = subprocess.Popen(["sh", "-c", "while :; do /bin/true; (sleep 0.01); done"])
failed = 0
try:
    for i in range(3):
        p = record(f"{DIR}/all.cprof", "-a", "--duration", "0.5", "--per-thread", "--ring-size", "32M")
        per = {}
        for s in p.sums:
            kind = "running_ns" if s["kind"] == "running" else "blocked_ns" if s["kind"] in BLOCKED else "runnable_ns"
            key = (s.get("thread", "0"), kind)
            per[key] = per.get(key, 0) + int(s["ns"])
        orphans = sum(v for (t, _), v in per.items() if t == "0")
        wrong = [(t["tid"], t["comm"], k, per.get((str(n), k), 0), num(t, k)) for n, t in p.threads.items()
                 for k in ("running_ns", "runnable_ns", "blocked_ns") if per.get((str(n), k), 0) != num(t, k)]
        # two threads that had one number, one after the other, share its sums
        tids = [t["tid"] for t in p.threads.values()]
        wrong = [w for w in wrong if tids.count(w[0]) == 1]
        print(f"{len(p.threads)} threads, {orphans} ns without a thread, wrong books: {wrong[:3]}")
        failed += orphans > 0 or bool(wrong)
finally:
    storm.kill()
    storm.wait()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(1 if failed else 0)
