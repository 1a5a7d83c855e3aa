#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a switch costs under each tool: two processes ping-pong on CPU 0, the tool's user side runs on the other
CPU. Counted in CPU time of the two. Rounds are interleaved; figures are ns added to a switch over the median without a tool, and ratios to
libbpf-tools' offcputime in the same round. usage: bench_switch.py [ROUNDS]"""
import json, mmap, os, shutil, statistics, struct, subprocess, sys, tempfile, time

os.environ["PATH"] += ":/usr/sbin"
O = os.environ.get("O", "build")
PROGRAM = f"{O}/causeprof"
STATS = "/proc/sys/kernel/bpf_stats_enabled"
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
DIR = tempfile.mkdtemp(prefix="causeprof-bench.")
counter_path = os.path.join(DIR, "counter")
work = subprocess.Popen([f"{O}/tests/workloads/pipe_pingpong", "0", counter_path])
idle = subprocess.Popen(["sleep", "3600"])
time.sleep(0.5)
child = open(f"/proc/{work.pid}/task/{work.pid}/children").read().split()
pids = ",".join([str(work.pid), *child])
counter = mmap.mmap(os.open(counter_path, os.O_RDWR), 4096)


def trips():
    return struct.unpack("Q", counter[:8])[0]


def cpu_ns():
    """CPU time of the two, by the scheduler's own clock: what others do on this machine does not count."""
    return sum(int(open(f"/proc/{p}/schedstat").read().split()[0]) for p in pids.split(","))


def ns_per_switch(seconds=0.8):
    a, t0 = trips(), cpu_ns()
    time.sleep(seconds)
    b, t1 = trips(), cpu_ns()
    return (t1 - t0) / (2 * max(b - a, 1))


def bpf_times():
    """{id: (name, calls, ns)} of tracing programs, by the kernel's run time statistics."""
    text = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True).stdout
    return {p["id"]: (p.get("name", "?"), p.get("run_cnt", 0), p.get("run_time_ns", 0)) for p in json.loads(text or "[]")}


def per_switch_in_programs(seconds=0.8):
    """Time in kernel programs per switch of the two, whatever else the machine does (about 50 ns a call is the
    statistics' own)."""
    before, a = bpf_times(), trips()
    time.sleep(seconds)
    after, b = bpf_times(), trips()
    ns = sum(t - before.get(i, ("", 0, 0))[2] for i, (_, _, t) in after.items() if i in before)
    return ns / (2 * max(b - a, 1))


def cprof(*args):
    return [PROGRAM, "record", "--force", "-q", "--no-svg", "--replace", "-o", f"{DIR}/x.cprof", *args]


BPFTRACE = """tracepoint:sched:sched_switch { if (args.prev_pid == PID1 || args.prev_pid == PID2) { @s[tid] = nsecs; @k[kstack, ustack] = count(); } }"""
for i, p in enumerate(pids.split(",")):
    BPFTRACE = BPFTRACE.replace(f"PID{i + 1}", p)
TOOLS = {
    "causeprof, in filter": cprof("-p", pids),
    "causeprof --hook finish": cprof("-p", pids, "--hook", "finish"),
    "causeprof --hook finish, filtered": cprof("-p", pids, "--hook", "finish", "-m", "60s", "--state", "S"),
    "causeprof --hook switch, filtered": cprof("-p", pids, "-m", "60s", "--state", "S"),
    "causeprof --intervals": cprof("-p", pids, "--intervals"),
    "causeprof, out of filter": cprof("-p", str(idle.pid)),
    "offcputime (libbpf-tools)": ["offcputime", "-p", pids, "60"],
    "perf record -e sched_switch -g": ["perf", "record", "-q", "-e", "sched:sched_switch", "-g", "-o", f"{DIR}/perf.data", "-p", pids],
    "bpftrace": ["bpftrace", "-e", BPFTRACE.replace("args.", "args->")],
}
TOOLS = {k: v for k, v in TOOLS.items() if shutil.which(v[0])}
added, ratio, inside, missing = {}, {}, {}, set()
try:
    for _ in range(ROUNDS):
        this = {}
        for name, command in TOOLS.items():
            before = ns_per_switch()
            tool = subprocess.Popen(["taskset", "-c", "1", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(2.5)  # until it is attached
            if tool.poll() is not None:
                missing.add(name)
                continue
            during = ns_per_switch()
            open(STATS, "w").write("1")
            inside.setdefault(name, []).append(per_switch_in_programs())
            open(STATS, "w").write("0")
            tool.send_signal(2)
            try:
                tool.wait(20)
            except subprocess.TimeoutExpired:
                tool.kill()
                tool.wait()
            after = ns_per_switch()
            this[name] = during - (before + after) / 2
            added.setdefault(name, []).append(this[name])
        peer = this.get("offcputime (libbpf-tools)")
        for name in this:
            if peer and peer > 0:
                ratio.setdefault(name, []).append(this[name] / peer)
    print(f"{'ns added to a switch':34} {'median':>8} {'min':>8} {'max':>8}   {'in BPF programs':>16}   of offcputime's: median, min..max; in programs")
    peer = statistics.median(inside.get("offcputime (libbpf-tools)", [0])) or 1
    for name in TOOLS:
        if name in missing:
            print(f"{name:34} does not run here")
            continue
        a, r, i = added[name], ratio.get(name, [0]), statistics.median(inside[name])
        print(f"{name:34} {statistics.median(a):8.0f} {min(a):8.0f} {max(a):8.0f}   {i:16.0f}   "
              f"{statistics.median(r):.2f}  {min(r):.2f}..{max(r):.2f};  {i / peer:.2f}")
    print(f"without a tool: {ns_per_switch():.0f} ns of CPU from switch to switch")
finally:
    open(STATS, "w").write("0")
    for p in (work, idle):
        p.kill()
        p.wait()
    shutil.rmtree(DIR)
