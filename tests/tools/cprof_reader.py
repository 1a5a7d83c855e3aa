#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second reader of .cprof files, made from docs/FORMAT.md alone: prints one line a record, NAME=NUMBER.
It takes tables and their columns from the document itself, so that a test that compares it with "causeprof
dump" also tests the document. Needs the zstd command. usage: cprof_reader.py FORMAT.md FILE.cprof"""
import re
import subprocess
import sys

M = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotl(v, n):
    return (v << n | v >> (64 - n)) & M


def xxh64(data):
    def step(acc, lane):
        return rotl((acc + lane * P2) & M, 31) * P1 & M

    def number(at, n):
        return int.from_bytes(data[at:at + n], "little")

    at = 0
    if len(data) >= 32:
        v = [(P1 + P2) & M, P2, 0, -P1 & M]
        while at + 32 <= len(data):
            v = [step(v[i], number(at + 8 * i, 8)) for i in range(4)]
            at += 32
        h = (rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)) & M
        for x in v:
            h = ((h ^ step(0, x)) * P1 + P4) & M
    else:
        h = P5
    h = (h + len(data)) & M
    while at + 8 <= len(data):
        h = (rotl(h ^ step(0, number(at, 8)), 27) * P1 + P4) & M
        at += 8
    if at + 4 <= len(data):
        h = (rotl(h ^ number(at, 4) * P1 & M, 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


def tables(document):
    """Section number -> (name, [(field, width, coding)]), and fact number -> name."""
    ret, facts, current = {}, {}, None
    for line in document.splitlines():
        heading = re.match(r"### (\d+): (\w+)", line)
        row = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else []
        if heading:
            current = int(heading[1])
            ret[current] = (heading[2], [])
        elif current == 2 and row and row[0].isdigit():
            facts[int(row[0])] = row[1]
        elif current and len(row) == 4 and row[1].isdigit():
            ret[current][1].append((row[0], int(row[1]), row[2]))
        elif line.startswith("## What"):
            break
    ret[2] = ("facts", [("number", 4, "plain"), ("value", 8, "plain")])
    return ret, facts


def column(raw, at, cnt, width):
    planes = [raw[at + k * cnt:at + (k + 1) * cnt] for k in range(width)]
    return [int.from_bytes(bytes(p[i] for p in planes), "little") for i in range(cnt)]


def records(fields, raw, cnt, record_bytes):
    at, columns = 0, {}
    for name, width, coding in fields:
        if at + width > record_bytes:
            break
        values, before = column(raw, at * cnt, cnt, width), None
        for i in range(cnt):
            if coding == "delta" and i:
                values[i] = (values[i] + values[i - 1]) % (1 << 8 * width)
            elif coding == "span":
                values[i] = (values[i] + columns[last][i]) % (1 << 8 * width)
        columns[name], last, at = values, name, at + width
    return [{n: c[i] for n, c in columns.items()} for i in range(cnt)]


def read(path, schema):
    data = open(path, "rb").read()
    number = lambda at, n: int.from_bytes(data[at:at + n], "little")  # noqa: E731
    directory, cnt, end = number(24, 8), number(32, 4), 64
    assert data[:8] == b"\x89CPROF\r\n" and number(8, 4) == 1 and number(12, 4) == 0
    assert number(16, 8) == len(data) and number(56, 8) == xxh64(data[:56])
    assert directory + 48 * cnt == len(data) and number(40, 8) == xxh64(data[directory:])
    for at in range(directory, len(data), 48):
        kind, record_bytes, cnt = number(at, 4), number(at + 4, 4), number(at + 8, 8)
        start, stored, size = number(at + 16, 8), number(at + 24, 8), number(at + 32, 8)
        assert start == end and number(at + 40, 8) == xxh64(data[start:start + stored])
        end += stored
        raw = subprocess.run(["zstd", "-dcq"], input=data[start:end], capture_output=True, check=True).stdout
        assert len(raw) == size
        if kind == 1:
            ends = 4 * cnt
            for length in column(raw, 0, cnt, 4):
                yield "strings", {"hex": raw[ends:ends + length].hex()}
                ends += length
            assert ends == size
        elif kind in schema:
            assert cnt * record_bytes == size
            for r in records(schema[kind][1], raw, cnt, record_bytes):
                yield schema[kind][0], r
    assert end == directory


def main():
    schema, facts = tables(open(sys.argv[1], encoding="utf-8").read())
    for table, r in read(sys.argv[2], schema):
        if table == "facts":
            r = {facts[r["number"]]: r["value"]}
        print(table, *(f"{k}={v:x}" if isinstance(v, int) else f"{k}={v}" for k, v in r.items()))


if __name__ == "__main__":
    main()
