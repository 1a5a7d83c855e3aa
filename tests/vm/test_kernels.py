#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program on other kernels: Debian's packages, booted in emulation, without a network. Each workload is captured
through both sinks (--verify); profile, stamps and raw events come back and are judged here: times and states
against the workload's own stamps (tolerance of its own), wait counts, names of stacks (equal on all kernels),
the state machine on the recorded events, and the guest's report and picture against those made here.

usage: test_kernels.py [--fixtures] [-k KERNEL] [SCENARIO...]
--fixtures records short windows into tests/fixtures/account instead of judging."""
import functools, os, re, shutil, subprocess, sys

HERE_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE_DIR, "..", "live"))
sys.dont_write_bytecode = True
import test_truth
from profile import BLOCKED, PROGRAM, Profile, WORKLOADS

O = os.environ.get("O", "build")
KERNELS = ["6.1", "6.12"]
SCENARIOS = [("ladder", 0.5), ("locks", 0.5), ("disk", 0.5), ("spinners", 0.5), ("dying", 0.5), ("straddle", 0.2),
             ("migrating", 0.5), ("signals", 0.5), ("pending", 0.5), ("stopped", 0.5), ("throughout", 0.2)]
FIXTURES = [("locks", 0.06), ("disk", 0.06), ("dying", 0.06), ("signals", 0.06), ("pending", 0.06)]
TRIES = int(os.environ.get("VM_TRIES", 3))
SECONDS_A_CAPTURE = 40  # of a machine that is emulated and may be loaded


def skip(reason):
    print(reason)
    sys.exit(77)


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, **kw)


def by_version(a, b):
    return 1 if run("dpkg", "--compare-versions", a, "gt", b).returncode == 0 else -1


def obtain(version):
    """The newest Debian cloud kernel of a series: (path of vmlinuz, None), or (None, why there is none)."""
    folder = os.path.join(O, "vm", version)
    boot = os.path.join(folder, "boot")
    if not os.path.isdir(boot):
        pattern = re.compile(rf"linux-image-({re.escape(version)}\.[0-9]\S*)-cloud-amd64$")
        known = [m for m in map(pattern.match, run("apt-cache", "pkgnames", f"linux-image-{version}.").stdout.split()) if m]
        if not known:
            return None, f"apt knows no linux-image-{version}.*-cloud-amd64 (apt-get update?)"
        name = max(known, key=functools.cmp_to_key(lambda a, b: by_version(a[1], b[1])))[0]
        os.makedirs(folder, exist_ok=True)
        got = run("apt-get", "download", "-q", name, cwd=folder)
        packages = [f for f in os.listdir(folder) if f.endswith(".deb")]
        if got.returncode or not packages:
            return None, f"cannot download {name}: {(got.stderr.strip().splitlines() or ['no package came'])[-1]}"
        if run("dpkg", "-x", packages[0], ".", cwd=folder).returncode:
            return None, f"cannot unpack {packages[0]}"
    images = [f for f in os.listdir(boot) if f.startswith("vmlinuz-")]
    return (os.path.join(boot, images[0]), None) if images else (None, f"no vmlinuz in {boot}")


def boot(kernel, out, plan):
    """Runs the plan in the machine. Returns {scenario: (pid, statuses)}."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(os.path.join(out, "plan"), "w") as f:
        f.writelines(f"{scenario} {seconds}\n" for scenario, seconds in plan)
    env = dict(os.environ, VM_TIMEOUT=str(120 + SECONDS_A_CAPTURE * len(plan)))
    vm = run("scripts/vm-run", kernel, out, "tests/vm/guest.sh", os.path.join(out, "plan"), PROGRAM, f"{WORKLOADS}/truth", env=env)
    if vm.returncode == 125:
        print(vm.stderr)
    runs = {}
    path = os.path.join(out, "runs")
    for line in open(path) if os.path.exists(path) else []:
        w = line.split()
        runs[w[0]] = (int(w[1]), tuple(map(int, w[2:])))
    return runs


def read_tolerance():
    t = {}
    for line in open(os.path.join(HERE_DIR, "tolerance")):
        if line.strip() and not line.startswith("#"):
            name, value = line.split()
            t[name] = float(value)
    return t


ALLOWED = read_tolerance()


def near(ns, _cnt):
    return ns * ALLOWED["share"] + ALLOWED["fixed_ms"] * 1e6


IN_VM = test_truth.Tolerance(near, near, near, 1)
# here a stamp is not a wait: many sleeps a stamp; a lock that was free; the parent stamps for its child
NOT_COUNTED = {"sleep_pending", "wait_for_a", "wait_for_b", "stopped"}


