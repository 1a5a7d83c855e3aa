#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How many stacks of stock programs reach a root, by unwind rows and by frame pointers alone. Each program that is
installed is started privately under a short load; all its processes are captured. A root is a stack whose outermost
frame is no "[walk stopped ...]" mark: with rows, an undefined return address; frame pointers know no root, so there
the outermost frame must be a function that starts threads or processes. The C and C++ servers are captured once more
while bpftrace holds return probes on functions that lie on most of their stacks.
usage: bench_roots.py [PROGRAM...]"""
import os, platform, random, shutil, signal, socket, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
from profile import *

need_root()
os.environ["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin:" + os.environ["PATH"]  # the distribution's programs first
SECONDS, LOAD_SECONDS = 1.5, 60
START = {"_start", "__libc_start_main", "__libc_start_main@@GLIBC_2.34", "__libc_start_call_main", "clone", "__clone", "clone3",
         "__clone3", "start_thread", "_dl_start_user", "__restore_rt", "__start_context", "ret_from_fork_asm", "vfork"}
DIR = tempfile.mkdtemp(prefix="causeprof-roots.")
QUIET = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
started = []
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends, too


def run(*command, **kw):
    return subprocess.run(command, check=True, **{**QUIET, **kw})


def spawn(*command, **kw):
    child = subprocess.Popen(command, **{**QUIET, **kw})
    started.append(child)
    return child


def tree(pid):
    """The process and its descendants."""
    out, todo = [], [pid]
    while todo:
        p = todo.pop()
        try:
            kids = [k for t in os.listdir(f"/proc/{p}/task") for k in open(f"/proc/{p}/task/{t}/children").read().split()]
        except OSError:
            continue
        out.append(p)
        todo += map(int, kids)
    return out


def stop(pid):
    """Ends the tree, by number: politely, then not."""
    pids = tree(pid)
    for sig, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 2)):
        for p in pids:
            try:
                os.kill(p, sig)
            except ProcessLookupError:
                pass
        end = time.monotonic() + patience
        while time.monotonic() < end:
            for s in started:
                s.poll()
            if not any(os.path.exists(f"/proc/{p}") and "Z" not in open(f"/proc/{p}/stat").read().rsplit(")", 1)[1][:3] for p in pids):
                return
            time.sleep(0.05)


def wait_for(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise TimeoutError("it did not start")
        time.sleep(0.1)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def write(name, text):
    path = os.path.join(DIR, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def mariadb():
    db = os.path.join(DIR, "db")
    pid = int(subprocess.run(["scripts/mariadb", "start", db], check=True, capture_output=True, text=True).stdout)
    spawn("scripts/mariadb", "load", db, str(LOAD_SECONDS))
    return pid


def redis():
    sock = os.path.join(DIR, "redis.sock")
    server = spawn("redis-server", "--port", "0", "--unixsocket", sock, "--dir", DIR, "--save", "1 1000", "--io-threads", "2")
    wait_for(lambda: os.path.exists(sock))
    spawn("timeout", str(LOAD_SECONDS), "redis-benchmark", "-s", sock, "-c", "8", "-n", "100000000", "-t", "set,get,lpush")
    return server.pid


HTTP_CLIENT = """
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
end = time.time() + float(sys.argv[2])
while time.time() < end:
    s.sendall(b"GET /page HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    while not s.recv(65536).endswith(b"END\\n"):
        pass
"""


def nginx():
    port = free_port()
    write("page", "x" * 20000 + "END\n")
    os.chmod(DIR, 0o755)
    conf = write("nginx.conf", f"""pid {DIR}/nginx.pid; error_log {DIR}/nginx.log; worker_processes 2; daemon off;
events {{}} http {{ access_log {DIR}/access.log; keepalive_requests 100000000; client_body_temp_path {DIR}/b; proxy_temp_path {DIR}/p;
fastcgi_temp_path {DIR}/f; uwsgi_temp_path {DIR}/u; scgi_temp_path {DIR}/s; server {{ listen 127.0.0.1:{port}; root {DIR}; gzip on; }} }}""")
    server = spawn("nginx", "-c", conf)

    def answers():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0
    wait_for(answers)
    for _ in range(4):
        spawn("python3", "-c", HTTP_CLIENT, str(port), str(LOAD_SECONDS))
    return server.pid


def postgresql():
    tools = sorted(os.path.join("/usr/lib/postgresql", v, "bin") for v in os.listdir("/usr/lib/postgresql"))[-1]
    home = os.path.join(DIR, "pg")
    os.mkdir(home)
    os.chmod(DIR, 0o755)
    shutil.chown(home, "postgres")

    def as_postgres(*command):
        return "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command
    run(*as_postgres(f"{tools}/initdb", "-A", "trust", "-D", f"{home}/data", "--no-sync"), cwd=home)
    server = spawn(*as_postgres(f"{tools}/postgres", "-D", f"{home}/data", "-k", home, "-h", ""), cwd=home)
    wait_for(lambda: subprocess.run([f"{tools}/pg_isready", "-h", home], **QUIET).returncode == 0)
    run(*as_postgres("pgbench", "-h", home, "-i", "-q", "postgres"), cwd=home)
    spawn(*as_postgres("pgbench", "-h", home, "-c", "6", "-T", str(LOAD_SECONDS), "postgres"), cwd=home)
    return server.pid


PYTHON_SCRIPT = """
import json, queue, threading, time, zlib
q = queue.Queue()
def produce():
    while True:
        q.put(json.dumps(list(range(300)))); time.sleep(0.002)
def consume():
    while True:
        zlib.compress(q.get().encode())
for f in (produce, produce, consume, consume): threading.Thread(target=f, daemon=True).start()
time.sleep(%d)
""" % LOAD_SECONDS


def python():
    return spawn("python3", write("load.py", PYTHON_SCRIPT)).pid


JAVA_CLASS = """
import java.util.concurrent.*;
public class Load {
    static long sum(int n) { long s = 0; for (int i = 0; i < n; i++) s += Integer.toString(i).hashCode(); return s; }
    public static void main(String[] a) throws Exception {
        BlockingQueue<Long> q = new LinkedBlockingQueue<>(64);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> { try { while (true) { q.put(sum(2000)); Thread.sleep(1); } } catch (Exception e) { } }).start();
            new Thread(() -> { try { while (true) { q.take(); sum(500); } } catch (Exception e) { } }).start();
        }
        Thread.sleep(%d000L); System.exit(0);
    }
}
""" % LOAD_SECONDS


def java():
    write("Load.java", JAVA_CLASS)
    run("javac", "-d", DIR, os.path.join(DIR, "Load.java"))
    pid = spawn("java", "-XX:+PreserveFramePointer", "-Xmx128m", "-cp", DIR, "Load").pid
    time.sleep(3)
    run("jcmd", str(pid), "Compiler.perfmap")
    return pid


NODE_SCRIPT = """
const fs = require("fs"), crypto = require("crypto");
function work(n) { let s = 0; for (let i = 0; i < n; i++) s += JSON.stringify({ i, s }).length; return s; }
setInterval(() => work(2000), 5);
setInterval(() => fs.readFile(__filename, () => crypto.pbkdf2("a", "b", 2000, 32, "sha256", () => work(200))), 7);
setTimeout(() => process.exit(), %d000);
""" % LOAD_SECONDS


def node():
    pid = spawn("node", "--perf-basic-prof", write("load.js", NODE_SCRIPT), cwd=DIR).pid
    time.sleep(2)
    return pid


PAGE = ("data:text/html,<p id=p></p><script>let n=0;function tick(){for(let i=0;i<20000;i++)n+=String(i).length;"
        "document.getElementById('p').textContent=n}setInterval(tick,10)</script>")


def chromium():
    pid = spawn("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--remote-debugging-port=0", f"--user-data-dir={DIR}/chromium", PAGE, env={**os.environ, "HOME": DIR, "TMPDIR": DIR}).pid
    time.sleep(5)
    return pid


# name: what must be installed, how to start it, functions for another tracer's return probes
PROGRAMS = {
    "MariaDB": (("mariadbd", "sysbench"), mariadb, ("mariadbd", ("*dispatch_command*", "*do_command*", "*mysql_execute_command*"))),
    "Redis": (("redis-server", "redis-benchmark"), redis, ("redis-server", ("aeProcessEvents", "processCommand", "call"))),
    "nginx": (("nginx",), nginx, ("nginx", ("ngx_process_events_and_timers", "ngx_http_process_request"))),
    "PostgreSQL": (("/usr/lib/postgresql", "pgbench", "setpriv"), postgresql, ("postgres", ("exec_simple_query", "ProcessQuery", "WaitEventSetWait"))),
    "Python": (("python3",), python, None),
    "OpenJDK": (("java", "javac", "jcmd"), java, None),
    "Node": (("node",), node, None),
    "Chromium": (("chromium",), chromium, None),
}


class Shares:
    """What of one profile the tables show."""
    def __init__(self, p):
        self.cnt = self.ns = self.rooted_cnt = self.rooted_ns = self.blocked_ns = self.rooted_blocked_ns = self.io_cnt = 0
        self.start_cnt = self.fp_cnt = self.frame_ns = self.unnamed_ns = 0
        self.ends, self.unnamed = {}, {}
        frames = {}
        for key, f in p.tables.get("frame", {}).items():
            frames[key] = (f.get("name", ""), f.get("kind", "user"), f.get("reason", "ok"), "by_fp" in f.get("flags", ""),
                           os.path.basename(f.get("module", "")))
        self.stacks, self.all_frames, memo = p.tables.get("stack", {}), frames, {}
        for s in p.sums:
            stack = num(s, "stack")
            if stack:
                if stack not in memo:
                    memo[stack] = self.chain(stack)
                self.add(s, memo[stack])

    def chain(self, stack):
        out = []
        while stack:
            s = self.stacks[stack]
            out.append(self.all_frames[int(s["frame"])])
            stack = int(s.get("parent", 0))
        return out

    def add(self, s, chain):
        n, ns, outermost = num(s, "cnt"), num(s, "ns"), chain[-1]
        if outermost[0] == "[io_uring worker]":
            self.io_cnt += n
            return
        blocked = ns if s["kind"] in BLOCKED else 0
        self.cnt += n
        self.ns += ns
        self.blocked_ns += blocked
        if outermost[1] == "mark":
            below = chain[-2] if len(chain) > 1 else ("", "", "ok", False, "")
            key = (outermost[0], below[0] or below[2], below[4])
            self.ends[key] = self.ends.get(key, 0) + n
        else:
            self.rooted_cnt += n
            self.rooted_ns += ns
            self.rooted_blocked_ns += blocked
        last_code = next((f for f in reversed(chain) if f[1] != "mark"), outermost)
        self.start_cnt += n if last_code[0] in START else 0
        self.fp_cnt += n if any(f[3] for f in chain) else 0
        code = [f for f in chain if f[1] != "mark"]
        self.frame_ns += ns * len(code)
        for f in code:
            if f[2] != "ok":
                self.unnamed_ns += ns
                key = f"{f[2]} {f[4]}".strip()
                self.unnamed[key] = self.unnamed.get(key, 0) + ns


def percent(part, whole):
    if not whole:
        return "-"
    text = f"{100 * part / whole:.2f} %"
    return "< 100 %" if text == "100.00 %" and part < whole else text


def top(counts, total, limit=3):
    return "; ".join(f"{' '.join(k) if isinstance(k, tuple) else k} {percent(v, total)}"
                     for k, v in sorted(counts.items(), key=lambda x: (-x[1], x[0]))[:limit])


def capture(pid, *args):
    """All processes of the program; children may end between the list and the capture, so three attempts."""
    for attempt in range(3):
        try:
            pids = ",".join(map(str, tree(pid)))
            return Shares(record(os.environ.get("KEEP") or os.path.join(DIR, "x.cprof"), "-p", pids, "--duration", str(SECONDS), *args))
        except subprocess.CalledProcessError:
            if attempt == 2:
                raise


def with_probes(pid, file, functions):
    """One more capture under another tracer's return probes; None if it cannot set them."""
    if not shutil.which("bpftrace"):
        return None
    path = os.readlink(f"/proc/{pid}/exe")
    probes = ",".join(f"uretprobe:{path}:{f}" for f in functions)
    tracer = spawn("bpftrace", "-e", probes + ' { @n = count(); } BEGIN { printf("ready\\n"); }', stdout=subprocess.PIPE, text=True)
    try:
        for line in tracer.stdout:
            if "ready" in line:
                time.sleep(0.5)  # threads that already are in one of the functions leave it
                return capture(pid)
        return None
    finally:
        stop(tracer.pid)


