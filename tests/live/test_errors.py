#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong says so in one clear line with the right status, and leaves no file behind."""
import os, resource, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-errors.")
os.chmod(DIR, 0o777)
target = subprocess.Popen(["sleep", "600"])
failed = 0


def run(*args, **kw):
    return subprocess.run([os.path.abspath(PROGRAM), *args], capture_output=True, text=True, cwd=DIR, **kw)


def check(what, result, status, *words, files=()):
    """One line on stderr (after the prediction) that has all the words, the status, and no new file."""
    global failed
    lines = [l for l in result.stderr.splitlines() if l.startswith("causeprof: ")]  # the rest is talk
    problems = []
    if result.returncode != status:
        problems.append(f"status {result.returncode}, expected {status}")
    if status and len(lines) != 1:
        problems.append(f"{len(lines)} lines: {lines}")
    problems += [f"no '{w}' in: {' '.join(lines)}" for w in words if w not in " ".join(lines)]
    left = sorted(set(os.listdir(DIR)) - set(files))
    if left:
        problems.append(f"left behind: {left}")
        for f in left:
            os.unlink(os.path.join(DIR, f))
    print("ok  " if not problems else "FAIL", what, *problems)
    failed += bool(problems)


T = ["-p", str(target.pid), "--force"]
try:
    check("no such process", run("-p", "2147483646", "--duration", "0.1"), 1, "no process 2147483646")
    check("no such thread", run("-t", "2147483646", "--duration", "0.1"), 1, "no thread 2147483646")
    check("nothing to watch", run("record"), 2, "-p PID")
    for text in ("0", "-1", "12abc", "1e9", "nan", "inf", ""):
        check(f"duration {text!r}", run(*T, f"--duration={text}"), 2, "duration" if text != "1e9" else "7 days")
    check("duration operand", run(*T, "12abc"), 2, "12abc")
    check("unknown option", run(*T, "--bogus"), 2, "--bogus")
    check("bad state", run(*T, "--state", "Q"), 2, "--state")
    check("-m over -M", run(*T, "-m", "10", "-M", "5"), 2, "-M")
    check("label without =", run(*T, "--label", "x"), 2, "KEY=VALUE")
    check("unwritable folder", run(*T, "--duration", "0.1", "-o", "/proc/x.cprof"), 1, "/proc/x.cprof")
    check("no folder", run(*T, "--duration", "0.1", "-o", "no/x.cprof"), 1, "no/x.cprof")
    check("full disk", run(*T, "--duration", "0.1", "--no-svg", "-o", "/dev/full"), 1, "/dev/full", "No space left")
    r = run(*T, "--duration", "0.1", "-o", "x.cprof", "--no-svg", "--raw-events", "no/x")
    check("no folder for raw events", r, 1, "no/x")
    if "predicted cost" in r.stderr:
        print("FAIL raw events: told only after the capture")
        failed += 1
    check("types of something else", run(*T, "--duration", "0.1", "--btf", "/etc/passwd"), 1, "--btf", "/etc/passwd")
    open(os.path.join(DIR, "there.cprof"), "w").close()
    check("output exists", run(*T, "--duration", "0.1", "-o", "there.cprof"), 1, "there.cprof exists", files=["there.cprof"])
    os.unlink(os.path.join(DIR, "there.cprof"))
    check("a file limit", run(*T, "--duration", "0.1", "-o", "x.cprof",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))), 1, "x.cprof")

    def drop():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    own = subprocess.Popen(["sleep", "60"], preexec_fn=drop)
    check("not root", run("-p", str(own.pid), "--duration", "0.1", preexec_fn=drop), 1, "root", "CAP_BPF")
    own.kill(); own.wait()

    # locked memory that cannot be raised: fine with memory cgroups
    r = run(*T, "--duration", "0.1", "-o", "x.cprof", "--no-svg",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)))
    check("RLIMIT_MEMLOCK", r, 0, files=["x.cprof"])
    data = open(os.path.join(DIR, "x.cprof"), "rb").read()
    for name, bad in (("cut", data[: len(data) // 2]), ("flipped", data[:200] + bytes([data[200] ^ 1]) + data[201:]), ("empty", b"")):
        open(os.path.join(DIR, "bad.cprof"), "wb").write(bad)
        check(f"a {name} profile", run("report", "bad.cprof"), 1, "bad.cprof", files=["x.cprof", "bad.cprof"])
        os.unlink(os.path.join(DIR, "bad.cprof"))
    os.unlink(os.path.join(DIR, "x.cprof"))

    # the target ends in the middle: what was seen is kept
    short = subprocess.Popen(["sleep", "600"])
    capture = subprocess.Popen([os.path.abspath(PROGRAM), "-p", str(short.pid), "--duration", "60", "-o", "gone.cprof",
                                "--no-svg", "-q", "--force"], cwd=DIR)
    time.sleep(6)
    short.kill(); short.wait()
    code = capture.wait(40)
    p = Profile(os.path.join(DIR, "gone.cprof"))
    died = [t for t in p.threads.values() if "died" in t.get("flags", "")]
    ok = code == 0 and len(died) == 1 and p.end - p.start < 50e9
    print("ok  " if ok else "FAIL", "target gone in the middle", code, died, (p.end - p.start) / 1e9)
    failed += not ok
    os.unlink(os.path.join(DIR, "gone.cprof"))

    # two at once
    args = [os.path.abspath(PROGRAM), *T, "--duration", "0.3", "-q", "--no-svg", "-o"]
    two = [subprocess.Popen([*args, f"{i}.cprof"], cwd=DIR) for i in (1, 2)]
    codes = [t.wait() for t in two]
    sums = [Profile(os.path.join(DIR, f"{i}.cprof")).sums for i in (1, 2)]
    ok = codes == [0, 0] and all(sum(int(s["ns"]) for s in each) == 300000000 for each in sums)
    print("ok  " if ok else "FAIL", "two captures at once", codes)
    failed += not ok
    for i in (1, 2):
        os.unlink(os.path.join(DIR, f"{i}.cprof"))

    # a filter that leaves nothing says which it was
    r = run(*T, "--duration", "0.1", "-f", "-m", "10h")
    said = r.stdout.strip().splitlines() == ["sleep;[filtered] 100000"]
    print("ok  " if said and r.returncode == 0 else "FAIL", "what a filter drops is told:", r.stdout)
    failed += not said
    alive = target.poll() is None
    print("ok  " if alive else "FAIL", "the target lives")
    failed += not alive
finally:
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(1 if failed else 0)
