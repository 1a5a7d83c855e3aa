#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The books against the workload's own stamps. Per thread and function that waits: all time off the CPU in it
against the bracket that the thread put around the call; running time against the thread's CPU clock; life
time exactly; the set of threads exactly. Tolerance: 1 % or 30 us a wait, whichever is more; a scenario may
be tried again, since a virtual machine can lose its CPU between a stamp and the call that it brackets. In the last try
what the host took in the window may be missing as well, if it took something in all of them.

usage: test_truth.py [--hook switch|finish] [SCENARIO...]; without --hook: both"""
import collections, os, subprocess, sys, tempfile, time
from profile import *

TRIES = 4
# How far we may be from the truth: functions of an amount in ns and of how many waits or switches it is made of.
# "waits" holds for the stamps around waits, "clock" for the thread's CPU clock, "schedstat" for the kernel's books.
# cpu_share: how much of the CPU time inside the brackets may be waiting after all, since the clock is read outside of them.
Tolerance = collections.namedtuple("Tolerance", "waits clock schedstat cpu_share")
HERE = Tolerance(lambda ns, cnt: max(ns * 0.01, 30000 * cnt), lambda ns, cnt: max(ns * 0.01, 30000 * cnt),
                 lambda ns, cnt: ns * 0.01 + 20000 * cnt, 0)
JIFFY_NS = 10**9 // os.sysconf("SC_CLK_TCK")
EXACT = "the books: "  # what begins so depends on nobody's clock: one such problem is enough
EXPECT_KIND = {"wait_for_vfork": "disk", "stopped": "stopped"}


def with_stolen(t, ns):
    """What the host took of all CPUs is in our time and in brackets, and not in the kernel's clocks; it is told in whole ticks."""
    more = ns + JIFFY_NS
    return Tolerance(lambda a, b: t.waits(a, b) + more, lambda a, b: t.clock(a, b) + more, lambda a, b: t.schedstat(a, b) + more, t.cpu_share)


class Stamps:
    def __init__(self, path):
        self.waits, self.cpu, self.life, self.asleep = {}, {}, {}, {}
        self.late = {}  # {tid: ns that the kernel's clocks have as running before the thread really ran}
        for line in open(path):
            w = line.split()
            if w[0] == "wait":
                self.waits.setdefault(int(w[1]), []).append((w[2], int(w[3]), int(w[4]), int(w[5])))
            elif w[0] == "cpu":
                self.cpu.setdefault(int(w[1]), []).append((int(w[2]), int(w[3])))
            elif w[0] == "asleep":
                self.asleep.setdefault(int(w[1]), []).append((int(w[2]), int(w[3]), int(w[4])))
            elif w[0] == "thread":
                self.life[int(w[1])] = (int(w[2]), int(w[3]))


def own_function(frames):
    """The leaf-most frame that is the workload's own; a signal handler's time is that of what it interrupted."""
    for name, module, kind in frames:
        if module.endswith("/truth") and name != "on_signal":
            return name
    return None


def cpu_between(points, start, end):
    """CPU time in [start, end] from readings of the thread's clock, and how uncertain it is."""
    def at(t):
        before = [p for p in points if p[0] <= t]
        after = [p for p in points if p[0] >= t]
        if not before:
            return points[0][1], 0
        if not after:
            return points[-1][1], 0
        a, b = before[-1], after[0]
        gained = b[1] - a[1]
        if b[0] == a[0]:
            return a[1], 0
        return a[1] + gained * (t - a[0]) / (b[0] - a[0]), gained
    (x, ux), (y, uy) = at(start), at(end)
    return y - x, ux + uy


def add(table, key, amount):
    table[key] = table.get(key, 0) + amount


def off_cpu(p, t):
    """{function: {kind: ns}} of a thread, without running time."""
    off = {}
    for s in p.sums:
        if s.get("thread") == t["number"] and s["kind"] != "running":
            add(off.setdefault(own_function(p.frames(s.get("stack"))), {}), s["kind"], int(s["ns"]))
    return off


