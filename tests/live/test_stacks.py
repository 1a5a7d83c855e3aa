#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks that the kernel's walker took. Off the CPU: threads in all kinds of waits, frame by frame against gdb
(without debug files). On the CPU: a chain of calls that do not return, complete in every sample."""
import os, shutil, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
if not shutil.which("gdb"):
    print("gdb is not installed")
    sys.exit(77)
DIR = tempfile.mkdtemp(prefix="causeprof-stacks.")


def build(source, out, *flags):
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-D_GNU_SOURCE", *flags, source, "-o", out, "-lpthread"], check=True)
    return out


def user_addresses(p, stack):
    out, stack = [], int(stack or 0)
    while stack:
        s = p.tables["stack"][stack]
        f = p.tables["frame"][int(s["frame"])]
        if f.get("kind", "user") == "user" and "inlined" not in f.get("flags", "") and "addr" in f:
            out.append(int(f["addr"], 16))
        stack = int(s.get("parent", 0))
    return out


def gdb_stacks(pid):
    text = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debug-file-directory /nonexistent", "-iex", "set auto-load no",
                           "-p", str(pid), "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on",
                           "-ex", "set backtrace limit 200", "-x", "tests/tools/gdb_stacks.py"],
                          capture_output=True, text=True).stdout
    out = {}
    for line in text.splitlines():
        w = line.split()
        if len(w) > 3 and w[1] == "gdb":
            out[int(w[0])] = [int(x, 16) for x in w[3:]]
    return out


def test_waits(name, *flags, last):
    program = build("tests/workloads/unwind_waits.c", f"{DIR}/{name}", *flags)
    work = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    try:
        work.stdout.readline()
        time.sleep(0.3)
        p = record(f"{DIR}/{name}.cprof", "-p", str(work.pid), "--duration", "0.1", "--per-thread")
        work.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        theirs = gdb_stacks(work.pid)
    finally:
        work.kill()
        work.wait()
    same = early = 0
    wrong = []
    tids = {n: int(t["tid"]) for n, t in p.threads.items()}
    for s in p.sums:
        tid = tids[int(s["thread"])]
        ours, gdb = user_addresses(p, s.get("stack")), theirs.get(tid, [])
        if s["kind"] == "running" or not ours or not gdb:
            continue
        frames = [f[0] for f in p.frames(s["stack"])]
        deep = any("deeper" in f or "depth" in f for f in frames) and len(ours) == 127
        if ours == gdb or (deep and ours == gdb[:127]):
            same += 1
        elif ours == gdb[:len(ours)] and not any(f.startswith("[walk") for f in frames):
            early += 1  # the first function of a coroutine: nobody called it
        else:
            wrong.append((tid, [hex(a) for a in ours], [hex(a) for a in gdb], frames))
    good = same >= 6 and not wrong
    if good or last:
        check(f"{name}: {same} stacks equal gdb's, {early} end at a root before gdb's do", good, wrong[:1])
    return good


def test_noreturn():
    program = build("tests/workloads/noreturn.c", f"{DIR}/noreturn", "-g")
    work = subprocess.Popen([program])
    time.sleep(0.2)
    try:
        p = record(f"{DIR}/noreturn.cprof", "-p", str(work.pid), "--duration", "0.5")
    finally:
        work.kill()
        work.wait()
    want = ["never_returns", "calls_at_its_end", "calls_that_at_its_end", "main"]
    broken, kinds = [], set()
    for s in p.sums:
        if "not_sampled" in s.get("flags", ""):
            continue
        names = [f[0] for f in p.frames(s.get("stack")) if f[1].endswith("/noreturn")]
        kinds.add(s["kind"])
        if names[:4] != want:
            broken.append((s["kind"], [f[0] for f in p.frames(s.get("stack"))]))
    check("noreturn: every stack has the whole chain", not broken, broken[:2])
    check("noreturn: running and sleeping were seen", {"running", "sleep"} <= kinds, kinds)


for kind in (["pie", "-fPIE", "-pie"], ["static", "-static", "-fno-pie", "-no-pie"]):
    for last in (False, False, True):  # a thread may move on between the capture and gdb
        if test_waits(*kind, last=last):
            break
test_noreturn()
shutil.rmtree(DIR)
sys.exit(exit_status())
