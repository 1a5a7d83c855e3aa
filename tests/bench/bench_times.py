#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a capture of a loaded MariaDB takes to begin and to end: from the command to the open window, from the end
of the window to the files (the last change of their names) and to the end of the process; its memory; what each step took in wall and CPU
time. sysbench runs oltp_read_write with 8 threads all the while, and the machine's load is told. Several builds of
causeprof are measured in turns, so that they meet the same load.
usage: bench_times.py [-n RUNS] [-d SECONDS] [PROGRAM...]"""
import argparse, os, re, shutil, statistics, subprocess, sys, tempfile, time

os.environ["PATH"] += ":/usr/sbin"
parser = argparse.ArgumentParser()
parser.add_argument("-n", type=int, default=10)
parser.add_argument("-d", type=float, default=1)
parser.add_argument("programs", nargs="*", default=[os.path.join(os.environ.get("O", "build"), "causeprof")])
args = parser.parse_args()
if os.geteuid() != 0:
    print("needs root")
    sys.exit(77)
for tool in ("mariadbd", "sysbench"):
    if not shutil.which(tool):
        print(f"{tool} is not installed")
        sys.exit(77)
DIR = tempfile.mkdtemp(prefix="causeprof-times.")
DB, OUT = os.path.join(DIR, "db"), os.path.join(DIR, "x.cprof")
PHASE = re.compile(r"^(\S.*?) +([\d.]+) ms +([\d.]+) ms CPU(?: +([\d.]+) ms CPU of helpers)?$", re.M)


def cpu_used():
    """Of all CPUs, in ticks: (busy, all)."""
    t = [int(x) for x in open("/proc/stat").readline().split()[1:9]]
    return sum(t) - t[3] - t[4], sum(t)


def run(program):
    """{what: value} of one capture."""
    verbose = ["-v"] if b"--verbose" in subprocess.run([program, "record", "--help"], capture_output=True).stdout else []
    began = time.monotonic_ns()
    r = subprocess.run([program, "record", "-p", str(pid), "--duration", str(args.d), "-o", OUT, "--replace", "--force", "-q", *verbose],
                       capture_output=True, text=True)
    ended = time.monotonic_ns()
    if r.returncode:
        sys.exit(f"{program}: {r.stderr}")
    offset = time.time_ns() - time.monotonic_ns()
    closed = max(os.stat(f).st_ctime_ns for f in (OUT, OUT.replace(".cprof", ".svg"))) - offset
    dump = subprocess.run([program, "dump", OUT], capture_output=True, text=True).stdout
    fact = lambda name: int(re.search(rf"\b{name}=(\d+)", dump).group(1))
    got = {"command to open window, ms": (fact("window_start_ns") - began) / 1e6,
           "end of window to files closed, ms": (closed - fact("window_end_ns")) / 1e6,
           "end of window to end of process, ms": (ended - fact("window_end_ns")) / 1e6,
           "peak RSS and maps, MiB": (fact("peak_rss_bytes") + fact("map_bytes")) / 2**20,
           "in the kernel's programs, us a switch": fact("bpf_ns") / 1e3 / max(fact("target_switch_cnt"), 1)}
    for name, wall, cpu, helpers in PHASE.findall(r.stderr):
        got["  " + name] = (float(wall), float(cpu) + float(helpers or 0))
    return got


def median(values):
    if isinstance(values[0], tuple):
        wall, cpu = ([v[i] for v in values] for i in (0, 1))
        return f"{statistics.median(wall):8.1f} ms wall {statistics.median(cpu):8.1f} ms CPU ({min(cpu):.1f} .. {max(cpu):.1f})"
    return f"{statistics.median(values):8.1f} ({min(values):.1f} .. {max(values):.1f})"


results = {p: [] for p in args.programs}
load = None
try:
    pid = int(subprocess.run(["scripts/mariadb", "start", DB], check=True, capture_output=True, text=True).stdout)
    seconds = int(args.n * len(args.programs) * (args.d + 60))
    load = subprocess.Popen(["scripts/mariadb", "load", DB, str(seconds)], stdout=subprocess.DEVNULL)
    time.sleep(2)
    before, switches = cpu_used(), 0
    for _ in range(args.n):
        for p in args.programs:
            results[p].append(run(p))
        if load.poll() is not None:
            sys.exit("the load ended early")
    after = cpu_used()
    print(f"{args.n} runs of {args.d:g} s; CPUs {(after[0] - before[0]) / max(after[1] - before[1], 1):.0%} busy, load average "
          f"{os.getloadavg()[0]:.1f}; medians (least .. most)")
    for p in args.programs:
        print(p)
        for what in results[p][0]:
            print(f"  {what:40} {median([r[what] for r in results[p] if what in r])}")
finally:
    if load and load.poll() is None:
        load.terminate()
        load.wait()
    subprocess.run(["scripts/mariadb", "stop", DB], stderr=subprocess.DEVNULL)
    shutil.rmtree(DIR, ignore_errors=True)