class Waits:
    """What the stamps say of a function: of the time in its brackets that is not CPU time it was off the CPU."""
    def __init__(self):
        self.ns, self.cnt, self.cpu_ns = 0, 0, 0
        self.unsure_ns = 0  # less is possible: CPU time in brackets that the window cuts, on whichever side of its border


def check_waits(who, expected, off, problems, tolerance, late=0):
    for f, w in expected.items():
        want = w.ns
        got = off.get(f, {})
        if f == "stopped":
            got = {"stopped": sum(e.get("stopped", 0) for e in off.values())}
        have = sum(got.values())
        above = have - want - tolerance.cpu_share * w.cpu_ns
        if max(above, want - w.unsure_ns - have) > tolerance.waits(want, w.cnt) + late:
            problems.append(f"{who} {f}: {have/1e6:.3f} ms of {want/1e6:.3f} ms stamped ({w.cnt} waits, {w.unsure_ns/1e6:.3f} ms unsure)")
        kind = EXPECT_KIND.get(f, "sleep")
        others = {k: v for k, v in got.items() if k in BLOCKED - {kind}}
        runnable = sum(v for k, v in got.items() if k in RUNNABLE)  # all of it where it got no CPU to go to sleep on
        if others or (want - runnable > 1e6 and not got.get(kind)):
            problems.append(f"{who} {f}: expected state {kind}, got {got}")


def expected_waits(p, stamps, tid, expected):
    for f, start, end, cpu in stamps.waits.get(tid, []):
        a, b = max(start, p.start), min(end, p.end)
        if a >= b:
            continue
        w = expected.setdefault(f, Waits())
        w.cnt += 1
        w.cpu_ns += cpu
        if (a, b) == (start, end):
            w.ns += b - a - cpu
        else:
            w.ns += b - a
            w.unsure_ns += min(cpu, b - a)


def check_thread(p, t, stamps, problems, tolerance):
    """A thread that lived through the whole window."""
    tid = int(t["tid"])
    late = stamps.late.get(tid, 0)
    expected = {}
    expected_waits(p, stamps, tid, expected)
    check_waits(tid, expected, off_cpu(p, t), problems, tolerance, late)
    points = stamps.cpu.get(tid, [])
    if len(points) < 2:
        return
    life = p.end - p.start
    switches = num(t, "voluntary_cnt") + num(t, "involuntary_cnt") + 1
    want, unsure = cpu_between(points, p.start, p.end)
    have = num(t, "running_ns") + late
    if abs(have - want) > tolerance.clock(life, switches) + unsure:
        problems.append(f"{tid}: running {have/1e6:.3f} ms, its CPU clock {want/1e6:.3f} ms, late {late/1e6:.3f} ms")
    # the kernel books a wait when it ends
    waits = sum(int(s["ns"]) for s in p.sums if s.get("thread") == t["number"] and s["kind"] in RUNNABLE and "cut_end" in s.get("flags", ""))
    for ours, open_ns, kernel, sign in (("running_ns", 0, "kernel_running_ns", 1), ("runnable_ns", waits, "kernel_runnable_ns", -1)):
        have = num(t, ours) - open_ns
        if abs(have + sign * late - num(t, kernel)) > tolerance.schedstat(life, switches):
            problems.append(f"{tid}: {ours} {have/1e6:.3f} ms, schedstat {num(t, kernel)/1e6:.3f} ms, late {late/1e6:.3f} ms")


def check_short_lived(p, threads, stamps, problems, tolerance):
    """Threads born or dead inside the window, together: single waits of some ms are too few to judge by."""
    expected, off = {}, {}
    for t in threads:
        expected_waits(p, stamps, int(t["tid"]), expected)
        for f, kinds in off_cpu(p, t).items():
            for kind, ns in kinds.items():
                add(off.setdefault(f, {}), kind, ns)
    check_waits("short-lived", expected, off, problems, tolerance)


