#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C: the first ends the window and keeps what was captured. One more, while names are looked up, ends that: the
profile is written with what is known, the rest is [pending], and causeprof symbolize makes up for it. A server of debug
files that never answers is what makes the looking up last."""
import os, pty, select, shutil, signal, socket, subprocess, sys, tempfile, threading, time
from profile import *

need_root()
PROGRAM_PATH = os.path.abspath(PROGRAM)
DEBUG = tempfile.mkdtemp(prefix="causeprof-interrupt-debug.")
DIR = tempfile.mkdtemp(prefix="causeprof-interrupt.")
OUT = os.path.join(DIR, "x.cprof")


class SilentServer:
    """Takes connections and says nothing."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.asked = threading.Event()
        self.connections = []
        threading.Thread(target=self.serve, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def serve(self):
        while True:
            self.connections.append(self.socket.accept()[0])
            self.asked.set()


def own_frames(p):
    """(named, left out) frames of the target's own program."""
    frames = [f for f in p.tables["frame"].values() if f.get("module", "").endswith("/stripped")]
    return sum(1 for f in frames if f.get("name")), sum(1 for f in frames if "pending" in f.get("reason", ""))


def processes_of(session):
    out = subprocess.run(["ps", "-o", "pid=,comm=", "-s", str(session)], capture_output=True, text=True).stdout
    return [l for l in out.splitlines() if l.strip()]


def stop_naming(target, how, options, interrupts, wait_s=3):
    """Sends the signals of interrupts: "window" while it is open, "names" while they are looked up."""
    server = SilentServer()
    env = {**os.environ, "DEBUGINFOD_URLS": server.url(), "DEBUGINFOD_TIMEOUT": "300"}
    c = subprocess.Popen([PROGRAM_PATH, "-p", str(target), *options, "-o", OUT, "--replace", "--no-svg", "--force"],
                         cwd=DIR, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    if "window" in interrupts:
        time.sleep(wait_s)
        c.send_signal(how)
    if not server.asked.wait(60):
        c.kill()
        sys.exit("FAIL no debug file was asked for: the test needs another way to make it wait")
    c.send_signal(how)
    try:
        out, talk = c.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        c.kill()
        check(f"{how.name} while names are looked up ends it", False, "it still waits after a minute")
        c.communicate()
        return
    what = f"{how.name} {' and '.join(interrupts)}"
    check(f"{what}: status 0", c.returncode == 0, (c.returncode, talk))
    p = Profile(OUT)
    if "window" in interrupts and p.end - p.start < 1e8 and wait_s < 60:  # a busy machine: it was not open yet
        return stop_naming(target, how, options, interrupts, wait_s * 3)
    named, pending = own_frames(p)
    check(f"{what}: the program's frames wait for their names", pending and not named, (named, pending))
    total = sum(int(s["ns"]) for s in p.sums)
    check(f"{what}: no time is missing", total == len(p.threads) * (p.end - p.start) and total >= 1e8, (total, p.end - p.start))
    check(f"{what}: it says so", "left without names" in talk and OUT in talk, talk)
    check(f"{what}: the window's end is marked only if it was cut", ("window" in interrupts) == ("interrupted" in p.header.get("flags", "")), p.header)
    check(f"{what}: nobody is left", not processes_of(c.pid), processes_of(c.pid))
    named_path = os.path.join(DIR, "named.cprof")
    subprocess.run([PROGRAM, "symbolize", OUT, "-o", named_path, "--force", "--debug-dirs", DEBUG], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    q = Profile(named_path)
    named, pending = own_frames(q)
    check(f"{what}: symbolize makes up for it", named and not pending and sum(int(s["ns"]) for s in q.sums) == total, (named, pending))
    check(f"{what}: nothing else is left", sorted(os.listdir(DIR)) == ["named.cprof", "stripped", "x.cprof"], os.listdir(DIR))


def on_a_terminal(target):
    """Progress, and what the keyboard's Ctrl-C does."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(DIR)
        os.execv(PROGRAM_PATH, ["causeprof", "-p", str(target), "-o", "t.cprof", "--replace", "--no-svg", "--force"])
    seen = b""
    pressed = None
    ends = time.time() + 60
    while time.time() < ends:
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(fd, 4096)
        except OSError:
            break
        seen += data
        if not pressed and b"4 s, Ctrl-C ends" in seen:
            pressed = time.time()
            os.write(fd, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    text = seen.decode(errors="replace")
    check("progress on a terminal", "3 s, Ctrl-C ends" in text, text)
    check("... and none before two seconds", "1 s, Ctrl-C ends" not in text, text)
    check("Ctrl-C on it ends the window, the summary follows", os.waitstatus_to_exitcode(status) == 0 and "written" in text, text)
    p = Profile(os.path.join(DIR, "t.cprof"))
    check("... with what was captured", 3.5e9 < p.end - p.start < 30e9 and "interrupted" in p.header.get("flags", ""), p.header)
    os.unlink(os.path.join(DIR, "t.cprof"))


def strip(program, path, debug_dir):
    """A copy without names, and what names it in a folder that only symbolize is told of."""
    note = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    build_id = note.split("Build ID:")[1].split()[0]
    os.makedirs(f"{debug_dir}/.build-id/{build_id[:2]}")
    subprocess.run(["objcopy", "--only-keep-debug", program, f"{debug_dir}/.build-id/{build_id[:2]}/{build_id[2:]}.debug"], check=True)
    subprocess.run(["strip", "-o", path, program], check=True)


def main():
    binary = os.path.join(DIR, "stripped")
    strip(f"{WORKLOADS}/truth", binary, DEBUG)
    target = subprocess.Popen([binary, "throughout", "/dev/null"])
    try:
        time.sleep(0.3)
        stop_naming(target.pid, signal.SIGINT, ["--duration", "0.5"], ["names"])
        stop_naming(target.pid, signal.SIGINT, [], ["window", "names"])
        stop_naming(target.pid, signal.SIGTERM, ["--duration", "0.5", "--intervals"], ["names"])
        on_a_terminal(target.pid)
        check("the target lives", target.poll() is None)
    finally:
        target.kill()
        target.wait()
        shutil.rmtree(DIR)
        shutil.rmtree(DEBUG)
    return exit_status()


sys.exit(main())
