#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that are more than a process: a cgroup whose children are born and die while it is watched, moves between
cgroups. What was there is known from the programs themselves and from the kernel's rusage."""
import os, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-targets.")
PROGRAM = os.path.abspath(PROGRAM)
CONTAINED = os.path.abspath(os.path.join(WORKLOADS, "contained"))
OUT = os.path.join(DIR, "x.cprof")
failed = 0
started = []  # what must not outlive the test


def check(what, ok, detail=""):
    global failed
    print("ok  " if ok else "FAIL", what, "" if ok else detail, flush=True)
    failed += not ok


def start(*args, **kw):
    started.append(subprocess.Popen(args, **kw))
    return started[-1]


def v2_mount():
    for line in open("/proc/self/mountinfo"):
        fields = line.split()
        if fields[fields.index("-") + 1] == "cgroup2":
            return fields[4]
    print("no cgroup2 hierarchy is mounted")
    sys.exit(77)


class Cgroup:
    """A cgroup of ours, removed at the end."""
    made = []

    def __init__(self, name):
        self.path = "/" + name
        self.dir = MOUNT + self.path
        os.mkdir(self.dir)
        self.made.insert(0, self)

    def number(self):
        return str(os.stat(self.dir).st_ino)

    def start(self, *args, **kw):
        """A process that is in the cgroup from its first instruction."""
        procs = os.path.join(self.dir, "cgroup.procs")
        return start(*args, preexec_fn=lambda: open(procs, "w").write(str(os.getpid())), **kw)

    @classmethod
    def remove_all(cls):
        for c in cls.made:
            for _ in range(50):
                try:
                    os.rmdir(c.dir)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.1)


class Capture:
    """A capture that runs until it is stopped."""

    def __init__(self, *args, wrap=()):
        self.p = start(*wrap, PROGRAM, "record", "-q", "--no-svg", "-o", OUT, "--replace", "--force", "--per-thread",
                       *args, stderr=subprocess.PIPE, text=True)
        self.pid = self.p.pid
        while self.p.poll() is None and not self.waits():
            time.sleep(0.05)
        time.sleep(0.2)

    def waits(self):
        """In the loop that reads events: attached, and in poll(2) with the time that is left of the window."""
        try:
            fds = os.listdir(f"/proc/{self.pid}/fd")
            links = [os.readlink(f"/proc/{self.pid}/fd/{f}") for f in fds]
            call = open(f"/proc/{self.pid}/syscall").read().split()
            return any("signalfd" in l for l in links) and any("perf_event" in l for l in links) and call[0] == "7"
        except OSError:
            return False

    def stop(self):
        self.p.send_signal(signal.SIGINT)
        _, err = self.p.communicate(timeout=120)
        check("the capture ended well", self.p.returncode == 0 and not err, (self.p.returncode, err))
        return Profile(OUT)


def truth(path):
    """What the workload says: its own line, children, waits."""
    lines = [l.split() for l in open(path)]
    return ([list(map(int, l[1:])) for l in lines if l[0] == word] for word in ("self", "child", "wait"))


def running_ns(p, tids):
    return sum(num(s, "ns") for s in p.sums if s["kind"] == "running" and p.threads[int(s["thread"])]["tid"] in tids)


def near(ours_ns, true_ns, cnt):
    """1 %, and 50 us a process: what it ran before the first and after the last look at its clock."""
    return abs(ours_ns - true_ns) <= true_ns * 0.01 + cnt * 50e3


