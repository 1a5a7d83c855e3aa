#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Equal addresses that mean other code: a process that execs itself between two binaries without address
randomisation, and one that swaps two libraries at one address. No stack may have a name of the other."""
import os, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-reuse.")
CFLAGS = ["-O2", "-g", "-fomit-frame-pointer", "-D_GNU_SOURCE"]


def cc(source, out, *flags):
    subprocess.run(["gcc", *CFLAGS, *flags, source, "-o", out, "-ldl"], check=True)
    return out


def names(p, kinds):
    """[(process generation's comm and exe, set of names of the stack, ns)]"""
    out = []
    for s in p.sums:
        if kinds and s["kind"] not in kinds:
            continue
        out.append((p.processes[int(s["process"])], {f[0] for f in p.frames(s.get("stack"))}, int(s["ns"])))
    return out


def test_exec(*flags):
    """On a busy machine rows are late and few stacks whole: the window is longer then. Names are never wrong. Static
    programs have as much text as each other and map none: nothing but the exec tells that it is other code."""
    one = cc("tests/workloads/exec_pair.c", f"{DIR}/one", "-DFIRST", *flags)
    two = cc("tests/workloads/exec_pair.c", f"{DIR}/two", "-DSECOND", *flags)
    for duration in (1.5, 4, 8):
        named = exec_named(one, two, duration)
        if min(named) > 2e8:
            break
    check(f"exec {' '.join(flags)}: both programs' waits are named", min(named) > 2e8, named)


def exec_named(one, two, duration):
    """Looks for wrong names; returns how much time of each program has its name."""
    work = subprocess.Popen(["setarch", "-R", one, two, "20000"])
    time.sleep(0.3)
    p = record(f"{DIR}/exec.cprof", "-p", str(work.pid), "--duration", str(duration))
    alive = work.poll() is None
    work.kill()
    work.wait()
    mixed = [n for _, n, _ in names(p, None) if any(x.startswith("first_") for x in n) and any(x.startswith("second_") for x in n)]
    # the process's name was taken in the kernel, at the exec
    wrong = [(pr["comm"], pr.get("exe"), n) for pr, n, _ in names(p, None) for own, other in (("one", "second_"), ("two", "first_"))
             if pr["comm"] == own and any(x.startswith(other) for x in n)]
    first = sum(ns for _, n, ns in names(p, BLOCKED) if "first_waits" in n)
    second = sum(ns for _, n, ns in names(p, BLOCKED) if "second_waits" in n)
    check("exec: the target lives", alive)
    check("exec: no stack of both programs", not mixed, mixed[:1])
    check("exec: no name of the other program", not wrong, wrong[:1])
    return first, second


def test_dlopen():
    libs = [cc("tests/workloads/lib/pair.c", f"{DIR}/lib{n}.so", "-shared", "-fPIC", f"-DWAITS={n}_waits", f"-DBURNS={n}_burns")
            for n in ("left", "right")]
    for duration in (1.5, 4, 8):
        time_of = dlopen_times(libs, duration)
        if time_of["left"] + time_of["right"] > 2e8:
            break
    # each library sleeps as long as the other: if names were swapped or stuck to one, they would differ
    ratio = time_of["left"] / max(time_of["right"], 1)
    check("dlopen: both libraries have their time", 0.5 < ratio < 2, time_of)
    named = (time_of["left"] + time_of["right"]) / max(time_of["all"], 1)
    check("dlopen: most waits have their whole stack", named > 0.5, f"{named:.1%}")


def dlopen_times(libs, duration):
    """Looks for wrong names; returns how much blocked time of each library has its name, and all of it."""
    work = subprocess.Popen([f"{WORKLOADS}/dlopen_pair", *libs], stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    p = record(f"{DIR}/dlopen.cprof", "-p", str(work.pid), "--duration", str(duration))
    work.terminate()
    said = work.communicate()[0].split()
    check("dlopen: the target ended well", work.returncode == 0, work.returncode)
    check("dlopen: the libraries shared their address", int(said[0]) > 0.9 * int(said[2]), said)
    mixed, wrong = [], []
    time_of = {"left": 0, "right": 0, "all": sum(int(s["ns"]) for s in p.sums if s["kind"] in BLOCKED)}
    for s in p.sums:
        frames = p.frames(s.get("stack"))
        sides = {f[0].split("_")[0] for f in frames if f[0] in ("left_waits", "left_burns", "right_waits", "right_burns")}
        modules = {f[1].rsplit("/", 1)[-1] for f in frames if "/lib" in f[1] and (f[1].endswith("left.so") or f[1].endswith("right.so"))}
        if len(sides) > 1 or len(modules) > 1:
            mixed.append(frames)
        if s["kind"] in BLOCKED and len(sides) == 1:
            time_of[sides.pop()] += int(s["ns"])
    check("dlopen: no stack of both libraries", not mixed, mixed[:1])
    return time_of


test_exec()
test_exec("-static")
test_dlopen()
subprocess.run(["rm", "-rf", DIR])
sys.exit(exit_status())
