#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that are more than a process: a cgroup whose children are born and die while it is watched, moves between
cgroups; containers with a root, programs and a PID namespace of their own, watched from outside and from inside; a
make with two jobs. What was there is known from the programs themselves and from the kernel's rusage."""
import os, re, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-targets.")
PROGRAM = os.path.abspath(PROGRAM)
SOURCE = os.path.abspath("tests/workloads/contained.c")
CONTAINED = os.path.abspath(os.path.join(WORKLOADS, "contained"))
TRIES = 4
OUT = os.path.join(DIR, "x.cprof")
started = []  # what must not outlive the test


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

    def __init__(self, *args, wrap=(), inner=False):
        self.p = start(*wrap, PROGRAM, "record", "-q", "--no-svg", "-o", OUT, "--replace", "--force", "--per-thread",
                       *args, stderr=subprocess.PIPE, text=True)
        self.pid = self.p.pid  # of the program, which may have been entered through others
        while inner and self.p.poll() is None and not self.step_in():
            time.sleep(0.05)
        while self.p.poll() is None and not self.waits():
            time.sleep(0.05)
        time.sleep(0.2)

    def step_in(self):
        """nsenter forks: the program is its child."""
        kids = open(f"/proc/{self.p.pid}/task/{self.p.pid}/children").read().split()
        if not kids or "causeprof" not in os.readlink(f"/proc/{kids[0]}/exe"):
            return False
        self.pid = int(kids[0])
        return True

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
        if self.p.poll() is None:
            os.kill(self.pid, signal.SIGINT)
        _, err = self.p.communicate(timeout=120)
        check("the capture ended well", self.p.returncode == 0 and not err, (self.p.returncode, err))
        return Profile(OUT)


def truth(path):
    """What the workload says: its own line, children, waits."""
    lines = [l.split() for l in open(path)]
    return ([list(map(int, l[1:])) for l in lines if l[0] == word] for word in ("self", "child", "wait"))


def test_cgroup():
    outer, decoy = Cgroup(f"causeprof-test-{os.getpid()}"), Cgroup(f"causeprof-decoy-{os.getpid()}")
    inner = Cgroup(outer.path[1:] + "/inner")
    sleeper = inner.start("sleep", "3600")
    for name in (outer.path, outer.number()):
        c = Capture("-G", name)
        stolen = stolen_ns()
        notes = [os.path.join(DIR, n) for n in ("inner", "decoy")]
        runs = [cg.start(CONTAINED, "50", note) for cg, note in ((inner, notes[0]), (decoy, notes[1]))]
        for r in runs:
            r.wait()
        stolen = stolen_ns() - stolen
        p = c.stop()
        (me,), children, _ = truth(notes[0])
        want = {str(n[0]) for n in children} | {str(me[0])}
        have = {t["tid"] for t in p.threads.values()}
        check(f"-G {name}: the 50 children, the parent and the sleeper, and nobody else",
              have == want | {str(sleeper.pid)}, (have - want, want - have))
        born = [t for t in p.threads.values() if t["tid"] in {str(n[0]) for n in children}]
        check("... the children are born and die", all("born" in t["flags"] and "died" in t["flags"] for t in born), born)
        true_ns = sum(n[3] for n in children)
        ok, said = compare_running("...", p, {str(n[0]) for n in children}, true_ns, stolen)
        check(said, ok)
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
            f"open('{MOUNT}/cgroup.procs', 'w').write('0'); os.rmdir('{outer.dir}/late')\n"
            "pid = os.fork()\n"
            "pid or os._exit(0)\n"
            "os.waitpid(pid, 0); print(pid, flush=True)\n")
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
    born_outside = child.stdout.readline().strip()
    child.wait()
    p = c.stop()
    threads = [t for t in p.threads.values()]
    check("both threads of the process that came, and not what it forked when it had gone",
          len(threads) == 2 and born_outside and born_outside not in {t["tid"] for t in threads}, (threads, born_outside))
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


def copy_libraries(program, root):
    """What the program needs to start, under another root."""
    out = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    for path in re.findall(r"(/\S+) \(0x", out):
        to = root + os.path.dirname(path)
        os.makedirs(to, exist_ok=True)
        subprocess.run(["cp", "-L", path, to], check=True)


