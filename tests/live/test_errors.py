#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong says so in one clear line with the right status, and leaves no file behind."""
import os, resource, shutil, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
DIR = tempfile.mkdtemp(prefix="causeprof-errors.")
os.chmod(DIR, 0o777)
target = subprocess.Popen(["sleep", "600"])


def run(*args, **kw):
    return subprocess.run([os.path.abspath(PROGRAM), *args], capture_output=True, text=True, cwd=DIR, **kw)


def ends(what, result, status, *words, files=()):
    """One line on stderr (after the prediction) that has all the words, the status, and no new file."""
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
    check(what, not problems, "; ".join(problems))


def privately(script, *args):
    """Runs causeprof behind a shell script in a mount namespace of its own: what is mounted there is gone with it."""
    return subprocess.run(["unshare", "-m", "sh", "-c", script + '\nexec "$@"', "sh", os.path.abspath(PROGRAM), *args],
                          capture_output=True, text=True, cwd=DIR)


def without_types():
    """The kernel's types out of sight: an empty file and an empty folder in their place."""
    for what, hide in (("empty", "mount --bind /dev/null /sys/kernel/btf/vmlinux"), ("none", "mount -t tmpfs none /sys/kernel/btf")):
        if what == "none":
            ends("no BTF, --btf given", privately(f"cat /sys/kernel/btf/vmlinux > types; {hide}", *T, "--duration", "0.1", "--btf", "types"), 1,
                  "no BTF", "--btf does not", files=["types"])
            ends("its own types by --btf", run(*T, "--duration", "0.1", "-f", "--btf", "types"), 0, files=["types"])
            os.unlink(os.path.join(DIR, "types"))
        ends(f"no BTF, {what}", privately(hide, *T, "--duration", "0.1"), 1, "no BTF", "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")
        r = privately(hide, "doctor")
        lines = [l for l in r.stdout.splitlines() if l.startswith("BTF ") and "missing" in l]
        check(f"no BTF, {what}: the doctor tells it", r.returncode == 1 and len(lines) == 1, r)


def small_disk(free_kb, *args):
    """A disk of 1 MB with so much room; what is left there is copied to DIR/left."""
    fill = f"mount -t tmpfs -o size=1M none disk; head -c {(1024 - free_kb) * 1024} /dev/zero > disk/fill || exit 99"
    script = 'status=0; "$@" || status=$?; rm disk/fill; cp -a disk left; exit $status'
    os.mkdir(os.path.join(DIR, "disk"))
    r = subprocess.run(["unshare", "-m", "sh", "-c", fill + "\n" + script, "sh", os.path.abspath(PROGRAM), *T, "--duration", "0.1", "-q", *args],
                       capture_output=True, text=True, cwd=DIR)
    os.rmdir(os.path.join(DIR, "disk"))
    left = os.path.join(DIR, "left")
    names = sorted(os.listdir(left))
    if "x.cprof" in names:
        Profile(os.path.join(left, "x.cprof"))  # or it is no profile
    shutil.rmtree(left)
    return r, names


def full_disks():
    r, left = small_disk(0, "-o", "disk/x.cprof")
    ends("a full disk", r, 1, "disk/x.cprof", "No space left")
    check("... and nothing is left on it", left == [], left)
    r, left = small_disk(16, "-o", "disk/x.cprof")
    ends("a disk that has room for the profile, not the picture", r, 1, "disk/x.svg", "No space left")
    check("... and the profile is whole", left == ["x.cprof"], left)
    r = privately("mkdir -p disk; mount -t tmpfs -o ro none disk", *T, "--duration", "0.1", "-o", "disk/x.cprof")
    os.rmdir(os.path.join(DIR, "disk"))
    ends("a read-only disk", r, 1, "disk/x.cprof", "Read-only")