def test_cgroup():
    outer, decoy = Cgroup(f"causeprof-test-{os.getpid()}"), Cgroup(f"causeprof-decoy-{os.getpid()}")
    inner = Cgroup(outer.path[1:] + "/inner")
    sleeper = inner.start("sleep", "100")
    for name in (outer.path, outer.number()):
        c = Capture("-G", name)
        notes = [os.path.join(DIR, n) for n in ("inner", "decoy")]
        runs = [cg.start(CONTAINED, "50", note) for cg, note in ((inner, notes[0]), (decoy, notes[1]))]
        for r in runs:
            r.wait()
        p = c.stop()
        (me,), children, _ = truth(notes[0])
        want = {str(n[0]) for n in children} | {str(me[0])}
        have = {t["tid"] for t in p.threads.values()}
        check(f"-G {name}: the 50 children, the parent and the sleeper, and nobody else",
              have == want | {str(sleeper.pid)}, (have - want, want - have))
        born = [t for t in p.threads.values() if t["tid"] in {str(n[0]) for n in children}]
        check("... the children are born and die", all("born" in t["flags"] and "died" in t["flags"] for t in born), born)
        true_ns = sum(n[3] for n in children)
        ours_ns = running_ns(p, {str(n[0]) for n in children})
        check(f"... running: {ours_ns / 1e6:.2f} ms, rusage {true_ns / 1e6:.2f} ms", near(ours_ns, true_ns, 50))
        paths = {q.get("cgroup", "") for q in p.processes.values()}
        check("... all have the label of their cgroup, also the dead", paths == {inner.path}, paths)
        asleep = [t for t in p.threads.values() if t["tid"] == str(sleeper.pid)]
        check("... the sleeper slept through", "asleep_throughout" in asleep[0].get("flags", ""), asleep)
    sleeper.kill()
    sleeper.wait()


def test_moves():
    """A process with two threads comes in asleep, moves on, and makes a cgroup that is gone at the end."""
    name = f"causeprof-moves-{os.getpid()}"
    outer = Cgroup(name)
    work = ("import os,sys,threading,time\n"
            "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
            "print(os.getpid(), threading.active_count(), flush=True)\n"
            "sys.stdin.readline()\n"
            f"os.mkdir('{outer.dir}/late'); open('{outer.dir}/late/cgroup.procs', 'w').write('0')\n"
            "print('there', flush=True); sys.stdin.readline()\n"
            f"open('{MOUNT}/cgroup.procs', 'w').write('0'); os.rmdir('{outer.dir}/late')\n")
    child = start(sys.executable, "-c", work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    c = Capture("-G", outer.path)
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    open(outer.dir + "/cgroup.procs", "w").write(str(child.pid))
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    time.sleep(1)
    child.stdin.write("\n")
    child.stdin.flush()
    child.stdout.readline()
    time.sleep(0.1)
    child.stdin.write("\n")
    child.stdin.close()
    child.wait()
    p = c.stop()
    threads = [t for t in p.threads.values()]
    check("both threads of the process that came", len(threads) == 2, threads)
    main = [t for t in threads if t["tid"] == str(child.pid)]
    first = num(main[0], "first_ns") if main else 0
    check(f"its time counts from when it came, to {(first - before) / 1e6:.1f} ms", before <= first <= after,
          (before, after, first))
    paths = [q.get("cgroup") for q in p.processes.values() if q["pid"] == str(child.pid)]
    seen = [x for i, x in enumerate(paths) if not i or paths[i - 1] != x]
    check("a label for each cgroup it was in, also the one that is gone",
          seen == [outer.path, outer.path + "/late", "/"], seen)
    wait = [f[0] for s in p.sums if s["kind"] == "sleep" and num(s, "ns") > 2e8 for f in p.frames(s.get("stack"))]
    check("its wait at the time has a stack", "read" in wait or "__read" in wait or any("pipe_read" in w for w in wait), wait)


def test_names():
    for args, word in ((("-G", "no/such"), "no/such"), (("-G", "999999999"), "999999999"), (("-G", "/etc"), "/etc")):
        r = subprocess.run([PROGRAM, "record", *args, "-o", OUT, "0.1"], capture_output=True, text=True)
        lines = r.stderr.splitlines()
        check(f"{' '.join(args)}: one line", r.returncode == 1 and len(lines) == 1 and word in lines[0], r)


MOUNT = v2_mount()
try:
    test_names()
    test_cgroup()
    test_moves()
finally:
    for one in started:
        if one.poll() is None:
            one.kill()
            one.wait()
    Cgroup.remove_all()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(1 if failed else 0)