class Container:
    """Its own root, with its own program at a path that the host has, too; its own mounts and PIDs. The first process
    is the program: it is 1 inside."""

    def __init__(self, name, program):
        self.root = os.path.join(DIR, name)
        self.note = "/note"
        os.makedirs(self.root + os.path.dirname(program))
        os.makedirs(self.root + "/proc")
        subprocess.run(["gcc", "-O2", "-g", f"-DMARK={name}", SOURCE, "-o", self.root + program], check=True)
        copy_libraries(self.root + program, self.root)
        self.cgroup = Cgroup(f"docker-test-{os.getpid()}-{name}")
        self.program = program

    def start(self):
        self.p = self.cgroup.start("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                                   f"--root={self.root}", "--mount-proc", self.program, "3", self.note, "100000")
        while True:  # the first process in there, by the number that we see
            kids = open(f"/proc/{self.p.pid}/task/{self.p.pid}/children").read().split()
            if kids and os.readlink(f"/proc/{kids[0]}/exe").endswith(os.path.basename(self.program)):
                self.pid = kids[0]
                return
            time.sleep(0.01)

    def truth(self):
        os.kill(int(self.pid), signal.SIGTERM)
        self.p.wait()
        return truth(self.root + self.note)


def names_of(p, kind=None):
    return {f[0] for s in p.sums if kind in (None, s["kind"]) for f in p.frames(s.get("stack"))}


def check_names(what, p, mark, others):
    names = names_of(p)
    check(f"{what}: {mark}_work and {mark}_nap by name, none of {' or '.join(others)}",
          {f"{mark}_work", f"{mark}_nap"} <= names and not any(n.startswith(o + "_") for n in names for o in others),
          sorted(names))


def test_containers():
    """Two with the same PIDs inside, and a program of the host at their program's path."""
    program = os.path.join(DIR, "app", "contained")
    os.makedirs(os.path.dirname(program))
    subprocess.run(["gcc", "-O2", "-g", "-DMARK=outside", SOURCE, "-o", program], check=True)
    boxes = [Container(n, program) for n in ("inside", "sibling")]

    # from outside, by the number that the host sees
    for b in boxes:
        b.start()
    c = Capture("-p", boxes[0].pid)
    time.sleep(1)
    p = c.stop()
    (me,), children, waits = boxes[0].truth()
    boxes[1].truth()
    check_names("from outside", p, "inside", ("sibling", "outside"))
    pids = {q["pid"]: q["ns_pid"] for q in p.processes.values()}
    born = {q["ns_pid"] for q in p.processes.values()} - {"1"}
    check("... the first process is 1 inside", pids.get(boxes[0].pid) == "1" and me[0] == 1, (pids, me))
    check("... its children have the numbers that it knows", born and born <= {str(n[0]) for n in children},
          (born, children))
    check("... and others outside", all(int(out) > 1 and out != n for out, n in pids.items()), pids)
    check("... and the label of their container", {q.get("cgroup") for q in p.processes.values()} ==
          {boxes[0].cgroup.path}, p.processes)
    slept = sum(num(s, "ns") for s in p.sums if s["kind"] == "sleep" and "inside_nap" in [f[0] for f in p.frames(s.get("stack"))])
    true = sum(min(w[1], p.end) - max(w[0], p.start) for w in waits if w[1] > p.start and w[0] < p.end)
    # between the stamps it may also have been preempted, by its neighbours
    runnable = sum(num(s, "ns") for s in p.sums
                   if s["kind"] in ("woken", "preempted") and "inside_nap" in [f[0] for f in p.frames(s.get("stack"))])
    check(f"... its naps: {(slept + runnable) / 1e6:.2f} ms, by its own stamps {true / 1e6:.2f} ms",
          true > 2e7 and abs(slept + runnable - true) <= 0.01 * true + len(waits) * 200e3)
    text = subprocess.run([PROGRAM, "fold", "--root", "pid", "--kinds", "all", OUT], capture_output=True, text=True).stdout
    check("... both numbers where they differ", f"contained-{boxes[0].pid} (1 inside);" in text, text[:300])

    # from inside: the container's PIDs and its /proc, with the host's programs
    for args in (("-p", "1"), ("-a",)):
        look_from_inside(boxes, args)


def look_from_inside(boxes, args):
    for b in boxes:
        b.start()
    enter = ("nsenter", "-t", boxes[0].pid, "-p", "--", "unshare", "-m", "--propagation", "private", "sh", "-c",
             'mount -t proc proc /proc && exec "$@"', "sh")
    c = Capture(*args, wrap=enter, inner=True)
    time.sleep(1)
    p = c.stop()  # before the first process ends, and with it all in its namespace
    (me,), children, _ = boxes[0].truth()
    boxes[1].truth()
    check_names(f"from inside, {' '.join(args)}", p, "inside", ("sibling", "outside"))
    processes = [q for q in p.processes.values() if q.get("comm") != "causeprof" and q.get("pid", "0") != "0"]
    pids = {q["pid"] for q in processes}
    check("... PIDs as they are inside", pids <= {str(n[0]) for n in children} | {"1"} and len(pids) > 3, pids)
    check("... the same as its own", all(q["pid"] == q["ns_pid"] for q in processes), processes)
    check("... nobody whom it cannot see", all(num(t, "tid") for t in p.threads.values() if "idle" not in t.get("flags", "")),
          [t for t in p.threads.values() if not num(t, "tid")])


def test_make():
    """A real build, of a part of this project, with two jobs."""
    for i in range(TRIES):
        if one_make(i):
            return
        print(f"     make, try {i + 1}")
    check("running time of make within 1 % of rusage", False)


def one_make(number):
    build = os.path.join(DIR, f"build{number}")
    os.makedirs(build)
    root = os.getcwd()
    sources = sorted(n for n in os.listdir("user/base") if n.endswith(".c"))[:12]
    with open(os.path.join(build, "Makefile"), "w") as f:
        objects = [n[:-2] + ".o" for n in sources]
        f.write(f"all: {' '.join(objects)}\n\tfalse\n%.o: {root}/user/base/%.c\n"
                f"\tgcc -O2 -D_GNU_SOURCE -I{root} -c $< -o $@\n")
    # the waiter's only child is make; what it counts is make with all that it waited for
    waiter = ("import os, sys\npid = os.fork()\nif not pid:\n    os.execvp(sys.argv[2], sys.argv[2:])\n"
              "_, status, u = os.wait4(pid, 0)\n"
              "open(sys.argv[1], 'w').write(f'{os.getpid()} {round((u.ru_utime + u.ru_stime) * 1e9)}')\n"
              "sys.exit(os.waitstatus_to_exitcode(status))\n")
    note = os.path.join(DIR, "make.note")
    stolen = stolen_ns()
    r = subprocess.run([PROGRAM, "record", "-q", "--no-svg", "-o", OUT, "--replace", "--per-thread", "--",
                        sys.executable, "-c", waiter, note, "make", "-s", "-j2", "-C", build],
                       capture_output=True, text=True)
    stolen = stolen_ns() - stolen
    p = Profile(OUT)
    waiter_pid, true_ns = map(int, open(note).read().split())
    check("make's status is passed on", r.returncode == 2 and "Error 1" in r.stderr, r)
    check("it built", all(os.path.exists(os.path.join(build, o)) for o in objects), os.listdir(build))
    ran = {}
    for t in p.threads.values():
        ran.setdefault(t["comm"], []).append(t)
    check(f"{len(sources)} compilers and assemblers each, born and died inside",
          all(len(ran.get(n, [])) == len(sources) and
              all("born" in t["flags"] and "died" in t["flags"] for t in ran[n]) for n in ("gcc", "cc1", "as")),
          {n: len(ts) for n, ts in ran.items()})
    tids = {t["tid"] for t in p.threads.values()} - {str(waiter_pid)}
    ours_ns = running_ns(p, tids)
    books_ns = sum(num(t, "running_ns") for t in p.threads.values() if t["tid"] in tids)
    check("the sums are the threads' books", ours_ns == books_ns, (ours_ns, books_ns))
    ok, said = compare_running("    ", p, tids, true_ns, stolen)
    print(said)
    return ok


PHASES = """
import sys, time
now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC)
time.sleep(0.35)
start, cpu = now(), time.thread_time_ns()
while time.thread_time_ns() - cpu < 100e6:
    pass
end, cpu = now(), time.thread_time_ns() - cpu
time.sleep(0.35)
open(sys.argv[1], "w").write(f"{start} {end} {cpu}")
"""


def test_slices():
    """A phase of 0.1 s among sleep: in the slices in which it was, by its own stamps, and nowhere else."""
    note = os.path.join(DIR, "phases.note")
    stolen = stolen_ns()
    r = subprocess.run([PROGRAM, "record", "-q", "--no-svg", "-o", OUT, "--replace", "--per-thread", "--slice", "20ms",
                        "--verify", "--", sys.executable, "-c", PHASES, note], capture_output=True, text=True)
    stolen = stolen_ns() - stolen
    p = Profile(OUT)
    start, end, cpu = map(int, open(note).read().split())
    slice_ns = num(p.header, "slice_ns")
    first, last = ((t - p.start) // slice_ns + 1 for t in (start, end))
    check("captured in slices of 20 ms, sums verified", r.returncode == 0 and slice_ns == 20000000, r)
    check("every sum has its slice", all(num(s, "slice") for s in p.sums))
    per = {}
    for s in p.sums:
        per.setdefault((s["thread"], num(s, "slice")), []).append(num(s, "ns"))
    check("no thread has more of a slice than the slice", all(sum(v) <= slice_ns for v in per.values()))
    books = {n: num(t, "running_ns") + num(t, "runnable_ns") + num(t, "blocked_ns") for n, t in p.threads.items()}
    have = {}
    for s in p.sums:
        have[int(s["thread"])] = have.get(int(s["thread"]), 0) + num(s, "ns")
    check("slices add up to the threads' books", have == books, (have, books))
    running = [(num(s, "slice"), num(s, "ns")) for s in p.sums if s["kind"] == "running"]
    inside = sum(ns for n, ns in running if first <= n <= last)
    around = sum(ns for n, ns in running if first - 10 <= n < first or last < n <= last + 10)
    switches = sum(num(t, "voluntary_cnt") + num(t, "involuntary_cnt") for t in p.threads.values())
    # 1 ms: what it runs of its first and last slice before and after the phase
    check(f"the phase: {inside / 1e6:.2f} ms running, its own clock {cpu / 1e6:.2f} ms, {switches} switches, stolen {stolen / 1e6:.0f} ms",
          -0.01 * cpu <= inside - cpu <= excess_ns(cpu, stolen, switches) + 1e6)
    check(f"0.2 s before and after it: {around / 1e6:.2f} ms", around < 5e6)
    cut = [f"{(t - p.start) / 1e9:.6f}" for t in (start, end)]
    r = subprocess.run([PROGRAM, "fold", "--kinds", "running", "--since", cut[0], "--until", cut[1], OUT], capture_output=True, text=True)
    total = sum(int(l.rsplit(" ", 1)[1]) * 1000 for l in r.stdout.splitlines())
    check("--since and --until find it", abs(total - inside) <= 0.01 * inside, (total, inside, r.stderr))


def test_names():
    for args, word in ((("-G", "no/such"), "no/such"), (("-G", "999999999"), "999999999"), (("-G", "/etc"), "/etc")):
        r = subprocess.run([PROGRAM, "record", *args, "-o", OUT, "0.1"], capture_output=True, text=True)
        lines = r.stderr.splitlines()
        check(f"{' '.join(args)}: one line", r.returncode == 1 and len(lines) == 1 and word in lines[0], r)


MOUNT = v2_mount()
try:
    for name, test in (("names", test_names), ("cgroup", test_cgroup), ("moves", test_moves),
                       ("containers", test_containers), ("make", test_make), ("slices", test_slices)):
        if not sys.argv[1:] or name in sys.argv[1:]:
            test()
finally:
    for one in started:
        if one.poll() is None:
            one.kill()
            one.wait()
    Cgroup.remove_all()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(exit_status())
