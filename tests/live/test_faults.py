#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls of a capture fail, one at a time (strace -e inject): the first, the middle and the last of each kind
and of each bpf() command, with errors that fit. The output is whole or absent, the status says which, one clear line
says why, and nothing is left behind. usage: test_faults.py [--all] [CALL...]

Without --all a fixed sample of the whole product runs. What the dynamic loader calls before main is not ours."""
import os, re, shutil, signal, subprocess, sys, tempfile, time
from profile import *

need_root()
if not shutil.which("strace"):
    print("strace is not installed")
    sys.exit(77)
if "OWN_MOUNTS" not in os.environ:  # so that what is mounted beside this test is not taken for its own
    os.environ["OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
ALL = "--all" in sys.argv
ONLY = [a for a in sys.argv[1:] if not a.startswith("-")]
SAMPLE_CNT = int(os.environ.get("SAMPLE", "24"))
DIR = tempfile.mkdtemp(prefix="causeprof-faults.")
PROGRAM = os.path.abspath(PROGRAM)

# Values beside errors: what a call may return that is not its usual success.
COMMON = ["EPERM", "ENOMEM", "EINTR"]
FAULTS = {
    "bpf": ["EPERM", "ENOMEM", "EBUSY", "EINTR", "EINVAL", "ENOSPC"],
    "openat": ["EPERM", "ENOMEM", "EMFILE", "EINTR", "EIO"],
    "openat2": ["EPERM", "ENOMEM", "EMFILE", "EAGAIN", "EIO"],
    "read": ["EIO", "EINTR", "=0"],
    "pread64": ["EIO", "EINTR", "=0"],
    "write": ["ENOSPC", "EIO", "EINTR", "EBUSY"],
    "pwrite64": ["ENOSPC", "EIO", "EINTR"],
    "mmap": ["ENOMEM", "EPERM"],
    "munmap": ["ENOMEM"],
    "mprotect": ["ENOMEM"],
    "perf_event_open": ["EPERM", "EBUSY", "ENOMEM", "EMFILE", "EINTR"],
    "ioctl": ["EPERM", "EBUSY", "ENOMEM", "EINTR"],
    "clone": ["EAGAIN", "ENOMEM"],
    "sendmsg": ["EPIPE", "ENOBUFS", "EINTR"],
    "recvmsg": ["ECONNRESET", "ENOMEM", "EINTR", "=0"],
    "poll": ["EINTR", "ENOMEM"],
    "epoll_wait": ["EINTR", "EIO"],
    "linkat": ["ENOSPC", "EPERM", "EIO", "EEXIST"],
    "rename": ["ENOSPC", "EPERM", "EBUSY", "EIO"],
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "getdents64": ["EIO", "ENOMEM"],
    "newfstatat": ["EIO", "ENOMEM"],
    "close": ["EIO", "EINTR"],
    "clock_nanosleep": ["EINTR"],
    "wait4": ["EINTR", "ECHILD"],
    "membarrier": ["EPERM"],
}
# without a failure that a program could see, or asked for by the C library alone, which ends the program itself
SKIP = {"execve", "exit_group", "brk", "arch_prctl", "set_tid_address", "set_robust_list", "rseq", "rt_sigreturn",
        "getpid", "geteuid", "getuid", "getegid", "getgid", "gettid", "restart_syscall", "vfork", "futex"}
CALL = re.compile(r"^(\d+)\s+(\w+)\((.*)")


def command(out):
    return [PROGRAM, "record", "-p", str(target.pid), "--duration", "0.05", "--force", "-o", out]


def clean_calls():
    """[(call, bpf command or "", ordinal in its process)] of a run without a fault, the loader's left out."""
    trace = os.path.join(DIR, "trace")
    subprocess.run(["strace", "-f", "-o", trace, *command(os.path.join(DIR, "clean.cprof"))], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    calls, cnt, main, before_main = [], {}, None, True
    loader = {}
    for line in open(trace, errors="replace"):
        m = CALL.match(line)
        if not m:
            continue
        pid, call, rest = m[1], m[2], m[3]
        main = main or pid
        cnt[pid, call] = cnt.get((pid, call), 0) + 1
        if before_main:
            loader[call] = cnt[pid, call]
            before_main = call != "munmap"  # of the loader's cache
        elif call not in SKIP and cnt[pid, call] > loader.get(call, 0):
            word = re.match(r"BPF_\w+", rest) if call == "bpf" else None
            calls.append((call, word[0] if word else "", cnt[pid, call]))
    for f in os.listdir(DIR):
        os.unlink(os.path.join(DIR, f))
    return calls


def product(calls):
    """[(call, bpf command, ordinal, fault)]: for each kind the first, middle and last ordinal."""
    kinds = {}
    for call, word, n in calls:
        kinds.setdefault((call, word), set()).add(n)
    out = []
    for (call, word), ordinals in sorted(kinds.items()):
        o = sorted(ordinals)
        for n in sorted({o[0], o[len(o) // 2], o[-1]}):
            out += [(call, word, n, f) for f in FAULTS.get(call, COMMON)]
    return out


def problems_with(call, word, n, fault):
    """Problems with a run that has this fault."""
    out = os.path.join(DIR, "x.cprof")
    inject = "retval" + fault if fault[0] == "=" else "error=" + fault
    p = subprocess.Popen(["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
                          f"inject={call}:{inject}:when={n}", *command(out)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, talk = p.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return ["hangs"]
    code = p.returncode
    lines = [l for l in talk.splitlines() if l.startswith("causeprof: ")]
    other = [l for l in talk.splitlines() if not l.startswith("causeprof: ")]
    problems = []
    there = os.path.exists(out)
    no_memory = any("out of memory" in l for l in talk.splitlines())
    if code < 0 and not (code == -signal.SIGABRT and no_memory):
        problems.append(f"died of signal {-code}")
    # a capture is worth more than its picture and summary, which can be made of the profile again
    after = code == 1 and there and len(lines) == 1 and ("x.svg" in lines[0] or "standard output" in lines[0])
    if there != (code == 0) and not after:
        problems.append(f"status {code}, but the file is {'there' if there else 'absent'}")
    if code > 0 and (code != 1 or len(lines) != 1):
        problems.append(f"status {code}, {len(lines)} lines")
    if code > 0 and lines and len(lines[0]) < 30:
        problems.append("says too little")
    if any(w in talk for w in ("internal", "Assertion", "libbpf:", "Success", "ERROR")):
        problems.append("strange words")
    if there:
        for verb in ("dump", "report"):
            r = subprocess.run([PROGRAM, verb, out], capture_output=True)
            if r.returncode:
                problems.append(f"{verb} fails: {r.stderr.decode()}")
    for f in os.listdir(DIR):
        path = os.path.join(DIR, f)
        if f == "x.svg":
            if not open(path).read().rstrip().endswith("</svg>"):
                problems.append("half a picture")
        elif f != "x.cprof":
            problems.append(f"left {f}")
        os.unlink(path)
    if problems:
        problems.append("said: " + " / ".join(lines + other)[:300])
    elif "-v" in sys.argv:
        print(f"     {call} {word} {n} {fault}: status {code}: {' / '.join(lines)}")
    return problems


target = subprocess.Popen(["sh", "-c", "while :; do sleep 0.02; done"])
run_cnt = wrong_cnt = 0
started = time.monotonic()
leftovers = Leftovers()
try:
    todo = [t for t in product(clean_calls()) if not ONLY or t[0] in ONLY or t[1] in ONLY]
    whole = len(todo)
    part, part_cnt = (int(x) for x in os.environ.get("PART", "0/1").split("/"))
    todo = todo[part::part_cnt]
    if not ALL and not ONLY:
        todo = [todo[i * whole // SAMPLE_CNT + i % 3] for i in range(SAMPLE_CNT) if i * whole // SAMPLE_CNT + i % 3 < whole]
    for call, word, n, fault in todo:
        problems = problems_with(call, word, n, fault)
        run_cnt += 1
        if problems:
            wrong_cnt += 1
            check(f"{call} {word} {n} {fault}", False, "; ".join(problems))
    leftovers.check()
    check("the target lives", target.poll() is None)
finally:
    target.kill()
    target.wait()
    shutil.rmtree(DIR)
print(f"{run_cnt} faults of {whole}, {wrong_cnt} wrong, {time.monotonic() - started:.0f} s")
sys.exit(exit_status())
