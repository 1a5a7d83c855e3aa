#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""causeprof record -- COMMAND: exit statuses, what is kept on Ctrl-C, and a forking command whose running time must be
what the kernel's rusage says of it."""
import os, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-command.")
PROGRAM = os.path.abspath(PROGRAM)
OUT = os.path.join(DIR, "x.cprof")
# The stack of the work has a name for each level; the shell runs the program as its child.
WORK = """
#include <stdint.h>
volatile uint64_t sink;
__attribute__((noinline, noclone)) void deep_work(uint64_t n) { uint64_t x = 1; while (n--) x = x * 6364136223846793005u + 1; sink = x; }
__attribute__((noinline, noclone)) void outer_work(uint64_t n) { deep_work(n); sink++; }
int main(void) { outer_work(150000000); return 0; }
"""
# Runs a command as the only child and says what the kernel counted for it and its children.
WAITER = """
import os, sys
pid = os.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
open(sys.argv[1], "w").write(f"{os.getpid()} {usage.ru_utime + usage.ru_stime:.6f}")
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(*args, **kw):
    return subprocess.run([PROGRAM, "record", "-q", "--no-svg", "-o", OUT, "--replace", *args], capture_output=True,
                          text=True, cwd=DIR, **kw)


def test_statuses():
    for text, status in (("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + 15), ("kill -KILL $$", 128 + 9)):
        r = run("--", "sh", "-c", text)
        check(f"{text!r} ends with {status}", r.returncode == status and not r.stderr and os.path.exists(OUT), r)
        os.unlink(OUT)
    for name, words in (("no-such-command", "No such file"), ("/etc/passwd", "Permission denied")):
        r = run("--", name)
        lines = r.stderr.splitlines()
        check(f"{name} cannot be executed", r.returncode == 127 and len(lines) == 1 and name in lines[0] and words in lines[0], r)
        check("... and nothing is written", not os.listdir(DIR), os.listdir(DIR))
    r = run("-p", "1", "--", "true")
    check("not with -p", r.returncode == 2 and "-p" in r.stderr, r)
    r = run("--")
    check("no command behind --", r.returncode == 2, r)
    r = run("-o", "no/x.cprof", "--", "touch", "ran")
    check("an error before the capture: the command does not run", r.returncode == 1 and not os.listdir(DIR), r)
    r = run("--", "sh", "-c", "trap '' TERM; printf x; test \"$(cat)\" = hello", input="hello")
    check("input and output are the command's", r.returncode == 0 and r.stdout == "x", r)


def test_ends():
    started = time.time()
    r = run("--duration", "0.3", "--", "sh", "-c", "sleep 1.5; exit 5")
    p = Profile(OUT)
    check("the duration ends the capture, not the command",
          r.returncode == 5 and time.time() - started > 1.5 and p.end - p.start == 300000000, r)
    # a Ctrl-C of ours alone is passed on
    ready = os.path.join(DIR, "ready")
    c = subprocess.Popen([PROGRAM, "-q", "--no-svg", "-o", OUT, "--replace", "--", "sh", "-c", f"touch {ready}; exec sleep 60"])
    while not os.path.exists(ready):
        time.sleep(0.05)
    time.sleep(0.3)
    c.send_signal(signal.SIGINT)
    code = c.wait(30)
    p = Profile(OUT)
    slept = sum(int(s["ns"]) for s in p.sums if s["kind"] == "sleep")
    check("Ctrl-C ends both and keeps what was captured",
          code == 128 + signal.SIGINT and slept > 2e8 and "interrupted" in p.header.get("flags", ""), (code, slept, p.header))


def test_children():
    source, program, note, waiter = (os.path.join(DIR, n) for n in ("work.c", "work", "note", "waiter.py"))
    open(source, "w").write(WORK)
    open(waiter, "w").write(WAITER)
    subprocess.run(["gcc", "-O2", "-g", source, "-o", program], check=True)
    # a window that lasts as long as the command, which the waiter's own end closes
    stolen = stolen_ns()
    r = run("--per-thread", "--", sys.executable, waiter, note, "sh", "-c", f"for i in 1 2 3; do {program}; done; exit 3")
    stolen = stolen_ns() - stolen
    p = Profile(OUT)
    pid, truth = open(note).read().split()
    truth_ns = float(truth) * 1e9
    tgid = {n: p.processes[int(t["process"])]["pid"] for n, t in p.threads.items()}
    check("status of a forking command", r.returncode == 3, r)
    tids = {t["tid"] for n, t in p.threads.items() if tgid[n] != pid}
    ok, said = compare_running("its children's", p, tids, truth_ns, stolen)
    check(said, ok)
    workers = [t for t in p.threads.values() if t["comm"] == "work"]
    check("three children with the command's name, born and died inside",
          len(workers) == 3 and all("born" in t["flags"] and "died" in t["flags"] for t in workers), p.threads)
    named = whole = 0
    others = []
    for s in p.sums:
        if s["kind"] != "running" or p.threads[int(s["thread"])]["comm"] != "work":
            continue
        names = [f[0] for f in p.frames(s.get("stack"))]
        whole += int(s["ns"])
        if "deep_work" in names and names[names.index("deep_work"):][:3] == ["deep_work", "outer_work", "main"]:
            named += int(s["ns"])
        else:
            others.append((s["ns"], names))
    check(f"{100 * named / max(whole, 1):.1f} % of their running time lies under deep_work, outer_work, main", named > 0.9 * whole, others)


try:
    test_statuses()
    test_ends()
    test_children()
finally:
    subprocess.run(["rm", "-rf", DIR])
sys.exit(exit_status())
