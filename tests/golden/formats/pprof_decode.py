#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a pprof file by the protobuf wire format alone: types, totals, mappings, stacks with their labels."""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            sys.exit('wire type %d' % (tag & 7))
        found.append((tag >> 3, value))
    return found


def numbers(message, number):
    found = []
    for key, value in message:
        if key != number:
            continue
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = varint(value, at)
            found.append(item)
    return found


def one(data, number):
    return (numbers(fields(data), number) or [0])[0]


profile = fields(gzip.open(sys.argv[1]).read())
strings = [v.decode() for k, v in profile if k == 6]
assert strings[0] == ''
functions = {one(v, 1): strings[one(v, 2)] for k, v in profile if k == 5}
mappings = {one(v, 1): strings[one(v, 5)] for k, v in profile if k == 3}
assert 0 not in mappings and 0 not in functions
locations = {}
for k, v in profile:
    if k == 4:
        lines = [functions[one(line, 1)] for n, line in fields(v) if n == 4]
        mapping = one(v, 2)
        assert not mapping or mapping in mappings
        locations[one(v, 1)] = '+'.join(lines) or hex(one(v, 3))
types = [(strings[one(v, 1)], strings[one(v, 2)]) for k, v in profile if k == 1]
print('types', types, 'default', strings[numbers(profile, 14)[0]])
print('mappings', sorted(mappings.values()))
samples = [fields(v) for k, v in profile if k == 2]
for s in samples:
    values = numbers(s, 2)
    assert len(values) == len(types)
    labels = ['%s=%s' % (strings[one(v, 1)], strings[one(v, 2)] or one(v, 3)) for k, v in s if k == 3]
    print(' '.join(locations[i] for i in numbers(s, 1)), values, labels)
