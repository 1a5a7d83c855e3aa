#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Both hooks watch the same threads at the same time, each in a capture of its own that keeps every interval: they must
have seen the same waits, one by one, in the same states, with the same stacks by name, user and kernel. Waits that
a window cuts are left out, since the census takes their stacks from outside."""
import collections, os, signal, subprocess, sys, tempfile, time
from profile import *
from test_truth import lacks, own_function

TRIES = 4
NEAR_NS = 200000  # the two programs run one after the other at each switch
# not storm: how much of a stack has rows and names depends on when a new program's mappings were read, which each of two
# captures does in its own time; test_truth has it with both hooks
SCENARIOS = ["ladder", "locks", "disk", "dying", "migrating", "signals", "stopped"]
LONG_NS = 4 * NEAR_NS
FAR_NS = 3000000


def capture(folder, hook, pids, *args):
    out = os.path.join(folder, hook + ".cprof")
    return out, subprocess.Popen([PROGRAM, "record", "-o", out, "--replace", "--force", "-q", "--no-svg", "--hook", hook, "--per-thread",
                                  "-p", pids, *args])


def both(folder, scenario, seconds, *args):
    """Profiles of the two hooks, and whether the workload came to no harm."""
    work = subprocess.Popen([f"{WORKLOADS}/truth", scenario, os.path.join(folder, "stamps")])
    time.sleep(0.3)
    children = open(f"/proc/{work.pid}/task/{work.pid}/children").read().split() if scenario == "stopped" else []
    pids = ",".join([str(work.pid), *children])
    runs = [capture(folder, hook, pids, *args) for hook in ("switch", "finish")]
    time.sleep(seconds)  # until both have opened their windows, and some more
    for _, p in runs:
        p.send_signal(signal.SIGINT)
    bad = [p.args for _, p in runs if p.wait()]
    work.terminate()
    if work.wait() or bad:
        sys.exit(f"FAIL {scenario}: {bad or 'the workload was harmed'}")
    return [Profile(path) for path, _ in runs]


def waits(p, start, end):
    """{tid: [(start, kind, length, names)]} of the blocked time that lies inside [start, end). The last wait of a thread is
    left out: where the thread did not get a CPU in the window any more, its stack was taken from outside."""
    tids = {n: t["tid"] for n, t in p.threads.items()}
    out = collections.defaultdict(list)
    for i in p.tables.get("interval", {}).values():
        a, b = int(i["start_ns"]), int(i["end_ns"])
        if i["kind"] in BLOCKED and start <= a and b < end and "cut" not in i.get("flags", ""):
            out[tids[int(i["thread"])]].append((a, i["kind"], b - a, tuple(n for n, _, _ in p.frames(i.get("stack")))))
    return {tid: sorted(w)[:-1] for tid, w in out.items()}


def compare(a, b, problems):
    """Returns how many waits were the same."""
    start, end = max(a.start, b.start) + FAR_NS, min(a.end, b.end) - FAR_NS
    if end - start < 1e8:
        problems.append(f"the windows share only {(end - start) / 1e6:.0f} ms")
        return 0
    one, two, cnt = waits(a, start, end), waits(b, start, end), 0
    for tid in one.keys() | two.keys():
        x, y = one.get(tid, []), two.get(tid, [])
        if abs(len(x) - len(y)) > 1:  # one may lie across the edge
            problems.append(f"thread {tid}: {len(x)} waits by switch, {len(y)} by finish")
            continue
        at = {round(w[0] / NEAR_NS): w for w in y}
        for w in x:
            near = [at.get(round(w[0] / NEAR_NS) + d) for d in (0, -1, 1)]
            near = [n for n in near if n and abs(n[0] - w[0]) < NEAR_NS and abs(n[2] - w[2]) < 2 * NEAR_NS]
            same = [n for n in near if n[1] == w[1] and n[3] == w[3]]
            cnt += bool(same)
            # shorter ones follow each other within the distance at which two are taken for one
            if near and not same and w[2] >= LONG_NS:
                problems.append(f"thread {tid}: switch has {w[1:]}, finish {[n[1:] for n in near]}")
    if cnt < 5:
        problems.append(f"only {cnt} waits could be compared")
    return cnt


def filtered(p):
    """The share of the window that was dropped, and what was kept: (state, function that waits)."""
    drop = [s for s in p.sums if "filtered" in s.get("flags", "")]
    kept = [s for s in p.sums if s not in drop and s["kind"] in BLOCKED]
    return sum(int(s["ns"]) for s in drop) / (p.end - p.start), {(s["kind"], own_function(p.frames(s.get("stack")))) for s in kept}


def check_filter(folder, seconds):
    a, b = both(folder, "ladder", seconds, "--min-block-time", "3000", "--state", "S")
    (x, kept), (y, kept_too) = filtered(a), filtered(b)
    problems = []
    if not x or abs(x - y) > 0.2 * x:
        problems.append(f"[filtered] {x:.3f} of the window by switch, {y:.3f} by finish")
    if kept != kept_too:
        problems.append(f"kept by one alone: {kept ^ kept_too}")
    return problems


def check_verify(folder, seconds):
    """Sums and intervals are equal to the nanosecond, or the capture fails."""
    for scenario in ("storm", "dying"):
        both(folder, scenario, seconds, "--verify")
    return []


def main():
    need_root()
    why = lacks("finish")
    if why:
        print(why)
        return 77
    folder, failed = tempfile.mkdtemp(prefix="causeprof-hooks."), 0
    for scenario in SCENARIOS:
        for i in range(TRIES):
            problems = []
            a, b = both(folder, scenario, 3 << i, "--intervals")
            cnt = compare(a, b, problems)
            if a.header["hook"] != "switch" or not b.header["hook"].startswith("finish"):
                problems.append(f"the headers say {a.header['hook']} and {b.header['hook']}")
            if not problems:
                break
            print(f"     {scenario}:", *problems[:4], sep="\n       ")
        print("FAIL" if problems else "ok  ", f"{scenario}: {cnt} waits are the same, {b.header['hook']}")
        failed += bool(problems)
    for name, check in (("filters", check_filter), ("sums and intervals", check_verify)):
        for i in range(TRIES):
            problems = check(folder, 3 << i)
            if not problems:
                break
        print("FAIL" if problems else "ok  ", name, *problems)
        failed += bool(problems)
    subprocess.run(["rm", "-rf", folder])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
