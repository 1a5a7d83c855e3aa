#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Python frames: what a capture says that the threads of a Python program were doing, against what the interpreter
itself says; where the frames stand between the native ones; interpreters of several versions, as far as they are
installed (CAUSEPROF_PYTHONS: more of them, separated by colons)."""
import collections, glob, os, shutil, subprocess, sys, tempfile, time
from profile import *

WORK = "tests/workloads/python_waits.py"
EVAL = "_PyEval_EvalFrameDefault"
FRAMES_MAX = 128


def pythons():
    """One interpreter for each version that there is, this machine's own first."""
    found = {}
    names = ["/usr/bin/python3", *os.environ.get("CAUSEPROF_PYTHONS", "").split(":"),
             *glob.glob("/usr/bin/python3.1[0-9]"), *glob.glob("/usr/local/bin/python3.1[0-9]")]
    for name in names:
        if not name or not os.access(name, os.X_OK):
            continue
        code = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"
        out = subprocess.run([name, "-c", code], capture_output=True, text=True).stdout.split()
        if out and out[1] == "cpython" and out[0] in ("3.11", "3.12", "3.13"):
            found.setdefault(out[0], name)
    return found


def full_stack(p, stack):
    """Frames, leaf first, as (kind, label): of Python functions "name@file:line"."""
    out, stack = [], int(stack or 0)
    while stack:
        s = p.tables["stack"][stack]
        f = p.tables["frame"][int(s["frame"])]
        kind, name = f.get("kind", "user"), f.get("name", f.get("reason", "?"))
        if kind == "interpreted" and "name" in f:
            name = f"{name}@{os.path.basename(f['file'])}:{f.get('line', 0)}".replace(" ", "_")
        out.append((kind, name, f.get("module", "")))
        stack = int(s.get("parent", 0))
    return out


def python_part(frames):
    return tuple(n for k, n, _ in frames if k == "interpreted")


def without_lines(names):
    return tuple(n.rsplit(":", 1)[0] for n in names)