def check_books(p, t, problems):
    total = num(t, "running_ns") + num(t, "runnable_ns") + num(t, "blocked_ns")
    life = num(t, "last_ns") - num(t, "first_ns")
    if total != life:
        problems.append(f"{EXACT}{t['tid']}: running + runnable + blocked is {total - life:+} ns off its life")
    # each switch away begins one piece of waiting, but for the last of a life; one may be open when the window opens
    waits = [s for s in p.sums if s.get("thread") == t["number"] and s["kind"] in BLOCKED | {"preempted"}]
    pieces, before = sum(num(s, "cnt") for s in waits), sum(num(s, "cnt") for s in waits if "cut_start" in s.get("flags", ""))
    switches = num(t, "voluntary_cnt") + num(t, "involuntary_cnt") - ("died" in t.get("flags", ""))
    if abs(pieces - before - switches) > num(p.loss.get("switch unseen", {}), "events"):
        problems.append(f"{EXACT}{t['tid']}: {pieces} pieces off the CPU, {before} from before the window, of {switches} switches")


def check_set(p, stamps, problems):
    """All threads that lived in the window, and no others, of those that stamped."""
    seen = {int(t["tid"]) for t in p.threads.values()}
    for tid, (born, died) in stamps.life.items():
        if born < p.end - 1e6 and (not died or died > p.start + 1e6) and tid not in seen:
            problems.append(f"thread {tid} is missing")
    if stamps.extra_allowed:
        return
    for tid in seen - set(stamps.life) - {stamps.main}:
        problems.append(f"thread {tid} is none of the workload's")


def judge(scenario, p, stamps, main, tolerance=HERE):
    """What is wrong with a profile of a scenario whose process was main: a list of lines."""
    stamps.main = main
    stamps.extra_allowed = scenario in ("disk", "storm", "stopped")
    problems = []
    short = []
    for number, t in p.threads.items():
        t["number"] = str(number)
        check_books(p, t, problems)
        if "born" in t.get("flags", "") or "died" in t.get("flags", ""):
            short.append(t)
        else:
            check_thread(p, t, stamps, problems, tolerance)
    check_short_lived(p, short, stamps, problems, tolerance)
    check_set(p, stamps, problems)
    checks = EXTRA.get(scenario)
    if checks:
        checks(p, stamps, problems, tolerance)
    unseen = p.loss.get("resume unseen")
    if unseen and int(unseen["events"]) > 2:
        problems.append(f"waits lost their stacks: {unseen}")
    return problems


def attempt(folder, scenario, duration, extra=(), last=False):
    stamps_path = os.path.join(folder, scenario)
    work = subprocess.Popen([f"{WORKLOADS}/truth", scenario, stamps_path])
    time.sleep(1.0 if scenario == "many" else 0.3)
    children = open(f"/proc/{work.pid}/task/{work.pid}/children").read().split() if scenario == "stopped" else []
    stolen = stolen_ns()
    try:
        p = record(os.path.join(folder, scenario + ".cprof"), "-p", ",".join([str(work.pid), *children]), "--duration", str(duration),
                   "--per-thread", *extra)
    finally:
        work.terminate()
        code = work.wait()
    if code:
        return [f"the workload was harmed: status {code}"]
    stolen = stolen_ns() - stolen
    problems = judge(scenario, p, Stamps(stamps_path), work.pid)
    inside = num(p.header, "stolen_ns")
    if inside > stolen:
        problems.append(f"{EXACT}the profile has {inside} ns stolen, more than {stolen} around it")
    elif problems and last and inside:
        print(f"     the host took {inside / 1e6:.0f} ms of the CPUs:", *problems[:6], sep="\n       ")
        problems = judge(scenario, p, Stamps(stamps_path), work.pid, with_stolen(HERE, inside))
    return problems


