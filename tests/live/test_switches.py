#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Switch counts, exactly: per thread the profile's against what /proc/TID/status gained while the window was open. The
workload's threads all sleep when the window opens and when it closes, and their counts are read while they sleep, so
that there is no edge to allow for. What the state machine made of the switches is counted too: each voluntary one
began a piece of blocked time, each other one a wait for a CPU."""
import os, shutil, signal, subprocess, sys, tempfile, time
from profile import *

WAITS_S = (1, 2, 4, 8)  # for the window to open; how long that takes nobody tells us
# at least so many (voluntary, involuntary) switches a thread, or the kind of work has not done what it is there for
LEAST = {"ladder": (30, 0), "lock": (40, 0), "spin": (1, 5), "yield": (1, 100), "migrate": (40, 0), "vfork": (10, 0),
         "interrupted": (200, 0), "nap": (4, 0), "newcomer": (4, 0), "main": (1, 0)}


def status(pid):
    """{tid: (state, voluntary, involuntary)}"""
    threads = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        lines = dict(l.split(":", 1) for l in open(f"/proc/{pid}/task/{tid}/status") if ":" in l)
        threads[int(tid)] = (lines["State"].split()[0], int(lines["voluntary_ctxt_switches"]), int(lines["nonvoluntary_ctxt_switches"]))
    return threads


def quiet_status(pid):
    """The counts when all threads sleep and have done so for a while."""
    before = None
    for _ in range(200):
        now = status(pid)
        if now == before and all(state == "S" for state, _, _ in now.values()):
            return now
        before = now
        time.sleep(0.05)
    sys.exit("FAIL the workload does not come to rest")


def read_until(f, word, jobs):
    for line in f:
        w = line.split()
        if w == [word]:
            return
        jobs[int(w[1])] = w[2]
    sys.exit(f"FAIL the workload ended before it was {word}")


def capture(folder, wait_s, *options):
    """Profile, {tid: what it does}, counts before and after, and whether the burst lay inside the window."""
    out = os.path.join(folder, "x.cprof")
    work = subprocess.Popen([f"{WORKLOADS}/bursts"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    jobs = {}
    try:
        read_until(work.stdout, "ready", jobs)
        before = quiet_status(work.pid)
        recorder = subprocess.Popen([PROGRAM, "record", "-p", str(work.pid), "--per-thread", "-o", out, "--replace", "-q", "--force",
                                     "--no-svg", *options])
        time.sleep(wait_s)
        started_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        work.stdin.write("x")
        work.stdin.flush()
        read_until(work.stdout, "done", jobs)
        after = quiet_status(work.pid)
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        recorder.send_signal(signal.SIGINT)
        if recorder.wait(60):
            sys.exit(f"FAIL record {options}: status {recorder.returncode}")
    finally:
        work.stdin.close()
        code = work.wait(60)
    if code:
        sys.exit(f"FAIL the workload was harmed: status {code}")
    p = Profile(out)
    return p, jobs, before, after, p.start < started_ns and ended_ns < p.end


def pieces(p):
    """{tid: {kind: how many pieces of time}} from the sums."""
    cnts = {}
    for s in p.sums:
        of_thread = cnts.setdefault(int(p.threads[int(s["thread"])]["tid"]), {})
        of_thread[s["kind"]] = of_thread.get(s["kind"], 0) + num(s, "cnt")
    return cnts


def intervals(p):
    """The same from single intervals."""
    cnts = {}
    for i in p.tables.get("interval", {}).values():
        of_thread = cnts.setdefault(int(p.threads[int(i["thread"])]["tid"]), {})
        of_thread[i["kind"]] = of_thread.get(i["kind"], 0) + 1
    return cnts


def check_pieces(who, what, is_new, switches, cnts, problems):
    voluntary, involuntary = switches
    blocked = sum(n for kind, n in cnts.items() if kind in BLOCKED)
    preempted = cnts.get("preempted", 0)
    # the wait that was open when the window opened belongs to a switch before it
    waits = voluntary + (not is_new)
    if blocked + preempted != waits + involuntary:
        problems.append(f"{who}: {blocked} pieces blocked and {preempted} preempted, for {waits} waits and {involuntary} preemptions")
    # a signal that comes before the sleep makes a voluntary switch of a thread that wants to run
    elif what != "interrupted" and blocked != waits:
        problems.append(f"{who}: {blocked} pieces blocked for {waits} waits")


def judge(p, jobs, before, after):
    problems, total = [], [0, 0]
    seen = {int(t["tid"]): t for t in p.threads.values()}
    kept = {"sums": pieces(p)}
    if p.tables.get("interval"):
        kept["intervals"] = intervals(p)
    for tid, (_, voluntary, involuntary) in after.items():
        what, is_new = jobs[tid], tid not in before
        who = f"{what} {tid}"
        _, voluntary_then, involuntary_then = before.get(tid, ("", 0, 0))
        kernel = (voluntary - voluntary_then, involuntary - involuntary_then)
        if tid not in seen:
            problems.append(f"{who} is not in the profile")
            continue
        ours = (num(seen[tid], "voluntary_cnt"), num(seen[tid], "involuntary_cnt"))
        if ours != kernel:
            problems.append(f"{who}: switches {ours}, /proc says {kernel}")
        for name, cnts in kept.items():
            check_pieces(f"{who}, {name}", what, is_new, kernel, cnts.get(tid, {}), problems)
        if any(k < least for k, least in zip(kernel, LEAST.get(what, (0, 0)))):
            problems.append(f"{who}: only {kernel} switches: the work is no test")
        total = [a + b for a, b in zip(total, kernel)]
    return problems, total


def main():
    need_root()
    folder = tempfile.mkdtemp(prefix="causeprof-switches.")
    failed = 0
    try:
        for options in ((), ("--intervals",)):
            for wait_s in WAITS_S:
                p, jobs, before, after, inside = capture(folder, wait_s, *options)
                if inside:
                    break
            problems, total = judge(p, jobs, before, after) if inside else (["the window never opened in time"], (0, 0))
            print("ok  " if not problems else "FAIL", " ".join(options) or "sums",
                  f"{len(after)} threads, {total[0]} voluntary and {total[1]} other switches", *problems[:8], sep="\n       ")
            if problems:
                print("       loss:", p.loss)
            failed += bool(problems)
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
