#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real database: MariaDB under sysbench. All threads, nothing lost, stacks to the root, names or reasons, memory
bounded, the server unharmed. Times are printed, not judged. usage: test_mariadb.py [SECONDS]"""
import os, shutil, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
os.environ["PATH"] += ":/usr/sbin"
for tool in ("mariadbd", "sysbench"):
    if not shutil.which(tool):
        print(f"{tool} is not installed")
        sys.exit(77)
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3
DIR = tempfile.mkdtemp(prefix="causeprof-mariadb.")
DB = os.path.join(DIR, "db")


def scripts_mariadb(*args, **kw):
    return subprocess.run(["scripts/mariadb", *args], check=True, **kw)


def share_to_root(p):
    """Of user stacks that were walked: time and count that end at an undefined return address."""
    reached = total = 0
    stops = {}
    for s in p.sums:
        frames = p.frames(s.get("stack"))
        if not frames or "asleep_throughout" in s.get("flags", ""):
            continue
        root = frames[-1]
        if root[0] == "[io_uring worker]":
            continue
        n = num(s, "cnt")
        total += n
        if root[2] == "mark":
            stops[root[0]] = stops.get(root[0], 0) + n
        else:
            reached += n
    return reached / max(total, 1), total, stops


try:
    pid = int(scripts_mariadb("start", DB, capture_output=True, text=True).stdout)
    load = subprocess.Popen(["scripts/mariadb", "load", DB, str(int(SECONDS * 2 + 25))], stdout=subprocess.DEVNULL)
    time.sleep(1.5)
    before = set(os.listdir(f"/proc/{pid}/task"))
    started = time.monotonic()
    p = record(os.path.join(DIR, "m.cprof"), "-p", str(pid), "--duration", str(SECONDS))
    spent = time.monotonic() - started
    after = set(os.listdir(f"/proc/{pid}/task"))
    seen = {t["tid"] for t in p.threads.values()}
    # threads of the pool and io workers come and go by themselves; those that stayed must be there
    check("all threads that stayed are there", before & after <= seen, (before & after) - seen)
    unbalanced = [t["tid"] for t in p.threads.values()
                  if num(t, "running_ns") + num(t, "runnable_ns") + num(t, "blocked_ns") != num(t, "last_ns") - num(t, "first_ns")]
    check("the books balance in every thread", not unbalanced, unbalanced)
    lost = {k: v for k, v in p.loss.items() if k not in ("wake-up not seen", "switch unseen")}
    check("nothing lost", not lost, lost)
    share, total, stops = share_to_root(p)
    check(f"stacks reach the root: {share:.4%} of {total}", share >= 0.999, stops)
    kernel = [f for s in p.sums for f in p.frames(s.get("stack")) if f[2] == "kernel" and f[0].startswith("[")]
    check("every kernel frame has a name", not kernel, kernel[:3])
    memory = num(p.header, "peak_rss_bytes") + num(p.header, "map_bytes")
    check(f"memory: {memory / 2**20:.1f} MiB", memory <= 200 << 20)
    check("the server answers", subprocess.run(["scripts/mariadb", "ping", DB]).returncode == 0)
    print(f"     {len(seen)} threads, {num(p.header, 'target_switch_cnt') / SECONDS:.0f} switches/s, "
          f"{num(p.header, 'attach_ns') / 1e6:.0f} ms to the open window, "
          f"{(spent - SECONDS) * 1e3 - num(p.header, 'attach_ns') / 1e6:.0f} ms from its end to closed files")

    # both sinks of one capture
    r = subprocess.run([PROGRAM, "record", "-p", str(pid), "--duration", "0.5", "--verify", "-q", "--force", "--no-svg",
                        "-o", os.path.join(DIR, "v.cprof")], capture_output=True, text=True)
    check("sums and intervals are equal to the nanosecond", r.returncode == 0, r.stderr)

    # a reader that stops for a second loses time, and says how much; on a busy machine the window opens later
    for lead_s in (3, 8):
        c = subprocess.Popen([PROGRAM, "record", "-p", str(pid), "--duration", str(lead_s + 3), "--intervals", "--ring-size", "64K",
                              "--strict", "-q", "--force", "--replace", "--no-svg", "-o", os.path.join(DIR, "lossy.cprof")],
                             stderr=subprocess.DEVNULL)
        time.sleep(lead_s)
        c.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        c.send_signal(signal.SIGCONT)
        code = c.wait(60)
        lossy = Profile(os.path.join(DIR, "lossy.cprof"))
        ns = sum(num(v, "ns") for v in lossy.loss.values() if v.get("ns", "").isdigit())
        if ns:
            break
    check(f"a stopped reader: status 3 with --strict, {ns} ns lost", code == 3 and ns > 0, (code, lossy.loss))
    load.terminate()
    load.wait()
finally:
    subprocess.run(["scripts/mariadb", "stop", DB], stderr=subprocess.DEVNULL)
    shutil.rmtree(DIR, ignore_errors=True)
sys.exit(exit_status())
