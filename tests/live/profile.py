# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile as a test sees it: the text of "causeprof dump", and what ran when. Shared by the live tests."""
import glob, json, os, re, signal, subprocess, sys, tempfile, time

# a runner in the background ignores Ctrl-C, and so would all that it starts
signal.signal(signal.SIGINT, signal.default_int_handler)

PROGRAM = os.path.join(os.environ.get("O", "build"), "causeprof")
WORKLOADS = os.path.join(os.environ.get("O", "build"), "tests/workloads")
if "asan" in WORKLOADS:
    WORKLOADS = "build/tests/workloads"
BLOCKED = {"sleep", "disk", "stopped", "traced", "parked", "idle"}
RUNNABLE = {"preempted", "woken"}
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


def fields(line):
    return {k: v.strip('"') for k, v in FIELD.findall(line)}


class Profile:
    def __init__(self, path):
        text = subprocess.run([PROGRAM, "dump", path], check=True, capture_output=True, text=True).stdout
        self.tables = {}
        self.header = {}
        self.loss = {}
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "header":
                self.header.update(fields(rest))
            elif word == "loss":
                loss = fields(rest)
                self.loss[loss["cause"]] = loss
            else:
                number, _, rest2 = rest.partition(" ")
                table = self.tables.setdefault(word, {})
                key = int(number) if number.isdigit() else len(table)
                table[key] = fields(rest2 if number.isdigit() else rest)
        self.start = int(self.header["window_start_ns"])
        self.end = int(self.header["window_end_ns"])
        self.threads = self.tables.get("thread", {})
        self.sums = list(self.tables.get("sum", {}).values())
        self.processes = self.tables.get("process", {})

    def frames(self, stack):
        """Names with modules, leaf first."""
        out = []
        stack = int(stack or 0)
        while stack:
            s = self.tables["stack"][stack]
            f = self.tables["frame"][int(s["frame"])]
            out.append((f.get("name", f.get("reason", "?")), f.get("module", ""), f.get("kind", "user")))
            stack = int(s.get("parent", 0))
        return out


def num(d, key):
    return int(d.get(key, 0))


def record(out, *args):
    """Runs a capture; returns its Profile."""
    subprocess.run([PROGRAM, "record", "-o", out, "--replace", "--force", "-q", "--no-svg", *args], check=True)
    return Profile(out)


def running_ns(p, tids):
    return sum(num(s, "ns") for s in p.sums if s["kind"] == "running" and p.threads[int(s["thread"])]["tid"] in tids)


def stolen_ns():
    """What the host took of all CPUs, so far."""
    return int(open("/proc/stat").readline().split()[8]) * 10**9 // os.sysconf("SC_CLK_TCK")


def excess_ns(true_ns, stolen, switches):
    """How much more running time there may be by the clock than the kernel's run time clock has, and rusage: 1 %; what
    was stolen, which that clock leaves out; and 30 us a switch, since it is read when a wake-up or the tick asks for a
    switch, and the thread goes on until then."""
    return 0.01 * true_ns + stolen + 30e3 * switches


def compare_running(what, p, tids, true_ns, stolen):
    """Running time against rusage: the kernel's account of these threads, which shows whether they are all and no others,
    and ours. Both are what they ran from birth to death."""
    threads = [t for t in p.threads.values() if t["tid"] in tids]
    ours_ns = running_ns(p, tids)
    kernel_ns = sum(num(t, "kernel_running_ns") for t in threads)
    switches = sum(num(t, "voluntary_cnt") + num(t, "involuntary_cnt") for t in threads)
    said = (f"{what} running: {ours_ns / 1e6:.2f} ms, rusage {true_ns / 1e6:.2f} ms ({100 * (ours_ns / true_ns - 1):+.2f} %), the kernel's "
            f"account of these threads {100 * (kernel_ns / true_ns - 1):+.2f} %, {switches} switches, stolen meanwhile {stolen / 1e6:.0f} ms")
    return (abs(kernel_ns - true_ns) <= 0.002 * true_ns and
            -0.01 * true_ns <= ours_ns - true_ns <= excess_ns(true_ns, stolen, switches)), said


failed = []  # what was found wrong so far


def check(what, ok, detail=""):
    """Says how one thing that is tested ended; detail tells what was seen instead."""
    print("ok  " if ok else "FAIL", what, "" if ok else str(detail)[:400], flush=True)
    if not ok:
        failed.append(what)
    return ok


def exit_status():
    return 1 if failed else 0


def held_by_processes():
    """{(kind, id)} of the programs, maps and links that a file descriptor refers to, by /proc: not every bpftool can tell."""
    held = set()
    for path in glob.glob("/proc/[0-9]*/fdinfo/*"):
        try:
            held.update((k, int(n)) for k, n in re.findall(r"^(prog|map|link)_id:\s+(\d+)$", open(path).read(), re.M))
        except OSError:
            pass
    return held


def kernel_objects():
    """Programs, maps and links that no process holds, itself or through a program; other captures may run beside a test."""
    said = {kind: json.loads(subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True).stdout or "[]")
            for kind in ("link", "prog", "map")}
    held = held_by_processes()
    for prog in said["prog"]:
        if ("prog", prog["id"]) in held:
            held.update(("map", m) for m in prog.get("map_ids", []))
    return {(kind, o["id"], o.get("name", "")) for kind in said for o in said[kind] if "id" in o and (kind, o["id"]) not in held}


class Leftovers:
    """What captures leave in the kernel and among the mounts, from now on."""

    def __init__(self):
        os.environ["PATH"] += ":/usr/sbin"
        self.objects, self.mounts = kernel_objects(), self.read_mounts()

    @staticmethod
    def read_mounts():
        return open("/proc/mounts").read().splitlines()

    def check(self):
        left = None  # held by nobody however often one looks: the kernel frees a little later, others begin just now
        for _ in range(50):
            now = kernel_objects() - self.objects
            left = now if left is None else left & now
            if not left:
                break
            time.sleep(0.2)
        check("no program, map or link is left in the kernel", not left, left)
        more = set(self.read_mounts()) - set(self.mounts)
        check("no mount is left", not more, more)


def need_root():
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(77)
