# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a flame graph SVG (ours, flamegraph.pl's, inferno's) and their comparison."""
import re
import xml.etree.ElementTree as ET
from collections import Counter

TITLE = re.compile(r"^(.*) \(([-+0-9.,eE]+)( [^,()]*)?(, *[-+0-9.]+%)?([;,].*)?\)$", re.S)


def local(tag):
    return tag.rsplit("}", 1)[-1]


def frames(text, height=16):
    """(name, depth, x, width, value) of each frame; pixels as floats, inferno's percents as fractions."""
    found = []
    for g in ET.fromstring(text).iter():
        title = next((k for k in g if local(k.tag) == "title"), None)
        rect = next((k for k in g if local(k.tag) == "rect"), None)
        if title is None or rect is None:
            continue
        m = TITLE.match("".join(title.itertext()))
        if not m:
            continue
        a = rect.attrib
        place = [float(a[k].rstrip("%")) for k in ("x", "width")]
        value = float(next((v for k, v in a.items() if k.endswith("}w")), m.group(2).replace(",", "")))
        found.append((m.group(1), float(a["y"]), place[0], place[1], value))
    if not found:
        return []
    rows = sorted({f[1] for f in found})
    whole = {y: sum(f[4] for f in found if f[1] == y) for y in (rows[0], rows[-1])}
    cnt = {y: sum(f[1] == y for f in found) for y in whole}
    root = max(whole, key=lambda y: (whole[y], -cnt[y], y))
    return [(n, round(abs(y - root) / height), x, w, v) for n, y, x, w, v in found]


def match(ours, theirs, pixels=0.11):
    """Frames that only one side has; positions may differ by the rounding to tenths of a pixel."""
    ours, missing = list(ours), []
    by_key = {}
    for f in ours:
        by_key.setdefault((f[0], f[1]), []).append(f)
    for f in theirs:
        same = by_key.get((f[0], f[1]), [])
        hit = next((o for o in same if abs(o[4] - f[4]) <= 0.5 + 1e-9 and
                    (pixels is None or (abs(o[2] - f[2]) <= pixels and abs(o[3] - f[3]) <= 2 * pixels))), None)
        if hit is None:
            missing.append(f)
        else:
            same.remove(hit)
    extra = [f for fs in by_key.values() for f in fs]
    return extra, missing


def values(found, least):
    """Only name, depth and value of frames that are not narrower than this part of the whole."""
    total = max(v for _, d, _, _, v in found if d == 0)
    return Counter((n, d, v) for n, d, _, _, v in found if v >= least * total)
