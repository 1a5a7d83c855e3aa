#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGINT, SIGTERM and SIGKILL at random instants of a capture: no link, program, map, mount or file is left, and
after SIGINT and SIGTERM what was captured is whole or absent. usage: test_kill.py [ROUNDS]"""
import os, random, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
os.environ["PATH"] += ":/usr/sbin"
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
SEED = int(os.environ.get("SEED", "1"))
random.seed(SEED)
DIR = tempfile.mkdtemp(prefix="causeprof-kill.")


def ours(kind):
    text = subprocess.run(["bpftool", kind, "show"], capture_output=True, text=True).stdout
    return [l for l in text.splitlines() if "cp_" in l or "causepro" in l]


def traces():
    """Links have no names: count them. Others may come and go, so only growth that stays is ours."""
    links = subprocess.run(["bpftool", "link", "show"], capture_output=True, text=True).stdout
    return sum(1 for l in links.splitlines() if l and l[0].isdigit())


def state():
    return ours("prog"), ours("map"), open("/proc/mounts").read().splitlines(), sorted(os.listdir(DIR))


target = subprocess.Popen(["sleep", "600"])
failed = 0
before, links_before = state(), traces()
try:
    for i in range(ROUNDS):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3]
        out = os.path.join(DIR, "x.cprof")
        p = subprocess.Popen([PROGRAM, "-p", str(target.pid), "--duration", "1", "-o", out, "-q", "--force", "--intervals"],
                             stderr=subprocess.DEVNULL)
        time.sleep(random.random() * 2.5)
        p.send_signal(how)
        code = p.wait(60)
        if os.path.exists(out):
            try:
                Profile(out)
            except Exception as e:
                print(f"FAIL round {i} (seed {SEED}) {how.name}: a file that cannot be read: {e}")
                failed += 1
        elif code == 0:
            print(f"FAIL round {i} {how.name}: status 0 and no file")
            failed += 1
        for f in os.listdir(DIR):
            if f not in ("x.cprof", "x.svg"):
                print(f"FAIL round {i} {how.name}: left {f}")
                failed += 1
            os.unlink(os.path.join(DIR, f))
    for _ in range(50):  # the kernel frees programs and maps a little later
        after = state()
        if not any(set(b) - set(a) for a, b in zip(before, after)) and traces() <= links_before:
            break
        time.sleep(0.2)
    for name, a, b in zip(("programs", "maps", "mounts", "files"), before, after):
        if set(b) - set(a):  # what was there before may have ended
            print(f"FAIL {name}: {set(b) - set(a)}")
            failed += 1
    if traces() > links_before:
        print("FAIL links are left")
        failed += 1
    if target.poll() is not None:
        print("FAIL the target died")
        failed += 1
finally:
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
print(f"{ROUNDS} rounds, seed {SEED}: {'ok' if not failed else 'FAILED'}")
sys.exit(1 if failed else 0)
