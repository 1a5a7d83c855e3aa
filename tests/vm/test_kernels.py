#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program on other kernels: Debian's packages, booted in emulation, without a network. Each workload is captured
with both hooks and through both sinks (--verify); profile, stamps and raw events come back one by one and are judged
here: times and states against the workload's own stamps (tolerance of its own), wait counts, names of stacks
(equal on all kernels, with both hooks), the state machine on the recorded events, and the guest's report and picture
against those made here.

usage: test_kernels.py [--fixtures] [-k KERNEL] [-h HOOK] [SCENARIO...]
--fixtures records short windows into tests/fixtures/account instead of judging, and with root also on this kernel."""
import functools, os, re, shutil, subprocess, sys, time

HERE_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE_DIR, "..", "live"))
sys.dont_write_bytecode = True
import test_truth
from profile import BLOCKED, PROGRAM, Profile, WORKLOADS, record

O = os.environ.get("O", "build")
KERNELS = ["6.1", "6.12"]
HOOKS = ["switch", "finish"]
PENDING = "-F 10"  # samples would delay the timers that must meet the sleeper's call
# (name, seconds, CPUs of the machine, options of record): with one CPU its clock is exact however busy the host is
SCENARIOS = [("ladder", 0.3, 1, ""), ("locks", 0.2, 1, ""), ("disk", 0.3, 1, ""), ("spinners", 0.2, 1, ""), ("dying", 0.2, 1, ""),
             ("straddle", 0.2, 1, ""), ("signals", 0.3, 1, ""), ("stopped", 0.3, 1, ""), ("throughout", 0.1, 1, ""),
             ("pending", 0.4, 1, PENDING), ("locker", 0.3, 1, ""), ("migrating", 0.2, 2, "")]
FIXTURES = [("locks", 0.06, ""), ("disk", 0.06, ""), ("dying", 0.06, ""), ("signals", 0.06, ""), ("pending", 0.06, PENDING),
            ("locker", 0.06, "-F 200")]
TRIES = int(os.environ.get("VM_TRIES", 2))
SECONDS_A_CAPTURE = 240  # of a machine that is emulated and may be loaded


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


def boot(kernel, out, plan, cpus=2):
    """Runs the plan in the machine. Yields (scenario, hook, pid, statuses) as they come."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(os.path.join(out, "plan"), "w") as f:
        f.writelines(f"{scenario} {hook} {seconds} {options}\n" for scenario, hook, seconds, options in plan)
    env = dict(os.environ, VM_CPUS=str(cpus), VM_TIMEOUT=str(300 + SECONDS_A_CAPTURE * len(plan)))
    vm = subprocess.Popen(["scripts/vm-run", kernel, out, "tests/vm/guest.sh", os.path.join(out, "plan"), PROGRAM, f"{WORKLOADS}/truth"],
                          env=env, stdout=subprocess.PIPE, text=True)
    path = os.path.join(out, "run")
    for _ in vm.stdout:
        if os.path.exists(path):
            w = open(path).read().split()
            os.unlink(path)
            yield w[0], w[1], int(w[2]), tuple(map(int, w[3:]))
    vm.wait()


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


def check_output(path, problems):
    """The guest's report and picture are what this machine makes of the same profile."""
    profile = path + ".cprof"
    env = dict(os.environ, LC_ALL="C", COLUMNS="100")
    report = run(PROGRAM, "report", profile, env=env, stdin=subprocess.DEVNULL).stdout
    if not report or report != open(path + ".report").read():
        problems.append("the guest's report differs from the one made here")
    run(PROGRAM, "flame", "--static", "--plain", profile, "-o", profile + ".here.svg", env=env)
    if open(profile + ".here.svg").read() != open(path + ".svg").read():
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


def judge(path, scenario, hook, pid, statuses):
    """(problems, shapes, profile) of one scenario in one kernel."""
    recorded, ended, outputs = statuses
    if recorded or ended or outputs:
        said = open(path + ".summary").read().strip().splitlines() or [""]
        return [f"record {recorded}, workload {ended}, report and flame {outputs}: {said[-1]}"], None, None
    p = Profile(path + ".cprof")
    stamps = test_truth.Stamps(path + ".stamps")
    stamps.late = late_of(path + ".raw", p)
    problems = test_truth.judge(scenario, p, stamps, pid, IN_VM)
    check_counts(p, stamps, problems)
    check_losses(p, problems)
    check_output(path, problems)
    if not p.header["hook"].startswith(hook):
        problems.append(f"the header says hook {p.header['hook']}")
    return problems, shapes(p), p


RULES = ["switches out", "signal pending", "delayed dequeue", "woken before out", "unseen switch", "unseen wake-up", "skipped sample", "no storage"]

# "storage busy" shows as wake-ups that nobody saw and samples that were skipped: the program found no state
WANTED = [("6.1", "pending", "signal pending"), ("6.1", "locker", "unseen wake-up"), ("6.1", "locker", "skipped sample"),
          ("6.12", "signals", "delayed dequeue")]


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
        for rule, word in (("unseen switch", "switch"), ("unseen wake-up", "wake"), ("skipped sample", "sample skipped"), ("no storage", "storage")):
            if word in cause:
                n[rule] += int(loss.get("events", 0))
    return n


def print_rules(rows):
    print("\nrules that depend on the kernel, and how often each was needed:")
    print(f"  {'kernel':7} {'workload':11} {'hook':7}", *(f"{r:>17}" for r in RULES))
    for kernel, scenario, hook, n in rows:
        print(f"  {kernel:7} {scenario:11} {hook:7}", *(f"{n[r]:17}" for r in RULES))
    for kernel in dict.fromkeys(r[0] for r in rows):
        print(f"  {kernel:7} {'all':11} {'':7}", *(f"{sum(n[r] for k, _, _, n in rows if k == kernel):17}" for r in RULES))


