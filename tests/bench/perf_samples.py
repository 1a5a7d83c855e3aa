#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a perf.data file of one sample an address, for benchmarks: perf script then resolves exactly the addresses that
the other tools get. Usage: perf_samples.py OUT COUNT FILE...; writes OUT and, with each file's own addresses as its
symbols count, OUT.0, OUT.1, ... Samples of the files alternate."""
import struct, subprocess, sys

SAMPLE_IP, SAMPLE_TID = 1, 2
ATTR_BYTES = 128
BASES = [0x555555554000, 0x7FFFF0000000]


def code_segment(path):
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
    for line in text.splitlines():
        f = line.split()
        if f[:1] == ["LOAD"] and " R E " in line:
            return int(f[1], 16), int(f[2], 16), int(f[5], 16)
    sys.exit(f"{path}: no executable segment")


def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


def padded(name):
    return name + b"\0" * (8 - len(name) % 8)


def main(out, count, files):
    attr = struct.pack("<IIQQQQQ", 1, ATTR_BYTES, 0, 1000000, SAMPLE_IP | SAMPLE_TID, 0, 0).ljust(ATTR_BYTES, b"\0")
    data = [record(3, struct.pack("<II", 100, 100) + padded(b"bench"))]
    lists = []
    for number, path in enumerate(files):
        offset, vaddr, size = code_segment(path)
        base, page = BASES[number], vaddr & ~4095
        length = (vaddr + size - page + 4095) & ~4095
        data.append(record(1, struct.pack("<IIQQQ", 100, 100, base + page, length, offset & ~4095) + padded(path.encode())))
        seed, addrs = 1, []
        for _ in range(count // len(files)):
            seed = (seed * 1103515245 + 12345) % 2147483648
            addrs.append(vaddr + seed % size)
        with open(f"{out}.{number}", "w") as f:
            f.writelines("0x%x\n" % a for a in addrs)
        lists.append([base + a for a in addrs])
    for addrs in zip(*lists):
        data += [record(9, struct.pack("<QII", a, 100, 100)) for a in addrs]
    data = b"".join(data)
    ids, attrs = 104, 112
    start = attrs + ATTR_BYTES + 16
    head = b"PERFILE2" + struct.pack("<8Q", 104, ATTR_BYTES + 16, attrs, ATTR_BYTES + 16, start, len(data), 0, 0) + bytes(32)
    with open(out, "wb") as f:
        f.write(head + struct.pack("<Q", 1) + attr + struct.pack("<QQ", ids, 8) + data)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
