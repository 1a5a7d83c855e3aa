#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGINT, SIGTERM and SIGKILL at random instants of a capture: no link, program, map, mount or file is left, and
after SIGINT and SIGTERM what was captured is whole or absent. usage: test_kill.py [ROUNDS]"""
import os, random, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
SEED = int(os.environ.get("SEED", "1"))
random.seed(SEED)
DIR = tempfile.mkdtemp(prefix="causeprof-kill.")


target = subprocess.Popen(["sleep", "600"])
leftovers = Leftovers()
try:
    for i in range(ROUNDS):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3]
        out = os.path.join(DIR, "x.cprof")
        p = subprocess.Popen([PROGRAM, "-p", str(target.pid), "--duration", "1", "-o", out, "-q", "--force", "--intervals"],
                             stderr=subprocess.DEVNULL)
        time.sleep(random.random() * 2.5)
        p.send_signal(how)
        code = p.wait(60)
        where = f"round {i} (seed {SEED}) {how.name}"
        if os.path.exists(out):
            try:
                Profile(out)
            except Exception as e:
                check(f"{where}: the file can be read", False, e)
        elif code == 0:
            check(f"{where}: a file with status 0", False)
        for f in os.listdir(DIR):
            if f not in ("x.cprof", "x.svg"):
                check(f"{where}: nothing is left", False, f)
            os.unlink(os.path.join(DIR, f))
    leftovers.check()
    check("the target lives", target.poll() is None)
finally:
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
print(f"{ROUNDS} rounds, seed {SEED}")
sys.exit(exit_status())