def damaged(data):
    """Each verb that reads a profile says what is wrong with it."""
    def put(name, bad):
        open(os.path.join(DIR, name), "wb").write(bad)
    put("good.cprof", data)
    bit = data[:200] + bytes([data[200] ^ 1]) + data[201:]
    for name, bad in (("cut", data[: len(data) // 2]), ("flipped", bit), ("empty", b""), ("other", b"#!/bin/sh\n" * 50)):
        put("bad.cprof", bad)
        for verb in (["report"], ["fold"], ["flame"], ["dump"], ["export", "--format=speedscope"], ["merge", "-o", "m.cprof", "good.cprof"],
                     ["diff", "good.cprof"], ["symbolize", "-o", "m.cprof"]):
            ends(f"{verb[0]}: a profile that is {name}", run(*verb, "bad.cprof"), 1, "bad.cprof", files=["good.cprof", "bad.cprof"])
    unseen = []
    for at in range(8, len(data), max(len(data) // 50, 1)):
        put("bad.cprof", data[:at] + bytes([data[at] ^ 16]) + data[at + 1:])
        r = run("report", "bad.cprof")
        if r.returncode != 1 or len(r.stderr.splitlines()) != 1 or "bad.cprof" not in r.stderr:
            unseen.append((at, r.returncode, r.stderr))
    check("report: a flipped bit anywhere behind the magic number", not unseen, unseen)
    for name in ("good.cprof", "bad.cprof"):
        os.unlink(os.path.join(DIR, name))


def nothing_left_over():
    """A filter that leaves nothing says which it was, and what there is."""
    r = run(*T, "--duration", "0.1", "-f", "-m", "10h")
    check("what -m drops is told", r.stdout.strip().splitlines() == ["sleep;[filtered] 100000"] and r.returncode == 0, r)
    r = run(*T, "--duration", "0.1", "-f", "--kinds=running")
    check("no time of the chosen kinds: told which there are", r.returncode == 0 and not r.stdout and "chosen kinds" in r.stderr
        and "sleep 100 ms" in r.stderr, r)


T = ["-p", str(target.pid), "--force"]
try:
    ends("no such process", run("-p", "2147483646", "--duration", "0.1"), 1, "no process 2147483646")
    ends("no such thread", run("-t", "2147483646", "--duration", "0.1"), 1, "no thread 2147483646")
    ends("nothing to watch", run("record"), 2, "-p PID")
    for text in ("0", "-1", "12abc", "1e9", "nan", "inf", ""):
        ends(f"duration {text!r}", run(*T, f"--duration={text}"), 2, "duration" if text != "1e9" else "7 days")
    ends("duration operand", run(*T, "12abc"), 2, "12abc")
    ends("unknown option", run(*T, "--bogus"), 2, "--bogus")
    ends("bad state", run(*T, "--state", "Q"), 2, "--state")
    ends("-m over -M", run(*T, "-m", "10", "-M", "5"), 2, "-M")
    ends("label without =", run(*T, "--label", "x"), 2, "KEY=VALUE")
    ends("unwritable folder", run(*T, "--duration", "0.1", "-o", "/proc/x.cprof"), 1, "/proc/x.cprof")
    ends("no folder", run(*T, "--duration", "0.1", "-o", "no/x.cprof"), 1, "no/x.cprof")
    ends("full disk", run(*T, "--duration", "0.1", "--no-svg", "-o", "/dev/full"), 1, "/dev/full", "No space left")
    r = run(*T, "--duration", "0.1", "-o", "x.cprof", "--no-svg", "--raw-events", "no/x")
    ends("no folder for raw events", r, 1, "no/x")
    check("... told before the capture", "predicted cost" not in r.stderr)
    ends("types of something else", run(*T, "--duration", "0.1", "--btf", "/etc/passwd"), 1, "--btf", "/etc/passwd")
    open(os.path.join(DIR, "there.cprof"), "w").close()
    ends("output exists", run(*T, "--duration", "0.1", "-o", "there.cprof"), 1, "there.cprof exists", files=["there.cprof"])
    os.unlink(os.path.join(DIR, "there.cprof"))
    open(os.path.join(DIR, "there.svg"), "w").close()
    ends("picture exists", run(*T, "--duration", "20", "-o", "there.cprof"), 1, "there.svg exists", files=["there.svg"])
    os.unlink(os.path.join(DIR, "there.svg"))
    ends("a name too long", run(*T, "--duration", "20", "-o", "a" * 300), 1, "255 bytes")
    ends("no name", run(*T, "--duration", "20", "-o", ""), 1, "empty")
    os.symlink("nowhere/x", os.path.join(DIR, "link.cprof"))
    ends("a link to nowhere", run(*T, "--duration", "20", "-o", "link.cprof"), 1, "link.cprof", "symbolic link", files=["link.cprof"])
    os.unlink(os.path.join(DIR, "link.cprof"))
    r = run("report", "x\n\x1b[31m")
    ends("names in messages are escaped", r, 1, "\\x0a\\x1b[31m")
    closed = lambda: [os.close(fd) for fd in (0, 1, 2)]
    code = subprocess.run([os.path.abspath(PROGRAM), *T, "--duration", "0.1", "-o", "x.cprof", "--no-svg"], cwd=DIR, preexec_fn=closed).returncode
    check("closed descriptors are not written to, and the profile is whole", code == 1 and Profile(os.path.join(DIR, "x.cprof")).threads, code)
    os.unlink(os.path.join(DIR, "x.cprof"))
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 4096))
    r = subprocess.run([os.path.abspath(PROGRAM), "record", *"-q --no-svg -o x.cprof -- sh -c".split(), "ulimit -n"], cwd=DIR, preexec_fn=few,
                       capture_output=True, text=True)
    check("a low soft limit of descriptors is the command's, not the capture's", r.returncode == 0 and r.stdout == "16\n", r)
    os.unlink(os.path.join(DIR, "x.cprof"))
    nohup = subprocess.Popen([os.path.abspath(PROGRAM), *T, "--duration", "1.5", "-q", "-o", "x.cprof", "--no-svg"], cwd=DIR,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(1.2)
    nohup.send_signal(signal.SIGHUP)
    code, p = nohup.wait(), Profile(os.path.join(DIR, "x.cprof"))
    check("an ignored SIGHUP stays ignored", code == 0 and p.end - p.start > 1.4e9, (code, p.end - p.start))
    os.unlink(os.path.join(DIR, "x.cprof"))
    os.mkfifo(os.path.join(DIR, "fifo"))
    reader = subprocess.Popen(["sh", "-c", "cat fifo > copy.cprof"], cwd=DIR)
    ends("a fifo", run(*T, "--duration", "0.1", "-o", "fifo", "--no-svg"), 0, files=["fifo", "copy.cprof"])
    reader.wait()
    check("the profile came through the fifo", Profile(os.path.join(DIR, "copy.cprof")).threads)
    # a reader that never comes: Ctrl-C during the capture ends it, and is forgotten by then; one that comes later ends the wait
    r = subprocess.Popen([os.path.abspath(PROGRAM), *T, "--duration", "20", "-q", "-o", "fifo", "--no-svg"], cwd=DIR)
    time.sleep(1.2)
    r.send_signal(signal.SIGINT)
    time.sleep(3)
    still = r.poll() is None
    r.send_signal(signal.SIGINT)
    try:
        code = r.wait(5)
    except subprocess.TimeoutExpired:
        code = "no end"
        r.kill()
        r.wait()
    check("the wait for the reader of a fifo ends by a signal, and only by one that comes then", still and code == -signal.SIGINT, (still, code))
    for f in ("fifo", "copy.cprof"):
        os.unlink(os.path.join(DIR, f))
    ends("a file limit", run(*T, "--duration", "0.1", "-o", "x.cprof",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))), 1, "x.cprof")

    def drop():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    own = subprocess.Popen(["sleep", "60"], preexec_fn=drop)
    with tempfile.TemporaryDirectory() as folder:  # the tree may lie where only root may look
        os.chmod(folder, 0o755)
        program = shutil.copy(PROGRAM, folder)
        result = subprocess.run([program, "-p", str(own.pid), "--duration", "0.1"], capture_output=True, text=True,
                                cwd=DIR, preexec_fn=drop)
    ends("not root", result, 1, "root", "CAP_BPF")
    own.kill(); own.wait()

    # locked memory that cannot be raised: fine with memory cgroups
    r = run(*T, "--duration", "0.1", "-o", "x.cprof", "--no-svg",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)))
    ends("RLIMIT_MEMLOCK", r, 0, files=["x.cprof"])
    data = open(os.path.join(DIR, "x.cprof"), "rb").read()
    os.unlink(os.path.join(DIR, "x.cprof"))
    damaged(data)
    full_disks()
    without_types()

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
    check("target gone in the middle", ok, (code, died, (p.end - p.start) / 1e9))
    os.unlink(os.path.join(DIR, "gone.cprof"))

    # two at once
    args = [os.path.abspath(PROGRAM), *T, "--duration", "0.3", "-q", "--no-svg", "-o"]
    two = [subprocess.Popen([*args, f"{i}.cprof"], cwd=DIR) for i in (1, 2)]
    codes = [t.wait() for t in two]
    sums = [Profile(os.path.join(DIR, f"{i}.cprof")).sums for i in (1, 2)]
    ok = codes == [0, 0] and all(sum(int(s["ns"]) for s in each) == 300000000 for each in sums)
    check("two captures at once", ok, codes)
    for i in (1, 2):
        os.unlink(os.path.join(DIR, f"{i}.cprof"))

    nothing_left_over()
    check("the target lives", target.poll() is None)
finally:
    target.kill()
    target.wait()
    subprocess.run(["rm", "-rf", DIR])
sys.exit(exit_status())
