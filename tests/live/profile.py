# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile as a test sees it: the text of "causeprof dump", and what ran when. Shared by the live tests."""
import os, re, signal, subprocess, sys, tempfile

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


def need_root():
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(77)
