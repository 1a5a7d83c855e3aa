#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A long capture of MariaDB under a steady light load: does the memory of causeprof stay what it was, is anything
lost, how large is the file? Every 30 s: resident memory, memory of the kernel's maps, CPU time. Slopes by Theil and
Sen over what comes after the first tenth, and over the second half, with the 95 % interval of a bootstrap over blocks of ten samples.
usage: [RECORD="options of record"] bench_long.py [SECONDS [TPS [FOLDER]]]
The samples go to FOLDER/samples.csv."""
import os, random, statistics, subprocess, sys, tempfile, time

O = os.environ.get("O", "build")
SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3600
TPS = sys.argv[2] if len(sys.argv) > 2 else "100"
FOLDER = sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="causeprof-long.")
PROGRAM = os.path.join(FOLDER, "causeprof")  # a copy, that may not be rebuilt under us
EVERY_S = max(min(30, SECONDS / 40), 0.5)
COLUMNS = ("s", "rss_kib", "anon_kib", "maps_kib", "cpu_s")


def status(pid, key):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def map_kib(pid):
    total = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            for line in open(f"/proc/{pid}/fdinfo/{fd}"):
                if line.startswith("memlock:"):
                    total += int(line.split()[1])
        except OSError:
            pass
    return total // 1024


def cpu_s(pid):
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def theil_sen(points):
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1:] if b[0] > a[0]]
    return statistics.median(slopes) if slopes else 0.0


def interval(points, rounds=400):
    """Of the slope: the residuals, in blocks of ten, drawn again."""
    rng = random.Random(1)
    slope = theil_sen(points)
    level = statistics.median(y - slope * x for x, y in points)
    rest = [y - slope * x - level for x, y in points]
    blocks = [rest[i:i + 10] for i in range(0, max(len(rest) - 9, 1))]
    slopes = []
    for _ in range(rounds):
        drawn = []
        while len(drawn) < len(points):
            drawn += rng.choice(blocks)
        slopes.append(theil_sen([(x, slope * x + level + r) for (x, _), r in zip(points[::2], drawn[::2])]))
    slopes.sort()
    return slope, slopes[rounds // 40], slopes[-rounds // 40 - 1]


def watch(capture, samples):
    started = time.monotonic()
    csv = open(os.path.join(FOLDER, "samples.csv"), "w")
    print(*COLUMNS, sep=",", file=csv)
    while capture.poll() is None:
        try:
            row = (round(time.monotonic() - started, 1), status(capture.pid, "VmRSS"), status(capture.pid, "RssAnon"),
                   map_kib(capture.pid), cpu_s(capture.pid))
        except (OSError, IndexError):
            break
        if row[1] and row[0] < SECONDS:
            samples.append(row)
            print(*row, sep=",", file=csv, flush=True)
        try:
            capture.wait(EVERY_S)
        except subprocess.TimeoutExpired:
            pass
    csv.close()


def main():
    os.makedirs(FOLDER, exist_ok=True)
    subprocess.run(["cp", os.path.join(O, "causeprof"), PROGRAM], check=True)
    db, out = os.path.join(FOLDER, "db"), os.path.join(FOLDER, "long.cprof")
    pid = subprocess.run(["scripts/mariadb", "start", db], check=True, capture_output=True, text=True).stdout.strip()
    load = subprocess.Popen(["scripts/mariadb", "load", db, str(SECONDS + 20), TPS], stdout=open(FOLDER + "/sysbench.txt", "w"))
    samples = []
    try:
        time.sleep(5)
        capture = subprocess.Popen([PROGRAM, "record", "-p", pid, "-o", out, "--replace", *os.environ.get("RECORD", "").split(), str(SECONDS)],
                                   stdout=open(FOLDER + "/record.txt", "w"), stderr=subprocess.STDOUT)
        server_s = cpu_s(int(pid))
        watch(capture, samples)
        server_s = cpu_s(int(pid)) - server_s
        code = capture.wait()
        load.wait()
        subprocess.run(["scripts/mariadb", "ping", db], check=True)
    finally:
        load.kill()
        subprocess.run(["scripts/mariadb", "stop", db])
    late = [s for s in samples if s[0] >= SECONDS / 10]
    print(f"status {code}, {len(samples)} samples of {samples[-1][0]} s, load of {TPS} transactions/s")
    for i, name in enumerate(COLUMNS[1:4], 1):
        print(f"{name:9} first {samples[0][i]}, after a tenth {late[0][i]}, middle {samples[len(samples) // 2][i]}, last {samples[-1][i]}")
        for what, part in (("after a tenth", late), ("second half", samples[len(samples) // 2:])):
            slope, low, high = interval([(s[0], s[i]) for s in part])
            print(f"          slope, {what}: {slope * 3600:+.0f} KiB/h (95 %: {low * 3600:+.0f} .. {high * 3600:+.0f})")
    print(f"server    {server_s / late[-1][0] * 100:.0f} % of one CPU")
    print(f"cpu       {late[-1][4] / late[-1][0] * 100:.2f} % of one CPU")
    print(f"file      {os.path.getsize(out)} bytes")
    for verb in (["report", out], ["flame", out, "-o", os.path.join(FOLDER, "long.html")]):
        r = subprocess.run(["/usr/bin/time", "-f", f"{verb[0]:9} %U s, %M KiB", PROGRAM, *verb], capture_output=True, text=True)
        print(f"{verb[0]} status {r.returncode}: {r.stderr.strip().splitlines()[-1]}")
    print(open(FOLDER + "/record.txt").read())


main()
