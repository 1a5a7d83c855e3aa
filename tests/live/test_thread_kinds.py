#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-u and -k: all threads of processes, and all of the kernel's own, among them such as are born in the capture.
--comm: the processes of a name."""
import os, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-kinds.")
named = []


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
    # by name: two of three, and their children
    for name in ("cpname_one", "cpname_two", "cpother"):
        named.append(subprocess.Popen(["bash", "-c", f"printf {name} >/proc/$$/comm; while :; do /bin/true; sleep 0.02; done"]))
    wait_for = lambda w, n: any(time.sleep(0.05) or open(f"/proc/{w.pid}/comm").read().strip() == n for _ in range(100))
    check("names are set", all(wait_for(w, n) for w, n in zip(named, ("cpname_one", "cpname_two", "cpother"))))
    p = record(f"{DIR}/n.cprof", "-a", "--comm", "cpname_*", "--duration", "0.5")
    leaders = {int(q["pid"]) for q in p.processes.values()} & {w.pid for w in named}
    strangers = [q for q in p.processes.values() if int(q["pid"]) not in leaders and int(q["parent_pid"]) not in leaders
                 and not q["comm"] in ("sleep", "true", "cpname_one", "cpname_two")]
    check("--comm: those that match", leaders == {w.pid for w in named[:2]}, p.processes)
    check("... their children and nobody else", len(p.processes) > 2 and not strangers, strangers)
    r = subprocess.run([PROGRAM, "record", "--comm", "no-such-*", "0.1"], capture_output=True, text=True)
    check("a name that nobody has", r.returncode == 1 and "no-such-*" in r.stderr, r)
finally:
    for w in named:
        w.kill()
        w.wait()
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(exit_status())