def row(name, s):
    return (f"{name:26} {s.cnt:8d} {percent(s.rooted_cnt, s.cnt):>9} {percent(s.rooted_blocked_ns, s.blocked_ns):>9} {s.io_cnt:6d} "
            f"{percent(s.fp_cnt, s.cnt):>9} {percent(s.unnamed_ns, s.frame_ns):>9} {percent(s.start_cnt, s.cnt):>9}")


def measure(name):
    needs, start, probes = PROGRAMS[name]
    missing = [n for n in needs if not (os.path.exists(n) if n[0] == "/" else shutil.which(n))]
    if missing:
        print(f"{name:26} skipped: {', '.join(missing)} not installed")
        return
    notes = []
    pid = 0
    try:
        pid = start()
        time.sleep(1)
        results = [(name, capture(pid)), ("  --unwind fp", capture(pid, "--unwind", "fp"))]
        if probes:
            results.append(("  with return probes", with_probes(pid, *probes)))
        for label, s in results:
            print(row(label, s) if s else f"{label:26} skipped: bpftrace cannot set them", flush=True)
            if s and s.ends:
                notes.append(f"    {label.strip()}: ends early at {top(s.ends, s.cnt, 3 if 'fp' in label else 8)}")
            if s and s.unnamed and "fp" not in label:
                notes.append(f"    {label.strip()}: unnamed: {top(s.unnamed, s.frame_ns)}")
        print("\n".join(notes), flush=True)
    except (OSError, subprocess.CalledProcessError, TimeoutError) as e:
        print(f"{name:26} skipped: {e}", flush=True)
    finally:
        for s in [*([pid] if pid else []), *(s.pid for s in started)]:
            stop(s)
        for s in started:
            s.wait()
        started.clear()


cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
print(f"{cpu}, {os.cpu_count()} CPUs, kernel {platform.release()}; {SECONDS} s each")
print("root, blocked: share of stacks (waits and samples) and of blocked time that end at a root; iou: waits of io_uring workers, not counted\n"
      "in the others; by fp: stacks with a frame found by its frame pointer; unnamed: of the time in all frames; start: outermost frame is a\n"
      "function that starts threads or processes")
print(f"{'':26} {'stacks':>8} {'root':>9} {'blocked':>9} {'iou':>6} {'by fp':>9} {'unnamed':>9} {'start':>9}")
try:
    for program in sys.argv[1:] or PROGRAMS:
        measure(program)
finally:
    shutil.rmtree(DIR, ignore_errors=True)
