# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that wait and compute in known chains of Python functions. What each is doing is told by the interpreter
itself (sys._current_frames), as lines "stack NAME TID FUNCTION@LINE ..." (leaf first), between "begin" and "end"."""
import ctypes, os, re, socket, sys, threading, time

STEP_S = 0.01


def chain_a():
    while True:
        chain_b()


def chain_b():
    chain_c()


def chain_c():
    time.sleep(STEP_S)


def lock_wait():
    lock = threading.Lock()
    lock.acquire()
    while True:
        lock_try(lock)


def lock_try(lock):
    lock.acquire(timeout=STEP_S)


def recv_outer():
    a, b = socket.socketpair()
    b.setblocking(True)
    recv_inner(a)


def recv_inner(a):
    a.recv(1)  # for ever


def recv_timeout():
    a, b = socket.socketpair()
    a.settimeout(STEP_S)
    while True:
        try:
            a.recv(1)
        except TimeoutError:
            pass


def generate_inner():
    while True:
        time.sleep(STEP_S)
        yield 1


def generate_outer():
    yield from generate_inner()


def generator_user():
    for _ in generate_outer():
        pass


def sort_key(x):
    time.sleep(STEP_S)
    return x


def sort_user():
    while True:
        sorted([2, 1], key=sort_key)


def replace_one(match):
    time.sleep(STEP_S)
    return "y"


def regex_user():
    while True:
        re.sub("x", replace_one, "axbx")


def c_compare(a, b):
    time.sleep(STEP_S)
    return 0


def c_callback_user():
    libc = ctypes.CDLL(None)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(c_compare)
    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    while True:
        libc.qsort(numbers, 4, 4, compare)


def recurse(n):
    if n > 1:
        recurse(n - 1)
    else:
        time.sleep(STEP_S)


def recursion_110():
    while True:
        recurse(110)


def recursion_300():
    while True:
        recurse(300)


class Shop:
    def open(self):
        return [self.sell(i) for i in range(3)]

    def sell(self, i):
        (lambda: time.sleep(STEP_S))()


def methods():
    while True:
        Shop().open()


def größe_messen():
    while True:
        time.sleep(STEP_S)


def spin_outer():
    while True:
        spin_inner()


def spin_inner():
    n = 0
    for i in range(2000):
        n += i * i
    return n


def newborn():
    time.sleep(STEP_S)


def births():
    while True:
        t = threading.Thread(target=newborn, name="newborn")
        t.start()
        t.join()


def parent():
    while True:
        pid = os.fork()
        if not pid:
            child_wait()
        os.waitpid(pid, 0)


def child_wait():
    time.sleep(5 * STEP_S)
    os._exit(0)


STEADY = [chain_a, lock_wait, recv_outer, recv_timeout, generator_user, sort_user, regex_user, c_callback_user,
          recursion_110, recursion_300, methods, größe_messen]
MOVING = [spin_outer, births, parent]


def stack_of(frame):
    out = []
    while frame:
        code = frame.f_code
        out.append(f"{code.co_qualname}@{os.path.basename(code.co_filename)}:{frame.f_lineno}".replace(" ", "_"))
        frame = frame.f_back
    return out


def main():
    sys.setrecursionlimit(5000)
    wanted = sys.argv[1:]
    threads = []
    for f in STEADY + MOVING:
        if wanted and f.__name__ not in wanted:
            continue
        t = threading.Thread(target=f, name=f.__name__, daemon=True)
        t.start()
        threads.append(t)
    time.sleep(0.3)
    seen = set()
    for _ in range(60):
        frames = sys._current_frames()
        for t in threads:
            if t.ident in frames:
                seen.add(f"stack {t.name} {t.native_id} " + " ".join(stack_of(frames[t.ident])))
        del frames
        time.sleep(0.0037)
    print("begin", *sorted(seen), "end", sep="\n", flush=True)
    sys.stdin.read()


main()
