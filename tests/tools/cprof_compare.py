#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what the second reader finds in a file with what "causeprof dump" printed of it.
usage: cprof_compare.py FORMAT.md FILE.cprof DUMP.txt"""
import re
import sys

import cprof_reader

NAMES = {
    "kind": "none running preempted woken sleep disk stopped traced parked idle".split(),
    "frame.kind": "user kernel mark jit interpreted".split(),
    "direction": "sent received".split(),
    "reason": ["ok", "[pending]", "[no map]", "[stripped]", "[deleted]", "[replaced]", "[anon]", "[unreadable]",
               "[kernel addresses hidden]", "[no kernel symbol]", "[exited]", "[bad file]"],
    "cause": ["sum map full", "stack map full", "map update busy", "no task storage", "program recursion",
              "ring full: stack", "ring full: interval", "ring full: thread", "walk stopped",
              "stack page not resident", "sampling throttled", "sample skipped", "kprobe missed",
              "return probe missed", "wake-up not seen", "scratch memory busy", "negative time",
              "process map full", "switch unseen", "resume unseen", "malformed record"],
    "frame.flags": "inlined by_fp signal exact_pc".split(),
    "thread.flags": "kernel born died asleep_throughout idle no_witness".split(),
    "header.flags": "has_intervals interrupted imported".split(),
    "flags": "cut_start cut_end asleep_throughout filtered not_sampled".split(),
}
SECTION = {"string": "strings", "header": "facts", "process": "processes", "loss": "loss"}


def unquote(text):
    out, at = bytearray(), 0
    raw = text.encode("utf-8", "surrogateescape")[1:-1]
    while at < len(raw):
        if raw[at:at + 2] == b"\\x":
            out.append(int(raw[at + 2:at + 4], 16))
            at += 4
        elif raw[at:at + 1] == b"\\":
            out += {b"n": b"\n", b"t": b"\t"}.get(raw[at + 1:at + 2], raw[at + 1:at + 2])
            at += 2
        else:
            out.append(raw[at])
            at += 1
    return bytes(out)


def value(table, field, text, strings):
    if text[0] == '"' and field not in NAMES:
        return strings.index(unquote(text))
    if text == "unknown":
        return (1 << 64) - 1
    if field == "build_id":
        return int.from_bytes(bytes.fromhex(text), "little")
    names = NAMES.get(f"{table}.{field}") or NAMES.get(field, [])
    words = [text.strip('"')] if field in ("kind", "direction", "reason", "cause") else text.split("|")
    total = 0
    for word in words:
        if word in names:
            total += names.index(word) if "flags" not in field else 1 << names.index(word)
        else:
            total += int(word, 0)
    return total


def dumped(lines):
    strings = [b""]
    for line in lines[1:]:
        table, rest = line.split(" ", 1) if " " in line else (line, "")
        if table == "string":
            strings.append(unquote(rest))
            yield "strings", {"hex": strings[-1].hex()}
            continue
        fields = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', rest)
        yield SECTION.get(table, table + "s"), {k: value(table, k, v, strings) for k, v in fields}


def main():
    schema, facts = cprof_reader.tables(open(sys.argv[1], encoding="utf-8").read())
    text = open(sys.argv[3], encoding="utf-8", errors="surrogateescape").read()
    ours, header = list(dumped(text.rstrip("\n").split("\n"))), {}
    theirs = []
    for table, r in cprof_reader.read(sys.argv[2], schema):
        if table == "facts":
            header[facts[r["number"]]] = r["value"]
        else:
            theirs.append((table, r))
    ours_header = next(r for t, r in ours if t == "facts")
    ours = [x for x in ours if x[0] != "facts"]
    assert {k: v for k, v in header.items() if v} == ours_header, (header, ours_header)
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    for (table_a, a), (table_b, b) in zip(ours, theirs):
        full = {k: v for k, v in b.items() if v or k == "hex"}
        assert table_a == table_b and {k: v for k, v in a.items() if v or k == "hex"} == full, (table_a, a, full)
    print(f"{len(ours)} records and {len(header)} facts agree")


if __name__ == "__main__":
    main()
