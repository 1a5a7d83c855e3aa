#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel programs learn too late where the window begins or ends: whoever tells them loses its CPU just before, here to gdb.
What happens meanwhile is booked without the border; every thread's books must be whole all the same."""
import os, shutil, signal, subprocess, sys, tempfile, time
sys.dont_write_bytecode = True
import test_truth
from profile import *

LATE_S = 0.05
HELD = "Temporary breakpoint 2,"
BORDERS = [("begins", "w->start_ns != ~0UL", ["--duration", "0.3"]), ("ends", "w->end_ns != ~0UL", [])]


def children(pid):
    return [int(x) for x in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def capture(path, target, condition, options):
    """What gdb said of a capture that it holds up where the condition is met first; without a duration it is interrupted."""
    commands = ["handle SIGINT nostop noprint pass", "tbreak session__run", f"tbreak kernel__set_window if {condition}", "run", "continue",
                f"shell sleep {LATE_S}", "continue"]
    gdb = subprocess.Popen(["gdb", "-q", "-nx", "-batch", *(x for c in commands for x in ("-ex", c)), "--args", PROGRAM, "record", "-o", path,
                            "-p", str(target), "--per-thread", "--no-svg", "-q", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in gdb.stdout:
        said += line
        if not options and "Temporary breakpoint 1," in line:
            time.sleep(0.3)
            for pid in children(gdb.pid):
                os.kill(pid, signal.SIGINT)
    gdb.wait()
    return said


def main():
    need_root()
    if not shutil.which("gdb"):
        print("gdb is not installed")
        sys.exit(77)
    folder, failed = tempfile.mkdtemp(prefix="causeprof-window."), 0
    for name, condition, options in BORDERS:
        path, problems = os.path.join(folder, name), []
        work = subprocess.Popen([f"{WORKLOADS}/truth", "ladder", os.path.join(folder, "stamps")])
        time.sleep(0.3)
        said = capture(path, work.pid, condition, options)
        work.terminate()
        work.wait()
        if HELD not in said or not os.path.exists(path):
            problems.append("gdb did not hold it up: " + said)
        else:
            p = Profile(path)
            for number, t in p.threads.items():
                t["number"] = str(number)
                test_truth.check_books(p, t, problems)
            if len(p.threads) < 4:
                problems.append(f"only {len(p.threads)} threads")
        print("FAIL" if problems else "ok  ", f"told {LATE_S} s late that the window {name}", *problems[:5], sep="\n       " if problems else " ")
        failed += bool(problems)
    shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
