# SPDX-License-Identifier: GPL-2.0-or-later
"""Frame by frame against the peers, on their own test inputs: name, depth, x, width, value.

usage: conformance.py PROGRAM CASES [FLAMEGRAPH.PL]
CASES has files/inferno (inputs and the SVGs that inferno's tests expect) and files/FlameGraph (inputs).
flamegraph.pl, if given, is run on inputs of both. accepted.txt lists the differences that stay, each with the
place where it is discussed; a line there that nothing needs is a failure too."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frames import frames, match

program, cases = sys.argv[1:3]
perl = sys.argv[3] if len(sys.argv) > 3 else None
inferno = os.path.join(cases, "files/inferno/tests/data/flamegraph/")
stacks = os.path.join(cases, "files/FlameGraph/test/results/")
accepted = {}
for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "accepted.txt")):
    if line.strip() and not line.startswith("#"):
        key, reason = line.rstrip("\n").split("  ", 1)
        accepted[key] = reason
used, failed, compared = set(), 0, 0


def report(kind, name, extra, missing):
    global failed, compared
    compared += 1
    if not extra and not missing:
        return
    key = kind + ":" + name
    if key in accepted:
        used.add(key)
        return
    failed += 1
    print("DIFF %s: %d frames only ours %s, %d only theirs %s" % (key, len(extra), extra[:2], len(missing), missing[:2]))


def ours(path, options):
    p = subprocess.run([program, "flame", "--static", *options, path], capture_output=True, check=True)
    return frames(p.stdout.decode(), 20 if "--height" in options else 16)


def against_inferno():
    diff = "differential/perf-cycles-instructions-01-collapsed-all-diff.txt"
    pairs = [("colors/async-profiler-collapsed-part.txt", "colors/deterministic.svg"),
             ("narrow-blocks/narrow-blocks.txt", "narrow-blocks/narrow-blocks.svg"),
             ("grey-frames/grey-frames.txt", "grey-frames/grey-frames.svg"),
             ("austin/flames.txt", "austin/flame.svg"),
             ("flamechart/flames.txt", "flamechart/flame.svg", "--flamechart"),
             ("fractional-samples/fractional.txt", "fractional-samples/fractional-reversed.svg", "--reverse"),
             ("fractional-samples/with-space.txt", "fractional-samples/with-space-reversed.svg", "--reverse"),
             (diff, "differential/diff.svg"), (diff, "differential/diff-negated.svg", "--negate"),
             ("unsorted-input/perf-vertx-stacks-01-collapsed-all-unsorted.txt", "palette-map/consistent-palette.svg"),
             ("unsorted-input/perf-vertx-stacks-01-collapsed-all-unsorted.txt",
              "perf-vertx-stacks/perf-vertx-stacks-01-collapsed-all.svg"),
             (stacks + "perf-java-stacks-01-collapsed-all.txt", "colors/java.svg"),
             (stacks + "perf-js-stacks-01-collapsed-all.txt", "colors/js.svg")]
    vertx = "unsorted-input/perf-vertx-stacks-01-collapsed-all-unsorted.txt"
    pairs += [(vertx, "inverted/inverted.svg", "--inverted"), (vertx, "factor/factor-2.5.svg", "--factor", "2.5")]
    for source, expected, *options in pairs:
        theirs = frames(open(inferno + expected).read())
        root = next(f for f in theirs if f[1] == 0)
        factor = float(options[1]) if "--factor" in options else 1 # its values are as read
        # inferno places by percents of a fluid width; its least width is 0.01 %
        theirs = [(n, d, 10 + x * 11.8, w * 11.8, v * factor) for n, d, x, w, v in theirs if v >= 2e-4 * root[4]]
        mine = ours(os.path.join(inferno, source), ["--minwidth", "0", *options])
        mine = [f for f in mine if f[4] >= 2e-4 * root[4] * factor]
        report("inferno", expected, *match(mine, theirs, 0.12))


def against_perl():
    sets = [[], ["--reverse"], ["--inverted"], ["--factor", "2.5"], ["--negate"], ["--flamechart"],
            ["--minwidth", "1"], ["--minwidth", "0.5%"], ["--width", "800", "--height", "20"], ["--total", "5000"]]
    every = sorted(glob.glob(inferno + "*/*.txt"))
    few = [f for f in sorted(glob.glob(stacks + "*-all.txt")) if 0 < os.path.getsize(f) < 100000]
    full = ("/unsorted-1.txt", "-diff.txt", "async-profiler-collapsed-part.txt", "flamechart/flames.txt")
    for path in every + few:
        if not os.path.getsize(path) or "/nameattr/" in path:
            continue
        for options in sets if path.endswith(full) else sets[:2]:
            p = subprocess.run(["perl", perl, *options, path], capture_output=True)
            theirs = frames(p.stdout.decode(), 20 if "--height" in options else 16)
            report("flamegraph.pl", os.path.basename(os.path.dirname(path)) + "/" + os.path.basename(path),
                   *match(ours(path, options), theirs))


against_inferno()
if perl:
    against_perl()
    for key in sorted(set(accepted) - used):
        failed += 1
        print("accepted.txt: %s is not needed" % key)
print("%d pictures compared, %d accepted differences, %d failures" % (compared, len(used), failed))
sys.exit(1 if failed else 0)
