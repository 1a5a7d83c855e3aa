#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the options of record do to the result: filters keep the time of what they drop, the sampling rate is what was
asked for, a duration may be an operand, labels are in the header, a budget refuses, sleepers fold and unfold."""
import os, shutil, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-options.")
OUT = os.path.join(DIR, "x.cprof")


class Workload:
    def __init__(self, *words):
        self.process = subprocess.Popen([f"{WORKLOADS}/{words[0]}", *words[1:]], stdout=subprocess.DEVNULL)
        time.sleep(0.4)

    def __enter__(self):
        return str(self.process.pid)

    def __exit__(self, *ignored):
        self.process.kill()
        self.process.wait()


def has(part, flag):
    return flag in part.get("flags", "").split("|")


def check_total(what, p):
    total, lives = sum(int(s["ns"]) for s in p.sums), sum(num(t, "last_ns") - num(t, "first_ns") for t in p.threads.values())
    check(f"{what}: all time is there", total == lives and total > 0, (total, lives))


def by_duration(pid):
    """Each single wait is kept or dropped by its length; those that an end of the window cut may be longer than they look."""
    for least, most, options in ((3e6, 10e6, ["-m", "3000", "-M", "10ms"]), (3e6, 1e18, ["-m", "3ms"]), (0, 10e6, ["-M", "10000"])):
        p = record(OUT, "-p", pid, "--intervals", *options, "0.4")
        what, wrong, cnt = " ".join(options), [], {True: 0, False: 0}
        for i in p.tables["interval"].values():
            ns, dropped = int(i["end_ns"]) - int(i["start_ns"]), has(i, "filtered")
            if i["kind"] not in BLOCKED or has(i, "cut_start") or has(i, "cut_end"):
                continue
            cnt[dropped] += 1
            if dropped == (least <= ns <= most):
                wrong.append((ns, dropped))
        check(f"{what}: {cnt[False]} waits kept, {cnt[True]} dropped", not wrong and all(cnt.values()), (cnt, wrong[:5]))
        check_total(what, p)
        check(f"{what}: what is dropped has no stack", all("stack" not in s for s in p.sums if has(s, "filtered")))


def by_state(pid):
    for options, kept in ((["--state", "D"], {"disk"}), (["--state", "S"], {"sleep"}), (["--state", "2"], {"disk"}),
                          (["--state", "S,D"], {"sleep", "disk"})):
        p = record(OUT, "-p", pid, *options, "0.4")
        what = " ".join(options)
        states = {s["kind"]: set() for s in p.sums}
        for s in p.sums:
            states[s["kind"]].add(has(s, "filtered"))
        blocked = {k: v for k, v in states.items() if k in BLOCKED}
        check(f"{what}: {blocked}", {"sleep", "disk"} <= set(blocked) and all(v == {k not in kept} for k, v in blocked.items()))
        check(f"{what}: running time stays", states.get("running", {False}) == {False}, states)
        check_total(what, p)


def sampling():
    rates = {}
    for hz in (100, 1000):
        running = samples = 0
        for _ in range(8):  # on a busy machine a second has little running time
            with Workload("truth", "spinners", "/dev/null") as pid:
                p = record(OUT, "-p", pid, "-F", str(hz), "1")
            running += sum(num(t, "running_ns") for t in p.threads.values())
            samples += sum(num(t, "sample_cnt") for t in p.threads.values())
            if running > 3e8:
                break
        rates[hz] = round(samples / max(running / 1e9, 1e-9))
        check(f"-F {hz}: noted", num(p.header, "sample_period_ns") == 1000000000 // hz, p.header)
    # a virtual machine drops some: the ratio and the order are what can be held against it
    check(f"-F: {rates} samples a second of running time", 5 < rates[1000] / max(rates[100], 1) < 20 and 50 < rates[100] < 200)


def window(pid):
    for words in (["--duration", "0.25"], ["250ms"], ["0.25"], ["--duration=250000us"]):
        p = record(OUT, "-p", pid, *words)
        check(f"{' '.join(words)}: {p.end - p.start} ns", p.end - p.start == 250000000)
    p = record(OUT, "-p", pid, "0.1", "--label", "build=abc", "--label", "note=a b=c;\u00e9")
    labels = {l["key"]: l["value"] for l in p.tables["label"].values()}
    check(f"labels {labels}", labels == {"build": "abc", "note": "a b=c;\u00e9"})


def budget():
    with Workload("pipe_pingpong", "0", os.path.join(DIR, "counter")) as pid:
        r = subprocess.run([PROGRAM, "-p", pid, "0.1", "-o", os.path.join(DIR, "no.cprof"), "--max-overhead", "0.001"], capture_output=True, text=True)
        lines = r.stderr.splitlines()
        check("a budget refuses, in one line that says by how much and the way out", r.returncode == 1 and len(lines) == 1
              and all(w in lines[0] for w in ("switches/s", "of 0.001 %", "--max-overhead", "--force")), r)
        check("... and captures nothing", not os.path.exists(os.path.join(DIR, "no.cprof")))
    with Workload("truth", "ladder", "/dev/null") as pid:  # a quiet machine switches the other more than 100 % allows
        r = subprocess.run([PROGRAM, "-p", pid, "0.1", "-o", os.path.join(DIR, "no.cprof"), "--max-overhead", "100"], capture_output=True, text=True)
        check("a larger one does not, and the cost is told before", r.returncode == 0 and "predicted cost" in r.stderr.splitlines()[0], r)


def sleepers(pid):
    record(OUT, "-p", pid, "0.1")
    texts = {o: subprocess.run([PROGRAM, "fold", "--kinds=all", *o, OUT], capture_output=True, text=True, check=True).stdout
             for o in ((), ("--unfold-asleep",))}
    folded, unfolded = texts[()].splitlines(), texts[("--unfold-asleep",)].splitlines()
    check("sleepers are one line", len(folded) == 1 and "[asleep throughout] \u00d75" in folded[0], folded)
    check("... and unfold to their stacks", len(unfolded) > 1 and any("sleep_throughout" in l for l in unfolded), unfolded)
    check("... with the same time", sum(int(l.rsplit(" ", 1)[1]) for l in folded) == sum(int(l.rsplit(" ", 1)[1]) for l in unfolded))
    for o, there in (((), False), (("--unfold-asleep",), True)):
        svg = subprocess.run([PROGRAM, "flame", "--static", "--plain", *o, OUT], capture_output=True, text=True, check=True).stdout
        check(f"the picture {' '.join(o)}", ("sleep_throughout" in svg) == there and ("[asleep throughout]" in svg) != there)


try:
    with Workload("truth", "ladder", "/dev/null") as pid:
        by_duration(pid)
    with Workload("truth", "ladder", "/dev/null") as pid:
        window(pid)
    with Workload("truth", "disk", "/dev/null") as pid:
        by_state(pid)
    sampling()
    with Workload("truth", "throughout", "/dev/null") as pid:
        sleepers(pid)
    budget()
finally:
    shutil.rmtree(DIR)
sys.exit(exit_status())
