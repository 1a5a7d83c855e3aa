#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each needed capability is taken away in turn: the capture says so in one line that names it, with the right status,
and the doctor marks it. With the four that the doctor recommends, and nothing else, an ordinary user captures."""
import json, os, shutil, subprocess, sys, tempfile, time
from profile import *

need_root()
if not shutil.which("setpriv"):
    print("setpriv is not installed")
    sys.exit(77)
DIR = tempfile.mkdtemp(prefix="causeprof-capabilities.")
os.chmod(DIR, 0o777)
binary = os.path.join(DIR, "causeprof")  # where every user may start it
shutil.copy(PROGRAM, binary)
NEEDED = ["bpf", "perfmon", "sys_ptrace", "syslog"]
NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]
OTHER = ["--reuid=65533", "--regid=65533", "--clear-groups"]
failed = 0


def say(what, problems):
    global failed
    print("ok  " if not problems else "FAIL", what, *problems)
    failed += bool(problems)


def limited(caps, *args):
    """Runs causeprof as an ordinary user with exactly these capabilities."""
    plus = ",".join("+" + c for c in caps)
    sets = ["--inh-caps", "-all" + ("," + plus if plus else ""), "--ambient-caps", "-all" + ("," + plus if plus else "")]
    return subprocess.run(["setpriv", *OTHER, *sets, binary, *args], capture_output=True, text=True, cwd=DIR)


def capture(caps, *what):
    out = os.path.join(DIR, "x.cprof")
    what = what or ("-p", str(target.pid))
    result = limited(caps, *what, "--duration", "0.1", "-o", out, "--no-svg", "-q", "--force")
    there = os.path.exists(out)
    if there:
        os.unlink(out)
    return result, there


def states(caps):
    result = limited(caps, "doctor", "--json")
    report = json.loads(result.stdout)
    return result.returncode, report["capture_possible"], {f["name"]: f["state"] for f in report["findings"]}


target = subprocess.Popen(["setpriv", *NOBODY, "sleep", "600"])
time.sleep(0.3)
restrict = open("/proc/sys/kernel/kptr_restrict").read().strip()
try:
    result, there = capture(NEEDED)
    if restrict == "2":
        print("kptr_restrict is 2: addresses are hidden from everybody; CAP_SYSLOG is not tried")
        NEEDED.remove("syslog")
        result.stderr = ""
    say("all four", [] if (result.returncode, there, result.stderr) == (0, True, "") else [result])
    code, possible, found = states(NEEDED)
    say("doctor, all four", [] if (code, possible) == (0, True) else [code, found])
    for missing in NEEDED:
        caps = [c for c in NEEDED if c != missing]
        name = "CAP_" + missing.upper()
        fatal = missing in ("bpf", "perfmon")
        result, there = capture(caps)
        lines = result.stderr.splitlines()
        good = len(lines) == 1 and name in lines[0] and result.returncode == int(fatal) and there != fatal
        # none of the others is blamed
        good = good and not [c for c in caps if "CAP_" + c.upper() in lines[0]]
        say(f"without {name}", [] if good else [result, there])
        result, _ = capture(caps, "-a")
        lines = result.stderr.splitlines()
        good = len(lines) == 1 and name in lines[0] and result.returncode == int(fatal)
        say(f"without {name}, all processes", [] if good else [result])
        code, possible, found = states(caps)
        good = code == int(fatal) and possible != fatal and found[name] == ("missing" if fatal else "limited")
        good = good and all(found["CAP_" + c.upper()] == "ok" for c in caps)
        say(f"doctor without {name}", [] if good else [code, possible, found])
    result, there = capture([])
    lines = result.stderr.splitlines()
    good = len(lines) == 1 and "CAP_BPF and CAP_PERFMON" in lines[0] and result.returncode == 1 and not there
    say("without any", [] if good else [result])
finally:
    target.kill()
    target.wait()
    shutil.rmtree(DIR)
sys.exit(failed > 0)
