#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Another tracer's uretprobes on functions that lie on most stacks: their trampoline is replaced by the real return
address, so that stacks are as whole as without it."""
import os, shutil, subprocess, sys, tempfile, time
from profile import *

need_root()
if not shutil.which("bpftrace"):
    print("bpftrace is not installed")
    sys.exit(77)
DIR = tempfile.mkdtemp(prefix="causeprof-uretprobe.")
program = os.path.abspath(f"{WORKLOADS}/three_tier")
tracer = subprocess.Popen(["bpftrace", "-e", f"uretprobe:{program}:spin_us {{ @a = count(); }} uretprobe:{program}:front_answer,"
                           f"uretprobe:{program}:inventory_answer,uretprobe:{program}:store_answer,uretprobe:{program}:ask {{ @b = count(); }} "
                           "BEGIN { printf(\"ready\\n\"); }"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
work = None
try:
    for line in tracer.stdout:
        if "ready" in line:
            break
    if tracer.poll() is not None:
        print("bpftrace cannot set return probes here")
        sys.exit(77)
    work = subprocess.Popen([program, "20"], stdout=subprocess.PIPE, text=True)
    pids = work.stdout.readline().split()
    time.sleep(0.5)
    p = record(f"{DIR}/x.cprof", "-p", ",".join(pids), "--duration", "1")
    through = whole = total = 0
    broken = {}
    for s in p.sums:
        frames = [f[0] for f in p.frames(s.get("stack"))]
        if not frames or "asleep_throughout" in s.get("flags", ""):
            continue
        n = num(s, "cnt")
        total += n
        if {"spin_us", "front_answer", "inventory_answer", "store_answer", "ask"} & set(frames):
            through += n
        if not frames[-1].startswith("[walk stopped"):  # at a root, which has no name without libc's debug symbols
            whole += n
        else:
            broken[frames[-1]] = broken.get(frames[-1], 0) + n
    probed = sum("[uprobes]" in open(f"/proc/{pid}/maps").read() for pid in pids)
    check("the probes are set: their code page is mapped", probed == len(pids), f"in {probed} of {len(pids)} processes")
    print(f"{total} stacks, {through} through functions with return probes, {whole} whole; ends of the others: {broken}")
    # what is left are moments inside of the probes' own code page
    check("stacks are whole", through > 100 and whole >= 0.995 * total)
    names = {f[0] for s in p.sums for f in p.frames(s.get("stack"))}
    check("no frame is the trampoline", "[uprobes]" not in names)
    check("the work goes on", work.poll() is None)
finally:
    for each in (work, tracer):
        if each and each.poll() is None:
            each.terminate()
            each.wait()
    shutil.rmtree(DIR)
sys.exit(exit_status())
