#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program in a stacked filesystem, as in a container: it runs twice, and the second time it is gone before the recorder,
which is stopped meanwhile, sees it. The kernel's mappings have the numbers of the file below, /proc those of the overlay:
both runs have the same whole stacks all the same."""
import os, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
RUN = """
mount -t tmpfs none "$1" && mkdir "$1/lower" "$1/upper" "$1/work" "$1/merged" && cp "$2" "$1/lower/short_wait" || exit 77
mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/merged" || exit 77
"$1/merged/short_wait" 30
touch "$3"
sleep 0.3
"$1/merged/short_wait" 30
sleep 0.5
"""


def capture(folder):
    """The recorder's status."""
    mark = f"{folder}/mark"
    os.mkdir(f"{folder}/fs")
    recorder = subprocess.Popen([PROGRAM, "record", "-o", f"{folder}/p.cprof", "--no-svg", "-q", "--force", "--", "unshare", "-m", "sh", "-c",
                                 RUN, "sh", f"{folder}/fs", f"{WORKLOADS}/short_wait", mark])
    end = time.monotonic() + 30
    while not os.path.exists(mark) and recorder.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    if recorder.poll() is None:
        recorder.send_signal(signal.SIGSTOP)
        time.sleep(1)
        recorder.send_signal(signal.SIGCONT)
    return recorder.wait()


with tempfile.TemporaryDirectory(prefix="causeprof-overlay.") as folder:
    code = capture(folder)
    if code == 77:
        print("no overlay can be mounted here")
        sys.exit(77)
    check("the recorder ends well", code == 0, code)
    p = Profile(f"{folder}/p.cprof")
    stacks = [([n for n, _, kind in p.frames(s.get("stack")) if kind == "user"], num(s, "ns")) for s in p.sums
              if s["kind"] == "sleep" and p.processes[int(s["process"])]["comm"] == "short_wait"]
    whole = sum(ns for names, ns in stacks if {"waits", "main", "_start"} <= set(names))
    total = sum(ns for _, ns in stacks)
    check(f"{whole / 1e6:.0f} of {total / 1e6:.0f} ms in waits() below main", total > 0.5e9 and whole >= 0.99 * total,
          [n[:3] for n, _ in stacks])
sys.exit(exit_status())
