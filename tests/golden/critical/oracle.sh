#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Against stored answers of CRISP (as published in 2022) and of the Jaeger UI for the same traces.
. tests/golden/lib.sh
oracle=${CAUSEPROF_SHARED:-../shared}/oracles/crisp-oracle
[ -d "$oracle" ] || { echo "no stored answers ($oracle)"; exit 77; }
CP=$cp python3 - "$oracle" <<'PY' | expect oracle
import glob, json, os, subprocess, sys

oracle, cp = sys.argv[1], os.environ["CP"]
entry = {"crisp-tests": ("S1", "O1"), "skew": ("S1", "O1"), "hotel": ("frontend", "HTTP GET /hotels"),
         "media": ("nginx", "/wrk2-api/review/compose"), "node": ("init-service", "init-span"),
         "jaeger-ui": None}


def run(path, d, *options):
    where = ["-S", entry[d][0], "-O", entry[d][1], "--first-root"] if entry[d] else []
    return subprocess.run([cp, "critical", *where, *options, path], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def sections(text):
    out = []
    for line in text.splitlines():
        _, span, a, b = line.split("\t")
        a, b = round(float(a)), round(float(b))
        if out and out[-1][0] == span and out[-1][2] == a:
            out[-1][2] = b
        else:
            out.append([span, a, b])
    return out


for d in entry:
    cnt = crisp = jaeger = tiled = testing = 0
    for path in sorted(glob.glob(f"{oracle}/{d}/*.json")):
        base, doc = path[:-5], json.load(open(path))
        if "data" not in doc:
            continue
        cnt += 1
        if entry[d]:
            times = {}
            for line in run(path, d, "--crisp2022", "-f", "operations").splitlines():
                name, us = line.split("\t")
                times[name] = int(us)
            want = json.load(open(base + ".crisp2022.json"))["opTimeExclusive"]
            crisp += times == want
            if "testing" in doc:
                t = doc["testing"]
                t = t[0] if isinstance(t, list) else t["opTimeExclusive"]
                testing += {k: v for k, v in t.items() if v} == {k: v for k, v in times.items() if v}
        want = [[s["spanID"], s["sectionStart"], s["sectionEnd"]]
                for s in json.load(open(base + ".jaeger.json"))["sections"]
                if s["sectionStart"] < s["sectionEnd"]]
        merged = []
        for s in sorted(want, key=lambda s: s[1]):
            if merged and merged[-1][0] == s[0] and merged[-1][2] == s[1]:
                merged[-1][2] = s[2]
            else:
                merged.append(s)
        got = sections(run(path, d, "--jaeger-ties", "-f", "sections"))
        if got == merged:
            jaeger += 1
        else:
            print(f"{d}/{os.path.basename(path)}: not as Jaeger")
        ok = True
        for rule in ([], ["--exact"], ["--no-shift"]):
            s = sections(run(path, d, *rule, "-f", "sections"))
            ok = ok and bool(s) and all(x[2] == y[1] for x, y in zip(s, s[1:]))
            root = got[-1][2] - got[0][1]
            ok = ok and s[-1][2] - s[0][1] == root
        tiled += ok
    line = f"{d}: {cnt} traces, {tiled} tiled, {jaeger} as Jaeger"
    print(line + (f", {crisp} as CRISP" if entry[d] else "") + (f", {testing} testing blocks" if testing else ""))
    if d not in ("hotel", "media", "node"):
        continue
    files = [f for f in sorted(glob.glob(f"{oracle}/{d}/*.json")) if "data" in json.load(open(f))]
    equal = 0
    for p in ("50", "95", "99", "50,95", "50,99", "95,99", "heatmap"):
        if p == "heatmap":
            options, name = ["-f", "heatmap"], f"{d}-2022-heatmap.tsv"
        elif "," in p:
            a, b = p.split(",")
            options, name = ["-f", "diff", "-P", p], f"{d}-2022-P{a}vsP{b}.folded"
        else:
            options, name = ["-f", "folded", "-P", p], f"{d}-2022-P{p}.folded"
        out = subprocess.run([cp, "critical", "--crisp2022", "-S", entry[d][0], "-O", entry[d][1], *options, *files],
                             check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        equal += sorted(out.splitlines()) == sorted(open(f"{oracle}/aggregate/{name}").read().splitlines())
    print(f"{d}: {equal} of 7 aggregates equal")
PY
