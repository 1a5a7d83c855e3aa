# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that attack, counts that overflow, stacks without end: a right picture or one clear line, and an XML
parser finds no script, handler or link beyond the program's own.  usage: hostile.py PROGRAM"""
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frames import frames

program, failed = sys.argv[1], 0
ATTACK = ["<script>alert(1)</script>", "]]><script>alert(1)</script>", "</script><script>alert(1)//",
          '" onload="alert(1)', "' onclick='alert(1)'", '"><a href="javascript:alert(1)">x</a>',
          "<svg/onload=alert(1)>", "--><script>alert(1)</script><!--", "</metadata><script>alert(1)</script>",
          "&#60;script&#62;", "</style><script>alert(1)</script>", "{{7*7}}", "</textarea><img src=x onerror=alert(1)>"]
TEXT = ["\x01\x02\x1b[31m", "\x7f", "a\u202eb\u2066c", "\ufffe\uffff", "nul\0nul", "cr\rcr", "😀 emoji"]
BYTES = [b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"cut \xe4\xb8"]


def check(what, ok, seen=""):
    global failed
    if not ok:
        failed += 1
        print("FAIL %s %s" % (what, seen))


def draw(data, *options):
    p = subprocess.run([program, "flame", *options], input=data, capture_output=True, timeout=60)
    return p.returncode, p.stdout, p.stderr


def inspect(what, svg, scripts=1):
    """Well-formed XML, one script, nothing that runs or leads away."""
    text = svg.decode("utf-8")
    root = ET.fromstring(text)
    nodes = list(root.iter())
    local = [n.tag.rsplit("}", 1)[-1].lower() for n in nodes]
    check(what + ": scripts", local.count("script") == scripts, local.count("script"))
    strange = [t for t in local if t in ("a", "foreignobject", "image", "iframe", "use", "animate", "set", "link", "embed", "object")]
    check(what + ": links and foreign nodes", not strange, strange)
    handlers = [a for n in nodes for a in n.attrib if a.lower().startswith("on") or a.lower().endswith("href")]
    check(what + ": handlers", not handlers, handlers)
    return text


def refused(what, data, *words):
    code, out, err = draw(data)
    lines = err.decode("utf-8", "replace").strip().split("\n")
    check(what + ": exit status", code == 1, code)
    check(what + ": one clear line", len(lines) <= 2 and all(w in lines[-1] for w in words), lines)
    if out:
        inspect(what, out, 0)


names = [n.encode("utf-8") for n in ATTACK + TEXT] + BYTES
names = [n.replace(b";", b"\\x3b").replace(b"\n", b"") for n in names]
data = b"".join(b"root;%s;%s 5\n" % (n, n) for n in names)
for options in ([], ["--inverted"], ["--static"], ["--title", ATTACK[0], "--subtitle", ATTACK[1], "--countname", ATTACK[3],
                "--nametype", ATTACK[5], "--notes", ATTACK[7], "--fonttype", ATTACK[10] + '"}']):
    code, out, err = draw(data, *options)
    check("names", code == 0, err)
    text = inspect("names %s" % options[:1], out)
    if "--countname" not in options:
        read = [f[0] for f in frames(text)]
        for n in ATTACK:
            check("name comes back", read.count(n) == 2, n)

class Page(HTMLParser):
    """Counts what a browser would run or follow; script text is no markup to it."""

    def __init__(self):
        super().__init__()
        self.scripts, self.strange = 0, []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        if tag in ("a", "img", "iframe", "object", "embed", "link", "base", "form", "textarea", "foreignobject"):
            self.strange.append(tag)
        self.strange += [k for k, v in attrs if k.startswith("on") or k.endswith("href") or k == "src"]


for options in ([], ["--title", ATTACK[2], "--subtitle", ATTACK[8], "--countname", ATTACK[3], "--fonttype", ATTACK[10]]):
    code, out, err = draw(data, "--html", *options)
    page = Page()
    page.feed(out.decode("utf-8"))
    check("page: scripts and links", code == 0 and page.scripts == 1 and not page.strange, (page.scripts, page.strange))
code, out, _ = draw(b"a;%s 1\na;b 1\n" % (b"N" * (1 << 20)))
check("1 MB name", code == 0 and len(out) < 100000, len(out))
inspect("1 MB name", out)
code, out, _ = draw(b";".join(b"f%d" % i for i in range(10000)) + b" 7\n")
check("10,000 deep", code == 0)
check("10,000 deep", len(frames(inspect("10,000 deep", out))) == 10001)
big = b"a;x 9223372036854775808\na;y 18446744073709551616\na;z 1e300\n"
code, out, _ = draw(big)
found = {f[0]: f for f in frames(inspect("counts over 2^63", out))}
check("counts over 2^63", code == 0 and found["a"][3] == 1180.0 and found["z"][3] == 1180.0, found)
code, out, _ = draw(b"a;x 9223372036854775808\na;y 9223372036854775808\n")
found = {f[0]: f for f in frames(inspect("two of 2^63", out))}
check("two of 2^63", abs(found["x"][3] - 590) < 0.2 and abs(found["a"][4] - 2.0**64) < 1e5, found)
code, out, _ = draw(b"a;b 1\na;c 2")
check("no newline at the end", code == 0 and {f[0] for f in frames(out.decode())} == {"all", "a", "b", "c"})
refused("empty", b"", "no stacks")
refused("only zeros", b"a;b 0\n", "no stacks")
refused("UTF-16", "a;b 1\n".encode("utf-16"), "UTF-16", "iconv")
refused("gzip cut off", bytes.fromhex("1f8b0800000000000003") + b"\x4b", "gzip")
first, again = draw(data)[1], draw(data)[1]
check("same bytes", first == again)
print("%d failures" % failed)
sys.exit(1 if failed else 0)