def check_counts(p, stamps, problems):
    """How often each function blocked, against how many of its waits the window saw. In the threads that stamp:
    the child of a vfork, say, sleeps in the same function."""
    want, have = {}, {}
    stamping = {n for n, t in p.threads.items() if int(t["tid"]) in stamps.waits}
    for tid, waits in stamps.waits.items():
        for f, start, end, _ in waits:
            if start < p.end and end > p.start:
                want[f] = want.get(f, 0) + 1
    for s in p.sums:
        f = test_truth.own_function(p.frames(s.get("stack")))
        if s["kind"] in BLOCKED and f in want and int(s.get("thread", 0)) in stamping:
            have[f] = have.get(f, 0) + int(s["cnt"])
    for f in want.keys() - NOT_COUNTED:
        if abs(have.get(f, 0) - want[f]) > want[f] * ALLOWED["waits_share"] + ALLOWED["waits_fixed"]:
            problems.append(f"{f} blocked {have.get(f, 0)} times, stamped {want[f]} waits")


def shapes(p):
    """{(state, the workload's own functions from the one that waits to main)} of all that is not rare."""
    out, total = {}, 0
    for s in p.sums:
        if s["kind"] not in BLOCKED:
            continue
        names = tuple(name for name, module, _ in p.frames(s.get("stack")) if module.endswith("/truth"))
        out[s["kind"], names] = out.get((s["kind"], names), 0) + int(s["ns"])
        total += int(s["ns"])
    return {shape for shape, ns in out.items() if ns > total * 0.02}


def check_output(out, scenario, problems):
    """The guest's report and picture are what this machine makes of the same profile."""
    profile = os.path.join(out, scenario + ".cprof")
    env = dict(os.environ, LC_ALL="C", COLUMNS="100")
    report = run(PROGRAM, "report", profile, env=env, stdin=subprocess.DEVNULL).stdout
    if not report or report != open(os.path.join(out, scenario + ".report")).read():
        problems.append("the guest's report differs from the one made here")
    run(PROGRAM, "flame", "--static", "--plain", profile, "-o", profile + ".here.svg", env=env)
    if open(profile + ".here.svg").read() != open(os.path.join(out, scenario + ".svg")).read():
        problems.append("the guest's picture differs from the one made here")


def check_losses(p, problems):
    for cause, loss in p.loss.items():
        if re.search("full|busy|negative", cause):
            problems.append(f"lost {cause}: {loss}")


def late_of(raw, p):
    """{tid: ns}: the kernel's run time clock may start when another CPU queues the thread, which is long before the
    thread's own CPU switches to it where that CPU itself waits for the host. Told by the raw events."""
    late, since = {}, {}
    for line in open(raw):
        w = line.split()
        if w[0] != "event":
            continue
        tid, now = int(w[1]), int(w[3])
        if w[2] == "in":
            since[tid] = now
        elif w[2] == "out" and tid in since:
            start = since.pop(tid)
            if p.start <= start and now <= p.end:
                late[tid] = late.get(tid, 0) + max(0, int(w[8]) - (now - start))
    return late


def judge(out, scenario, how):
    """(problems, shapes, profile) of one scenario in one kernel."""
    if how is None:
        return ["the machine did not come to it"], None, None
    pid, (record, ended, outputs) = how
    path = os.path.join(out, scenario)
    if record or ended or outputs:
        said = open(path + ".summary").read().strip().splitlines() or [""]
        return [f"record {record}, workload {ended}, report and flame {outputs}: {said[-1]}"], None, None
    p = Profile(path + ".cprof")
    stamps = test_truth.Stamps(path + ".stamps")
    stamps.late = late_of(path + ".raw", p)
    problems = test_truth.judge(scenario, p, stamps, pid, IN_VM)
    check_counts(p, stamps, problems)
    check_losses(p, problems)
    check_output(out, scenario, problems)
    return problems, shapes(p), p


RULES = ["switches out", "signal pending", "delayed dequeue", "woken before out", "unseen switch", "unseen wake-up", "no storage"]