def start(python, *names):
    work = subprocess.Popen([python, "-W", "ignore", WORK, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    truth, name_of = collections.defaultdict(set), {}
    for line in work.stdout:
        if line == "end\n":
            break
        words = line.split()
        if words[0] == "stack":
            truth[int(words[2])].add(tuple(words[3:]))
            name_of[int(words[2])] = words[1]
    return work, truth, name_of


def stop(work):
    work.stdin.close()
    work.kill()
    work.wait()
    work.stdout.close()


def misplaced(frames):
    """A Python function is run by the interpreter's loop, or called by another Python function."""
    for i, (kind, name, _) in enumerate(frames):
        below = frames[i + 1] if i + 1 < len(frames) else ("", "", "")
        if kind == "interpreted" and below[0] not in ("interpreted", "mark") and not below[1].startswith(EVAL):
            return f"{name} above {below[1]}"
        if kind == "user" and name.startswith(EVAL) and (not i or frames[i - 1][0] != "interpreted"):
            return f"an evaluation of nothing, {frames[i - 1] if i else 'the leaf'}"
    return None


def between(frames, inner, outer):
    """What stands between two Python functions, leaf first; None if one is missing."""
    at = [i for i, f in enumerate(frames) if f[0] == "interpreted" and f[1].startswith(inner + "@")]
    to = [i for i, f in enumerate(frames) if f[0] == "interpreted" and f[1].startswith(outer + "@")]
    return frames[at[-1] + 1:to[-1]] if at and to else None


def agrees(ours, truth):
    """A stack of the interpreter's own, or one that stands in an outer function of it, at another line."""
    for t in truth:
        t = t[:FRAMES_MAX]
        if ours == t or (0 < len(ours) < len(t) and ours[1:] == t[len(t) - len(ours) + 1:] and
                         without_lines(ours[:1]) == without_lines(t[len(t) - len(ours):][:1])):
            return True
    return False


def check_thread(version, name, stacks, truth):
    """stacks: (frames, ns) of one thread's waits."""
    right_ns = total_ns = 0
    strange, places = [], []
    for frames, ns in stacks:
        ours = python_part(frames)
        total_ns += ns
        if agrees(ours, truth):
            right_ns += ns
        else:
            strange.append(ours[:4])
        wrong = misplaced(frames)
        if wrong:
            places.append(wrong)
        if len(ours) == FRAMES_MAX:
            places = []  # evaluations further out have lost their functions
    share = right_ns / total_ns if total_ns else 0
    check(f"{version} {name}: {100 * share:.1f} % of its waiting time in the interpreter's own stacks",
          share >= 0.99, (strange[:3], sorted(truth)[:2], [python_part(s[0]) for s in stacks[:3]]))
    check(f"{version} {name}: Python frames stand on the evaluations that run them", not places, places[:3])


def check_order(version, by_name):
    deepest = {n: max(s, key=lambda x: len(x[0]))[0] for n, s in by_name.items() if s}
    part = between(deepest.get("chain_a", []), "chain_c", "chain_a")
    check(f"{version} nothing native between functions that call each other in Python",
          part is not None and [f[0] for f in part] == ["interpreted"], part)
    part = between(deepest.get("c_callback_user", []), "c_compare", "c_callback_user") or []
    modules = [os.path.basename(f[2]) for f in part]
    check(f"{version} libffi and libc's qsort between a C callback and its caller",
          any(m.startswith("libffi") or "_ctypes" in m for m in modules) and
          any("qsort" in f[1] or "msort" in f[1] for f in part), part)
    part = between(deepest.get("sort_user", []), "sort_key", "sort_user") or []
    check(f"{version} native frames between sorted() and its key",
          len(part) >= 2 and all(f[0] == "user" for f in part) and part[0][1].startswith(EVAL), part)


def test_threads(version, python, folder, *args):
    work, truth, name_of = start(python)
    try:
        p = record(f"{folder}/p.cprof", "-p", str(work.pid), "--duration", "1", "--per-thread", *args)
    finally:
        stop(work)
    tid_of = {n: int(t["tid"]) for n, t in p.threads.items()}
    stacks, running, births, children = collections.defaultdict(list), [], [], []
    for s in p.sums:
        tid, frames = tid_of.get(int(s.get("thread", 0)), 0), full_stack(p, s.get("stack"))
        if s["kind"] == "running":
            if name_of.get(tid) == "spin_outer" and frames:
                running.append((frames, num(s, "ns")))
        elif s["kind"] == "sleep" and frames:
            stacks[tid].append((frames, num(s, "ns")))
            ours = python_part(frames)
            births += [ours] if ours and ours[0].startswith("newborn@") else []
            children += [ours] if ours and ours[0].startswith("child_wait@") else []
    by_name = {name_of[t]: s for t, s in stacks.items() if t in name_of}
    for name in sorted(set(name_of.values()) - {"spin_outer", "births", "parent"}):
        tid = next(t for t, n in name_of.items() if n == name)
        check_thread(version, name, stacks[tid], truth[tid])
    check_order(version, by_name)
    # A fork makes the thread copy its stack's pages, and while the kernel does that nothing can read them: such
    # a sample says so, and has no more frames.
    copied = [f for f, _ in running if ("mark", "[walk stopped: stack not resident]", "") in f and not python_part(f)]
    mine = [python_part(f) for f, _ in running if f not in copied]
    good = [m for m in mine if m and m[0].startswith("spin_inner@") and m[1].startswith("spin_outer@")]
    bad = [m for m in mine if not m or not m[0].startswith(("spin_inner@", "spin_outer@"))]
    check(f"{version} running: {len(good)} of {len(mine)} stacks in spin_inner below spin_outer, others in spin_outer",
          len(good) > 3 and len(bad) <= 1 and len(copied) <= 0.05 * len(running),
          [f for f, _ in running if python_part(f) in bad][:3] + copied[:3])
    check(f"{version} threads born in the window: {len(births)} stacks", len(births) >= 1 and
          all(len(b) == 4 and b[-1].startswith("Thread._bootstrap@") for b in births), births[:2])
    check(f"{version} children forked in the window: {len(children)} stacks", len(children) >= 1 and
          all(c[1].startswith("parent@") for c in children), children[:2])
    marks = [f[1] for s in by_name.get("recursion_300", []) for f in s[0] if f[0] == "mark"]
    check(f"{version} a recursion beyond {FRAMES_MAX} says that it was cut", any("Python" in m for m in marks), marks[:3])


def test_exit(version, python, folder):
    """A process that ends in the window: names are right, or there is a reason."""
    program = f"{folder}/short.py"
    with open(program, "w") as f:
        f.write("import time\ndef inner():\n    time.sleep(0.05)\n\ndef outer():\n    inner()\n\n"
                "for i in range(10):\n    outer()\n")
    p = record(f"{folder}/e.cprof", "--duration", "5", "--", python, "-S", "-E", program)
    named = other = 0
    for s in p.sums:
        for kind, name, _ in full_stack(p, s.get("stack")):
            if kind != "interpreted" or not ("@short.py" in name or "@" not in name):
                continue
            if name in ("inner@short.py:3", "outer@short.py:6", "<module>@short.py:9"):
                named += s["kind"] == "sleep"
            elif "@" in name:
                other += name.split(":")[0] not in ("inner@short.py", "outer@short.py", "<module>@short.py")
    check(f"{version} a process that ends in the window: {named} frames named, {other} wrong", named >= 3 and not other)


def test_lies(folder):
    """A program that pretends to be an interpreter, with rings and pointers to nowhere: no name, and a mark why."""
    program = f"{folder}/python3"
    subprocess.run(["gcc", "-O1", "-rdynamic", "-D_GNU_SOURCE", "tests/workloads/false_python.c", "-o", program, "-lpthread"], check=True)
    for lie, mark in ("threads", "thread not known"), ("frames", "more than 128"), ("nowhere", "memory not readable"):
        work = subprocess.Popen([program, lie])
        try:
            time.sleep(0.2)
            p = record(f"{folder}/l.cprof", "-p", str(work.pid), "--duration", "0.3")
        finally:
            work.kill()
            work.wait()
        all_frames = [f for s in p.sums if s["kind"] == "sleep" for f in full_stack(p, s.get("stack"))]
        named = [f for f in all_frames if f[0] == "interpreted" and "@" in f[1]]
        check(f"an interpreter that lies about {lie}: it says so, and gives no names",
              any(f[0] == "mark" and mark in f[1] for f in all_frames) and not named, (named[:3], all_frames[:6]))


def main():
    need_root()
    found = pythons()
    if not found:
        print("no CPython 3.11 to 3.13 is installed")
        return 77
    folder = tempfile.mkdtemp(prefix="causeprof-python.")
    try:
        for version, python in sorted(found.items()):
            test_threads(version, python, folder)
            test_exit(version, python, folder)
        if shutil.which("gcc"):
            test_lies(folder)
    finally:
        shutil.rmtree(folder)
    return exit_status()


if __name__ == "__main__":
    sys.exit(main())
