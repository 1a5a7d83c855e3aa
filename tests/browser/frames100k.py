# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded text whose picture has about 100,000 frames of at least 0.1 pixel: 9,000 stacks with a trunk of
their own. With a number as argument: so many distinct stacks, of which most are too narrow to be drawn."""
import random
import sys

random.seed(11)
names = ["%s_%d" % (random.choice(["read", "write", "parse", "commit", "lock", "alloc", "hash"]), i)
         for i in range(3000)]
count = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
out = []
for i in range(count):
    stack = ["server", "worker_%d" % (i * 12 // count), "handler_%d" % (i * 150 // count)]
    stack += ["step_%d" % (i * 1500 // count), "stack_%d" % i]
    stack += [names[(i * 37 + d * 101) % 3000] for d in range(10 + i % 4)]
    out.append("%s;[%s] %d\n" % (";".join(stack), ("running", "sleep", "disk")[i % 7 % 3], 90 + i % 21))
random.shuffle(out)
sys.stdout.write("".join(out))