def rules_of(raw, p):
    """How often the rules that depend on the kernel were needed, from the raw events and the counters of loss."""
    n = dict.fromkeys(RULES, 0)
    woken = set()
    for line in open(raw):
        w = line.split()
        if w[0] != "event":
            continue
        tid, what = w[1], w[2]
        state, preempt, on_rq, delayed = map(int, w[4:8])
        if what == "wakeup":
            woken.add(tid)
        elif what == "in":
            woken.discard(tid)
        elif what == "out":
            n["switches out"] += 1
            blocking = state and not preempt and not state & 0x80
            n["signal pending"] += bool(blocking and on_rq and not delayed)
            n["delayed dequeue"] += bool(blocking and on_rq and delayed)
            n["woken before out"] += tid in woken
            woken.discard(tid)
    for cause, loss in p.loss.items():
        for rule, word in (("unseen switch", "switch"), ("unseen wake-up", "wake"), ("no storage", "storage")):
            if word in cause:
                n[rule] += int(loss.get("events", 0))
    return n


def print_rules(rows):
    print("\nrules that depend on the kernel, and how often each was needed:")
    print(f"  {'kernel':8} {'workload':12}", *(f"{r:>17}" for r in RULES))
    for kernel, scenario, n in rows:
        print(f"  {kernel:8} {scenario:12}", *(f"{n[r]:17}" for r in RULES))


def replay(folder):
    """The state machine, compiled for user space, on the events of this run."""
    r = run(os.path.join(O, "tests/unit/test_account"), folder)
    good = r.returncode == 0
    print("ok  " if good else "FAIL", "recorded events give the same books in user space", "" if good else r.stdout + r.stderr)
    return good


def test_kernel(version, kernel, chosen, rows):
    """Boots until each scenario has passed once. Returns ({scenario: shapes}, how many failed)."""
    left = [s for s in SCENARIOS if not chosen or s[0] in chosen]
    raws = os.path.join(O, "vm", "raw-" + version)
    shutil.rmtree(raws, ignore_errors=True)
    os.makedirs(raws)
    seen = {}
    for attempt in range(TRIES):
        out = os.path.join(O, "vm", f"out-{version}-{attempt + 1}")
        runs = boot(kernel, out, left)
        again = []
        for scenario, seconds in left:
            problems, shape, p = judge(out, scenario, runs.get(scenario))
            if problems:
                print(f"     {version} {scenario}, try {attempt + 1}:", *problems[:8], sep="\n       ")
                again.append((scenario, seconds))
                continue
            print("ok  ", version, scenario, flush=True)
            seen[scenario] = shape
            raw = os.path.join(out, scenario + ".raw")
            rows.append((version, scenario, rules_of(raw, p)))
            shutil.copy(raw, os.path.join(raws, scenario))
        left = again
        if not left:
            break
    for scenario, _ in left:
        print("FAIL", version, scenario)
    failed = len(left)
    if not chosen:
        failed += not replay(raws)
    return seen, failed


def compare_shapes(seen):
    """Names and states must not depend on the kernel."""
    failed = 0
    first, *others = seen
    for other in others:
        for scenario in seen[first].keys() & seen[other].keys():
            a, b = seen[first][scenario], seen[other][scenario]
            if a != b:
                print("FAIL", scenario, f"only on {first}: {sorted(a - b)}, only on {other}: {sorted(b - a)}")
                failed += 1
    print(f"states and functions of blocked time compared on {', '.join(seen)}: {failed} workloads differ")
    return failed


def record_fixtures(version, kernel):
    out = os.path.join(O, "vm", f"fixtures-{version}")
    runs = boot(kernel, out, FIXTURES)
    for scenario, _ in FIXTURES:
        how = runs.get(scenario)
        if how is None or how[1][0]:
            print("no fixture", scenario, how)
            continue
        shutil.copy(os.path.join(out, scenario + ".raw"), f"tests/fixtures/account/{scenario}-{version}")
        n = rules_of(os.path.join(out, scenario + ".raw"), Profile(os.path.join(out, scenario + ".cprof")))
        print(version, scenario, n)


def main(args):
    fixtures = "--fixtures" in args
    kernels = KERNELS
    if "-k" in args:
        kernels = [args[args.index("-k") + 1]]
        args = [a for a in args if a not in ("-k", kernels[0])]
    chosen = [a for a in args if a != "--fixtures"]
    for program in ("qemu-system-x86_64", "busybox", "cpio", "apt-get", "dpkg"):
        if not shutil.which(program):
            skip(f"{program} is not installed (scripts/install-deps vm)")
    images = {}
    for version in kernels:
        images[version], why = obtain(version)
        if why:
            skip(why)
    failed, seen, rows = 0, {}, []
    for version, kernel in images.items():
        if fixtures:
            record_fixtures(version, kernel)
            continue
        seen[version], bad = test_kernel(version, kernel, chosen, rows)
        failed += bad
    if fixtures:
        return 0
    print_rules(rows)
    failed += compare_shapes(seen)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
