#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel stacks that are remembered: under --verify each of them is unwound all the same, and a difference fails the
capture. The load blocks at many places: pipes, files, sleeps, children, kernel threads."""
import os, subprocess, sys, tempfile
from profile import *

need_root()
SHELL = """
end=$((SECONDS + 4))
while [ $SECONDS -lt $end ]; do
	find /usr/include /etc -type f 2>/dev/null | head -2000 | xargs cat 2>/dev/null | gzip -1 > /dev/null
	sleep 0.01 & dd if=/dev/zero of=$1 bs=64k count=16 conv=fsync 2> /dev/null; wait
done
"""
with tempfile.TemporaryDirectory() as d:
    pingpong = subprocess.Popen([os.environ.get("O", "build") + "/tests/workloads/pipe_pingpong", "0", f"{d}/counter"])
    shell = subprocess.Popen(["bash", "-c", SHELL, "load", f"{d}/file"])
    try:
        r = subprocess.run([PROGRAM, "record", "-a", "--duration", "2", "--verify", "-q", "--force", "--no-svg",
                            "-o", f"{d}/p.cprof"], capture_output=True, text=True)
        print("ok  " if r.returncode == 0 else "FAIL", "the remembered stacks are what the kernel unwinds", r.stderr)
        ok = r.returncode == 0
        if ok:
            p = Profile(f"{d}/p.cprof")
            recalled, switches = num(p.header, "recalled_cnt"), num(p.header, "target_switch_cnt")
            ok = recalled > switches / 10
            print("ok  " if ok else "FAIL", f"stacks were remembered: {recalled} of {switches}")
    finally:
        pingpong.kill()
        pingpong.wait()
        shell.wait()
sys.exit(0 if ok else 1)
