#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-u and -k: all threads of processes, and all of the kernel's own, among them such as are born in the capture. Together
they are what -a sees."""
import os, subprocess, sys, tempfile
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-kinds.")
failed = 0


def check(what, ok, detail=""):
    global failed
    print("ok  " if ok else "FAIL", what, "" if ok else detail)
    failed += not ok


def is_kernel(pid):
    """PF_KTHREAD in the flags of /proc/PID/stat; None when it is gone."""
    try:
        return bool(int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[6]) & 0x00200000)
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_shown(pid):
    """Some sandboxes hide their first process even from root: its links and its task."""
    try:
        return bool(os.readlink(f"/proc/{pid}/ns/pid"))
    except OSError:
        return False


def tids(p):
    return {int(t["tid"]) for t in p.threads.values()}


target = subprocess.Popen(["sh", "-c", "while :; do /bin/true; sleep 0.02; done"])
try:
    users = {int(d) for d in os.listdir("/proc") if d.isdigit() and is_kernel(d) is False and is_shown(d)} - {os.getpid()}
    kernels = {int(d) for d in os.listdir("/proc") if d.isdigit() and is_kernel(d)}
    user = record(f"{DIR}/u.cprof", "-u", "--duration", "0.3")
    kernel = record(f"{DIR}/k.cprof", "-a", "-k", "--duration", "0.3")
    still = lambda pids: {p for p in pids if is_kernel(p) is not None}
    check(f"-u: {len(user.threads)} threads, none of the kernel's", not tids(user) & kernels, tids(user) & kernels)
    check("... every process is there", not still(users) - tids(user), still(users) - tids(user))
    check("... and the children born in it", any("born" in t.get("flags", "") for t in user.threads.values()))
    check(f"-k: {len(kernel.threads)} threads, all of the kernel's", not {t for t in tids(kernel) if is_kernel(t) is False})
    check("... every kernel thread is there", not still(kernels) - tids(kernel), still(kernels) - tids(kernel))
    for args in (["-u", "-k"], ["-u", "-p", "1"], ["-k", "-t", "1"]):
        r = subprocess.run([PROGRAM, "record", *args, "0.1"], capture_output=True, text=True)
        check(f"{' '.join(args)} is refused", r.returncode == 2 and "does not go" in r.stderr or "do not go" in r.stderr, r)
finally:
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(1 if failed else 0)
