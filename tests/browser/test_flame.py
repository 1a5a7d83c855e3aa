#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture in a browser: zoom, back, reset, search, address, keyboard, dark mode, no console message, text
inside of its boxes, the same without scripts; and how long zoom and search take at 100,000 frames.
SHOTS=FOLDER keeps screenshots. Times are printed; they fail only beyond ten times the aim, because machines
are shared (the aims: first paint 1 s, zoom 150 ms, search 300 ms)."""
import os, statistics, subprocess, sys, tempfile
from browser import Browser, Checks

here = os.path.dirname(os.path.abspath(__file__))
program = os.path.join(os.environ.get("O", "build"), "causeprof")
shots = os.environ.get("SHOTS")
tmp = tempfile.mkdtemp(prefix="causeprof-flame.")
c = Checks()

MIX = """\
app;main;serve;parse;[running] 400
app;main;serve;parse;regex_match;[running] 300
app;main;serve;query;send;[running] 100
app;main;serve;query;recv;[sleep] 900
app;main;serve;query;recv;[woken] 60
app;main;serve;log;fsync;[disk] 500
app;main;serve;<escape>&"name";[running] 250
app;main;serve;<escape>&"name";parse;[running] 50
app;pool;wait;[asleep] 700
"""


def draw(name, text, *options):
    path = os.path.join(tmp, name)
    subprocess.run([program, "flame", "-o", path, *options], input=text.encode(), check=True)
    return path


def shot(b, name):
    if shots:
        os.makedirs(shots, exist_ok=True)
        b.screenshot(os.path.join(shots, name))


def center(b, name):
    """The middle of the box with this name in the static picture."""
    return b.run("""for (const g of document.querySelectorAll("#frames g"))
        if (g.firstChild.textContent.startsWith(arguments[0] + " (")) {
            const r = g.querySelector("rect").getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        } return null;""", name)


def texts(b):
    return b.run('return [...document.querySelectorAll("#view text")].map(t => t.textContent)')


def text_of(b, element):
    return b.run("return document.getElementById(arguments[0]).textContent", element)


def address(b):
    return b.run("return location.search")


def functions(b):
    svg = draw("mix.svg", MIX, "--title", "Test", "--subtitle", "window 3 s")
    b.open(svg)
    spot = {n: center(b, n) for n in ("query", "recv", "serve", "parse", "all")}
    c.check("boxes have titles", all(spot.values()), spot)

    b.mouse(*spot["recv"], click=False)
    tip = b.run('return document.querySelector(".tip").textContent')
    c.check("tooltip tells name, count, share and split",
            all(w in tip for w in ("recv", "960 us", "29.45%", "blocked (sleep) 900", "runnable (woken) 60")), tip)
    shot(b, "mix-tooltip.png")

    b.mouse(*spot["query"])
    c.check("zoom shows what is above", texts(b)[-1:] and "recv" in texts(b) and "parse" not in texts(b), texts(b))
    c.check("zoom is in the address", address(b).startswith("?x=") and "&y=" in address(b), address(b))
    zoomed = address(b)
    b.mouse(*spot["recv"])
    b.run('document.getElementById("back").dispatchEvent(new MouseEvent("click", {bubbles: true}))')
    c.check("back goes one zoom back", address(b) == zoomed, address(b))
    shot(b, "mix-zoomed.png")
    b.run('document.getElementById("unzoom").dispatchEvent(new MouseEvent("click", {bubbles: true}))')
    c.check("reset shows all", "parse" in texts(b) and address(b) == "", (texts(b), address(b)))

    b.keys("/")
    b.keys("pars\ue007")
    c.check("search counts a hit inside of a hit once", text_of(b, "matched").startswith("Matched: 23.0%"),
            text_of(b, "matched"))
    c.check("search is in the address", "s=pars" in address(b), address(b))
    c.check("hits have a colour of their own", b.run('return document.querySelectorAll("#view .hit").length') == 1)
    shot(b, "mix-search.png")
    b.keys("\ue00c")
    c.check("escape ends the search", text_of(b, "matched").strip() == "" and address(b) == "", address(b))
    b.keys("/")
    b.keys("PARSE\ue007")
    c.check("case counts", text_of(b, "matched").startswith("Matched: 0.0%"), text_of(b, "matched"))
    b.keys("i")
    c.check("case toggle", text_of(b, "matched").startswith("Matched: 23.0%"), text_of(b, "matched"))
    b.keys("\ue00c")
    b.keys("i/")
    b.keys("^serve$\ue007")
    b.mouse(*spot["query"])
    c.check("inside of a hit all is matched", text_of(b, "matched").startswith("Matched: 100%"), text_of(b, "matched"))
    b.keys("\ue00c")
    b.keys("r/")
    b.keys("(\ue007")
    c.check("a broken expression is said", "not a regular" in text_of(b, "matched"), text_of(b, "matched"))
    b.keys("\ue00c")

    b.keys("\ue013\ue013\ue013")
    c.check("arrow up walks to the widest child", "serve" in text_of(b, "details"), text_of(b, "details"))
    b.keys("\ue014")
    b.keys("\ue013\ue007")
    c.check("enter zooms to the focus", "y=" in address(b), address(b))
    b.keys("b")
    c.check("b goes back", address(b) == "", address(b))

    b.open(svg, zoomed + "&s=recv")
    c.check("the address restores zoom and search",
            "parse" not in texts(b) and text_of(b, "matched").startswith("Matched: 90.6%"), text_of(b, "matched"))
    b.open(svg)
    b.media(prefers_color_scheme="dark")
    dark = b.run('return getComputedStyle(document.querySelector(".bg")).fill')
    shot(b, "mix-dark.png")
    b.media(prefers_color_scheme="light")
    light = b.run('return getComputedStyle(document.querySelector(".bg")).fill')
    b.keys("d")
    toggled = b.run('return getComputedStyle(document.querySelector(".bg")).fill')
    c.check("dark by the reader's setting and by key", dark == toggled != light, (dark, light, toggled))


OVERFLOW = """const bad = [];
for (const g of document.querySelectorAll("#frames g")) {
    const t = g.querySelector("text"), r = g.querySelector("rect");
    if (t && t.getComputedTextLength() + 3 > +r.getAttribute("width")) bad.push(t.textContent);
} return bad;"""


def fitting(b):
    import random
    random.seed(2)
    text = "".join("a;%s %d\n" % ("".join(random.choice("WMm@%QG漢字éil1_:<>&😀") for _ in range(random.randint(1, 60))),
                                  random.randint(1, 90)) for _ in range(150))
    for font in ("Verdana", "monospace", "serif"):
        b.open(draw("wide.svg", text, "--fonttype", font))
        c.check("text stays in its box (%s)" % font, not b.run(OVERFLOW), b.run(OVERFLOW))


def differences(b):
    b.open(draw("diff.svg", "m;pack 1 2\nm;pack;tape 4 0\nm;same 10 10\nm;new 0 3\n"))
    shot(b, "diff.png")
    b.mouse(*center(b, "new"))
    b.keys("\ue013")
    shot(b, "diff-zoomed.png")
    c.check("a new frame is called new", "new" in text_of(b, "details"), text_of(b, "details"))


def page(b):
    made = subprocess.run([sys.executable, os.path.join(here, "slices.py")], stdout=subprocess.PIPE, check=True)
    profile, html = os.path.join(tmp, "slices.cprof"), os.path.join(tmp, "slices.html")
    subprocess.run([program, "load", "-o", profile, "-"], input=made.stdout, check=True)
    subprocess.run([program, "flame", "-o", html, profile], check=True)
    b.open(html)
    tabs = b.run('return [...document.querySelectorAll("nav button")].map(e => e.textContent)')
    c.check("tabs", tabs == ["All", "On-CPU", "Off-CPU", "Side by side", "From the leaf", "Icicle"], tabs)
    for i, name in enumerate(tabs):
        b.run('document.querySelectorAll("nav button")[arguments[0]].click()', i)
        shown = b.run('return [...document.querySelectorAll(".tab")].filter(t => t.getClientRects().length).length')
        c.check("one picture is shown in " + name, shown == 1, shown)
    b.run('document.querySelectorAll("nav button")[1].click()')
    on = b.run('return document.querySelector(".tab.shown #frames title").textContent')
    c.check("on-CPU has running time only", on.startswith("all (13.") and "blocked" not in on, on)
    b.run('document.querySelectorAll("nav button")[0].click()')
    shot(b, "heat.png")
    x, y, left, cell, row, rows = b.run("""const e = document.querySelector("svg.heat"), d = e.dataset,
        r = e.getBoundingClientRect(); return [r.x, r.y, +d.left, +d.cell, +d.row, +d.rows];""")
    first = (int(x + left + 30.5 * cell), int(y + 4 + row * rows - 2))
    last = (int(x + left + 32.5 * cell), int(y + 6))
    b.drag(*first, *last)
    shot(b, "heat-range.png")
    said = text_of(b, "range")
    c.check("a range of the heat map is said", "30.00 s to 33.00 s" in said, said)
    seen = b.run('return [...document.querySelectorAll(".tab.shown #view text")].map(t => t.textContent)')
    c.check("its flame graph is that range's", "futex_wait" in seen and "epoll_wait" not in seen, seen)
    b.mouse(first[0], first[1] - 60)
    seen = b.run('return [...document.querySelectorAll(".tab.shown #view text")].map(t => t.textContent)')
    c.check("a click shows all again", "epoll_wait" in seen, seen)


TIMED = """const [how, arg, done] = arguments, svg = document.querySelector("svg"), t = performance.now();
if (how === "zoom") {
    const r = svg.getBoundingClientRect();
    svg.dispatchEvent(new MouseEvent("click", {clientX: r.x + arg, clientY: r.y + 260, bubbles: true}));
} else if (how === "reset") {
    document.getElementById("unzoom").dispatchEvent(new MouseEvent("click", {bubbles: true}));
} else {
    const i = document.getElementById("term");
    i.value = arg;
    i.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
}
requestAnimationFrame(() => setTimeout(() => done(performance.now() - t), 0));"""


def large(b):
    made = subprocess.run([sys.executable, os.path.join(here, "frames100k.py")], stdout=subprocess.PIPE, check=True)
    svg = draw("large.svg", made.stdout.decode())
    size = os.path.getsize(svg)
    c.check("100,000 frames in at most 3 MB", size <= 3e6, size)
    paint, zoom, search = [], [], []
    for _ in range(20 if os.environ.get("BENCH") else 5):
        b.open(svg)
        paint.append(b.wait("""const done = arguments[0], look = () => {
            const e = performance.getEntriesByType("paint"); e.length ? done(e[0].startTime) : setTimeout(look, 20); };
            look();"""))
    for i in range(20):
        zoom.append(b.wait(TIMED, "zoom", 40 + 55 * i))
        b.wait(TIMED, "reset", 0)
    shot(b, "large.png")
    for i in range(20):
        b.keys("/" if not i else "\ue00c/")
        search.append(b.wait(TIMED, "search", ["read", "lock_1", "(hash|alloc)_.*9", "step_7"][i % 4]))
    shot(b, "large-search.png")
    for what, times, aim in (("first paint", paint, 1000), ("zoom", zoom, 150), ("search", search, 300)):
        m = statistics.median(times)
        print("     %s: median %.0f ms of %d, %.0f to %.0f (aim %d)" % (what, m, len(times), min(times), max(times), aim))
        c.check("%s at 100,000 frames" % what, m <= 10 * aim, times)


def without_scripts():
    b = Browser(scripts=False)
    try:
        b.open(os.path.join(tmp, "mix.svg"))
        shot(b, "mix-noscript.png")
    finally:
        b.close()


b = Browser()
try:
    for part in (functions, fitting, differences, page, large):
        part(b)
        seen = b.messages()
        c.check("no console message in %s" % part.__name__, not seen, seen)
finally:
    b.close()
if shots:
    without_scripts()
c.done()