def extra_sleepers(p, stamps, problems, _tolerance):
    for s in p.sums:
        if "asleep_throughout" not in s.get("flags", ""):
            problems.append(f"a sum without asleep_throughout: {s}")
        elif int(s["ns"]) != p.end - p.start:
            problems.append(f"a sleeper has {s['ns']} ns of {p.end - p.start}")
        elif own_function(p.frames(s["stack"])) not in ("sleep_throughout", "run_throughout", "run_many", "writer"):
            problems.append(f"wrong stack {p.frames(s['stack'])}")


def extra_storm(p, stamps, problems, _tolerance):
    names = {pr.get("comm") for pr in p.processes.values()}
    if "true" not in names:
        problems.append(f"no child ran true: {names}")
    early = [t["tid"] for t in p.threads.values() if t.get("first_ns") == "unknown"]
    if early:
        problems.append(f"threads that died before the window are in it: {early[:3]}")
    orphans = [t["tid"] for t in p.threads.values() if not int(t.get("process", 0))]
    if orphans:
        problems.append(f"{len(orphans)} threads belong to no process: {orphans[:3]}")
    if "ring full: stack" not in p.loss and any("[walk stopped: frames lost]" in str(p.frames(s.get("stack"))) for s in p.sums):
        problems.append("frames of new threads count as lost")
    for s in p.sums:
        frames = [f for f in p.frames(s.get("stack"))]
        modules = {m.rsplit("/", 1)[-1] for _, m, k in frames if k == "user"}
        if "true" in modules and "truth" in modules:
            problems.append(f"a stack of two programs: {frames}")


def extra_pending(p, stamps, problems, tolerance):
    """Blocked no longer than it asked for, or until the signal came: the rest is a wait for the CPU."""
    for t in p.threads.values():
        spans = [min(min(end, p.end) - max(start, p.start), ns) for start, end, ns in stamps.asleep.get(int(t["tid"]), [])]
        spans = [ns for ns in spans if ns > 0]
        have = sum(ns for kind, ns in off_cpu(p, t).get("sleep_pending", {}).items() if kind in BLOCKED)
        if have > sum(spans) + tolerance.waits(sum(spans), len(spans)):
            problems.append(f"{t['tid']} sleep_pending: blocked {have/1e6:.3f} ms of at most {sum(spans)/1e6:.3f} ms ({len(spans)} calls)")


EXTRA = {"throughout": extra_sleepers, "many": extra_sleepers, "storm": extra_storm, "pending": extra_pending}
SCENARIOS = [("ladder", 0.5), ("locks", 0.5), ("disk", 0.5), ("spinners", 0.5), ("spinner_sleeper", 0.5),
             ("pingpong", 0.1), ("dying", 0.5), ("throughout", 0.1), ("many", 0.1), ("straddle", 0.1), ("migrating", 0.5),
             ("signals", 0.5), ("pending", 0.5), ("locker", 0.5), ("stopped", 0.5), ("storm", 0.5)]


def lacks(hook):
    """Why this kernel cannot have the hook, or None."""
    r = subprocess.run([PROGRAM, "record", "-q", "-p", str(os.getppid()), "--hook", hook, "-f", "0.01"], capture_output=True, text=True)
    return r.stderr.strip() if r.returncode and "use --hook switch" in r.stderr else None


def main(args):
    need_root()
    hooks = ["switch", "finish"]
    if args[:1] == ["--hook"]:
        hooks, args = [args[1]], args[2:]
    folder = tempfile.mkdtemp(prefix="causeprof-truth.")
    failed = 0
    for hook in hooks:
        why = lacks(hook)
        if why:
            print("not with", hook + ":", why)
            continue
        for scenario, duration in SCENARIOS:
            if args and scenario not in args:
                continue
            for i in range(TRIES):
                problems = attempt(folder, scenario, duration, ("--hook", hook), i == TRIES - 1)
                if not problems:
                    break
                exact = [x for x in problems if x.startswith(EXACT)]
                print(f"     {hook} {scenario}, try {i + 1}:", *problems[:6], sep="\n       ")
                if exact:
                    break
            print("FAIL" if problems else "ok  ", hook, scenario)
            failed += bool(problems)
    subprocess.run(["rm", "-rf", folder])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