def check_rules(rows):
    """Each rule is worth its test only where it was needed."""
    failed = 0
    for kernel, scenario, rule in WANTED:
        counts = [n[rule] for k, s, _, n in rows if (k, s) == (kernel, scenario)]
        if counts and not sum(counts):
            print("FAIL", kernel, scenario, "never needed the rule:", rule)
            failed += 1
    return failed


def replay(folder):
    """The state machine, compiled for user space, on the events of this run."""
    r = run(os.path.join(O, "tests/unit/test_account"), folder)
    good = r.returncode == 0
    print("ok  " if good else "FAIL", "recorded events give the same books in user space", "" if good else r.stdout + r.stderr)
    return good


def test_kernel(version, kernel, hooks, chosen, rows, raws):
    """Boots until each scenario has passed once with each hook. Returns ({(scenario, hook): shapes}, how many failed)."""
    left = [(s, hook, seconds, options, cpus) for s, seconds, cpus, options in SCENARIOS if not chosen or s in chosen for hook in hooks]
    seen = {}
    for attempt, cpus in [(a, c) for a in range(TRIES) for c in (1, 2)]:
        plan = [l[:4] for l in left if l[4] == cpus and (l[0], l[1]) not in seen]
        if not plan:
            continue
        out = os.path.join(O, "vm", f"out-{version}-{attempt + 1}-{cpus}")
        started = time.monotonic()
        for scenario, hook, pid, statuses in boot(kernel, out, plan, cpus):
            path = os.path.join(out, f"{scenario}-{hook}")
            problems, shape, p = judge(path, scenario, hook, pid, statuses)
            took = f"{time.monotonic() - started:.0f} s"
            if problems:
                print(f"     {version} {scenario} {hook}, try {attempt + 1}, {took}:", *problems[:8], sep="\n       ", flush=True)
                continue
            print("ok  ", version, scenario, hook, f"({p.header['hook']}, {took})", flush=True)
            seen[scenario, hook] = shape
            rows.append((version, scenario, hook, rules_of(path + ".raw", p)))
            shutil.copy(path + ".raw", os.path.join(raws, f"{scenario}-{hook}-{version}"))
    missing = [(s, hook) for s, hook, *_ in left if (s, hook) not in seen]
    for scenario, hook in missing:
        print("FAIL", version, scenario, hook)
    return seen, len(missing)


def compare_shapes(seen):
    """Names and states must depend neither on the kernel nor on the hook."""
    failed, cnt = 0, 0
    for scenario, *_ in SCENARIOS:
        all_of = [(version, hook, shape) for version, shapes in seen.items() for (s, hook), shape in shapes.items() if s == scenario]
        for version, hook, shape in all_of[1:]:
            first = all_of[0]
            cnt += 1
            if shape != first[2]:
                print("FAIL", scenario, f"only on {first[:2]}: {sorted(first[2] - shape)}, only on {(version, hook)}: {sorted(shape - first[2])}")
                failed += 1
    print(f"states and functions of blocked time: {cnt} comparisons over kernels and hooks, {failed} differ")
    return failed


def keep_fixture(path, scenario, version):
    shutil.copy(path + ".raw", f"tests/fixtures/account/{scenario}-{version}")
    print(version, scenario, rules_of(path + ".raw", Profile(path + ".cprof")), flush=True)


def record_fixtures(version, kernel):
    out = os.path.join(O, "vm", f"fixtures-{version}")
    for scenario, _, _, statuses in boot(kernel, out, [(s, "switch", *how) for s, *how in FIXTURES], 1):
        if statuses[0]:
            print("no fixture", scenario, statuses)
            continue
        keep_fixture(os.path.join(out, scenario + "-switch"), scenario, version)


def record_fixtures_here():
    """On the kernel that runs now (root)."""
    version = ".".join(os.uname().release.split(".")[:2])
    out = os.path.join(O, "vm", f"fixtures-{version}")
    os.makedirs(out, exist_ok=True)
    for scenario, seconds, options in FIXTURES:
        path = os.path.join(out, scenario)
        work = subprocess.Popen([f"{WORKLOADS}/truth", scenario, path + ".stamps"])
        time.sleep(0.5)
        record(path + ".cprof", "-p", str(work.pid), "--duration", str(seconds), "--per-thread", "--raw-events", path + ".raw", *options.split())
        work.terminate()
        work.wait()
        keep_fixture(path, scenario, version)


def main(args):
    fixtures = "--fixtures" in args
    kernels, hooks = KERNELS, HOOKS
    if "-k" in args:
        kernels = [args[args.index("-k") + 1]]
        args = [a for a in args if a not in ("-k", kernels[0])]
    if "-h" in args:
        hooks = [args[args.index("-h") + 1]]
        args = [a for a in args if a not in ("-h", hooks[0])]
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
    raws = os.path.join(O, "vm", "raw-" + "-".join(kernels))
    shutil.rmtree(raws, ignore_errors=True)
    os.makedirs(raws)
    for version, kernel in images.items():
        if fixtures:
            record_fixtures(version, kernel)
            continue
        seen[version], bad = test_kernel(version, kernel, hooks, chosen, rows, raws)
        failed += bad
    if fixtures:
        if os.geteuid() == 0:
            record_fixtures_here()
        return 0
    print_rules(rows)
    failed += check_rules(rows)
    if not chosen:  # a part has too few events for it
        failed += not replay(raws)
    failed += compare_shapes(seen)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
