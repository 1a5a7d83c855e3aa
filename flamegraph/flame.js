/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zoom, search, keyboard and tooltips of a flame graph. The file's picture needs none of this; the script
 * reads the tables beside it (flamegraph/encode.h tells their form) and draws what is asked for: one path a
 * colour for the boxes, one element for each text. The mouse is looked up by position, not by element. */
(function () {
"use strict";
var NS = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";

var digit = new Uint8Array(128);
for (var a = 0; a < 64; a++)
	digit["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".charCodeAt(a)] = a;
var pair = [0, 0];
/* The number at a place of the text, and the place behind it; the same array each time. */
function numberAt(text, at) {
	var v = 0, unit = 1, c;
	do {
		c = digit[text.charCodeAt(at++) & 127];
		v += (c & 31) * unit;
		unit *= 32;
	} while (c > 31);
	pair[0] = v;
	pair[1] = at;
	return pair;
}

function start(svg) {
	if (svg.dataset.started) return;
	svg.dataset.started = "1";
	function part(id) { return svg.querySelector("#" + id); }
	var conf = JSON.parse(part("conf").textContent);
	var data = null; /* tables, read when first needed */
	var zoomed = 0, trail = [], focus = -1, hover = -1;
	var term = "", ignoreCase = false, hits = null, hitCount = 0;
	var inner = conf.width - 2 * conf.pad;

	/* Data */
	function tables() {
		if (data) return data;
		var text = part("boxes").textContent, n = conf.boxes, cols = conf.columns.length;
		var d = data = {
			n: n, names: part("names").textContent.split("\n"),
			start: new Float64Array(n), width: new Float64Array(n), self: new Float64Array(n),
			count: new Float64Array(n), value: new Float64Array(cols > 1 ? n * cols : 0),
			name: new Uint32Array(n), depth: new Uint32Array(n), parent: new Uint32Array(n),
			last: new Uint32Array(n), color: new Uint16Array(n), bar: new Uint16Array(n), rows: []
		};
		var at = 0;
		function number() {
			var n = numberAt(text, at);
			at = n[1];
			return n[0];
		}
		var depth = -1, cursor = [0], open = [];
		for (var i = 0; i < n; i++) {
			depth += 1 - number();
			d.depth[i] = depth;
			d.name[i] = number();
			d.start[i] = cursor[depth] + number();
			d.color[i] = number();
			if (conf.change) d.bar[i] = number();
			d.width[i] = number();
			d.self[i] = number();
			if (conf.counts) d.count[i] = number();
			if (cols > 1)
				for (var mask = number(), k = 0; mask; mask = Math.floor(mask / 2), k++)
					if (mask % 2) d.value[i * cols + k] = number();
			cursor[depth] = d.start[i] + d.width[i];
			cursor[depth + 1] = d.start[i];
			d.parent[i] = depth ? open[depth - 1] : 0;
			open[depth] = i;
			(d.rows[depth] = d.rows[depth] || []).push(i);
		}
		for (i = 0; i < n; i++) d.last[i] = i;
		for (i = n - 1; i > 0; i--)
			if (d.last[i] > d.last[d.parent[i]]) d.last[d.parent[i]] = d.last[i];
		return d;
	}

	/* A range of time slices instead of all: new weights for the same boxes. */
	var whole = null, slices = null, ranged = false;
	function readSlices() {
		var text = document.getElementById("slices").innerHTML, at = 0, slice = 0;
		slices = [];
		function number() {
			var n = numberAt(text, at);
			at = n[1];
			return n[0];
		}
		while (at < text.length) {
			slice += number();
			slices.push([slice, number(), conf.columns.length > 1 ? number() : 0, number()]);
		}
	}
	function chooseRange(range) {
		var d = tables(), cols = conf.columns.length, i, k;
		if (!slices) readSlices();
		if (!whole) whole = { start: d.start.slice(), width: d.width.slice(), self: d.self.slice(), value: d.value.slice() };
		zoomed = 0;
		trail = [];
		focus = -1;
		if (!range) {
			["start", "width", "self", "value"].forEach(function (key) { d[key].set(whole[key]); });
		} else {
			d.self.fill(0);
			d.value.fill(0);
			slices.forEach(function (s) {
				if (s[0] < range[0] || s[0] > range[1]) return;
				d.self[s[1]] += s[3];
				if (cols > 1) d.value[s[1] * cols + s[2]] += s[3];
			});
			d.width.set(d.self);
			for (i = d.n - 1; i > 0; i--) {
				d.width[d.parent[i]] += d.width[i];
				for (k = 0; k < cols && cols > 1; k++) d.value[d.parent[i] * cols + k] += d.value[i * cols + k];
			}
			var next = new Float64Array(d.n);
			next[0] = d.self[0];
			for (i = 1; i < d.n; i++) {
				d.start[i] = next[d.parent[i]];
				next[d.parent[i]] += d.width[i];
				next[i] = d.start[i] + d.self[i];
			}
		}
		ranged = !!range;
		if (d.width[0]) draw();
		return d.width[0];
	}

	/* Geometry */
	function top(depth) {
		return conf.inverted ? conf.top + depth * conf.frame :
			conf.framesHeight - conf.bottom - (depth + 1) * conf.frame + 1;
	}
	function depthAt(y) {
		return Math.floor(conf.inverted ? (y - conf.top) / conf.frame :
			(conf.framesHeight - conf.bottom - y) / conf.frame);
	}
	function isAbove(i) { return i < zoomed && tables().last[i] >= zoomed; } /* an ancestor of the zoomed one */
	function boxAt(x, y) {
		var d = tables(), row = d.rows[depthAt(y)];
		if (!row || x < conf.pad || x > conf.pad + inner) return -1;
		var at = d.start[zoomed] + (x - conf.pad) / inner * d.width[zoomed], lo = 0, hi = row.length - 1;
		while (lo < hi) {
			var mid = (lo + hi + 1) >> 1;
			if (d.start[row[mid]] <= at) lo = mid; else hi = mid - 1;
		}
		while (lo && !d.width[row[lo]]) lo--; /* nothing of it in this range of time */
		var i = row[lo];
		if (isAbove(i)) return i;
		return i >= zoomed && i <= d.last[zoomed] && at >= d.start[i] && at <= d.start[i] + d.width[i] ? i : -1;
	}
	function pixels(i) {
		var d = tables(), k = inner / d.width[zoomed];
		if (isAbove(i)) return { x: conf.pad, w: inner };
		return { x: conf.pad + (d.start[i] - d.start[zoomed]) * k, w: d.width[i] * k };
	}

	/* Words */
	function grouped(v) {
		if (v !== Math.floor(v)) return String(+v.toPrecision(v < 1000 ? 4 : 10));
		return v < 1e15 ? String(v).replace(/\B(?=(\d{3})+$)/g, ",") : String(v);
	}
	function stepped(v, names, step) {
		var i = 0;
		while (i + 1 < names.length && v >= step * 0.9995) { v /= step; i++; }
		return (i ? v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) : grouped(Math.round(v))) + " " + names[i];
	}
	function words(v) {
		v = v / conf.scale * conf.factor;
		if (conf.unit === 1) {
			var names = ["ns", "us", "ms", "s"];
			return v >= 6e10 * 2 ? grouped(Math.round(v / 1e9)) + " s" : stepped(v, names, 1000);
		}
		if (conf.unit === 2) return stepped(v, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
		return grouped(v) + " " + conf.countName;
	}
	function share(part, whole) { return (100 * part / whole).toFixed(2) + "%"; }
	function nameOf(i) { var d = tables(); return d.names[d.name[i]]; }
	function side(i, before) {
		var d = tables(), cols = conf.columns, sum = 0;
		if (cols.length < 2) return cols.length && cols[0].before === before ? d.width[i] : 0;
		for (var k = 0; k < cols.length; k++)
			if (cols[k].before === before) sum += d.value[i * cols.length + k];
		return sum;
	}
	function changeWords(i) {
		var b = side(i, true), a = side(i, false);
		if (a === b) return "unchanged";
		if (!b) return "new";
		if (!a) return "gone";
		return (a > b ? "+" : "-") + words(Math.abs(a - b)) + ", " + (a > b ? "+" : "-") + share(Math.abs(a - b), b);
	}
	function lines(i) {
		var d = tables(), out = [], cols = conf.columns;
		out.push({ text: (conf.change ? words(side(i, false)) : words(d.width[i])) + ", " +
			share(d.width[i], d.width[0]) + " of all" +
			(zoomed && !isAbove(i) ? ", " + share(d.width[i], d.width[zoomed]) + " of view" : "") });
		if (conf.change) {
			out.push({ text: "before " + words(side(i, true)) + ": " + changeWords(i) });
		} else if (cols.length > 1) {
			for (var k = 0; k < cols.length; k++) {
				var v = d.value[i * cols.length + k];
				if (v) out.push({ text: (cols[k].label || "other") + " " + words(v) + ", " + share(v, d.width[i]),
					color: cols[k].color });
			}
		} else if (cols.length && cols[0].label) {
			out.push({ text: cols[0].label, color: cols[0].color });
		}
		if (d.self[i] && d.self[i] < d.width[i]) out.push({ text: "itself " + words(d.self[i]) });
		if (conf.counts) out.push({ text: grouped(d.count[i]) + (d.count[i] === 1 ? " time" : " times") });
		return out;
	}

	/* Elements */
	function add(parent, name, attributes, text) {
		var e = document.createElementNS(NS, name);
		for (var a in attributes) e.setAttribute(a, attributes[a]);
		if (text !== undefined) e.textContent = text;
		parent.appendChild(e);
		return e;
	}
	var pen = document.createElementNS(XHTML, "canvas").getContext("2d"), advance = new Map();
	function advanceOf(c) {
		var w = advance.get(c);
		if (w === undefined) {
			if (!advance.size) pen.font = getComputedStyle(details).font;
			advance.set(c, w = pen.measureText(c).width);
		}
		return w;
	}
	/* The name, or as much of it as fits with "..", or "". */
	function fitting(name, width) {
		var used = 0, dots = advanceOf(".") * 2, cut = 0, chars = 0;
		for (var c of name) {
			used += advanceOf(c);
			if (used > width) return cut ? name.slice(0, cut) + ".." : "";
			chars += c.length;
			if (used + dots <= width) cut = chars;
		}
		return name;
	}

	/* Drawing */
	var view = add(svg, "g", { id: "view" });
	svg.insertBefore(view, part("frames"));
	function drawn(i, x1, w, sink) {
		var y = top(tables().depth[i]);
		sink.push("M", x1.toFixed(1), " ", y, "h", w.toFixed(1), "v", conf.frame - 1, "h-", w.toFixed(1), "z");
	}
	/* In a range of time a frame's classes are others than in the whole: its colour, made as in palette.c. */
	function mixed(i) {
		var cols = conf.columns.length, sum = [0, 0, 0], most = 0, paper = [246, 243, 238], d = tables(), k;
		for (k = 0; k < cols; k++) {
			var part = d.value[i * cols + k] / d.width[i], rgb = parseInt((conf.columns[k].color || "#b0b0b0").slice(1), 16);
			most = Math.max(most, part);
			for (var c = 0; c < 3; c++) sum[c] += part * (rgb >> (16 - 8 * c) & 255);
		}
		var strength = Math.max(0.5, Math.min(1, 0.5 + (most - 0.6) / 0.6)), out = 0;
		for (k = 0; k < 3; k++)
			out = out * 256 + Math.min(252, Math.round((paper[k] + strength * (sum[k] - paper[k])) / 4) * 4);
		return "#" + out.toString(16).padStart(6, "0");
	}
	function draw() {
		var d = tables(), k = inner / d.width[zoomed], wide = {}, thin = {}, bars = {}, texts = [], runs = [];
		var cols = conf.columns.length, h = conf.frame - 1, i;
		function sink(set, key) { return set[key] = set[key] || []; }
		function bar(i, x, w, color) {
			sink(bars, color).push("M", x.toFixed(1), " ", top(d.depth[i]) + conf.bar / 2, "h", w.toFixed(1));
		}
		function box(i, x, w) {
			var key = hits && hits[i] ? "hit" : ranged && cols > 1 ? mixed(i) : "c" + d.color[i];
			if (w < 1) { sliver(i, x, w, key); return; }
			drawn(i, x, w, sink(w < 3 ? thin : wide, isAbove(i) ? key + " parent" : key));
			if (w >= 3 && conf.change && d.bar[i]) bar(i, x, w, "c" + (d.bar[i] - 1));
			if (w >= 3 && !conf.change && cols > 1)
				for (var c = 0, from = x; c < cols; c++) {
					var v = d.value[i * cols + c];
					if (v >= d.width[i] * 0.995) break;
					if (v) bar(i, from, v * w / d.width[i], c);
					from += v * w / d.width[i];
				}
			if (w > 2 * conf.font) texts.push([i, x, w]);
		}
		/* neighbours narrower than a pixel are drawn together; a hit among them shows */
		function sliver(i, x, w, key) {
			var r = runs[d.depth[i]];
			if (r && (x > r.x2 + 0.15 || r.x2 - r.x1 >= 1)) {
				drawn(r.i, r.x1, Math.max(r.x2 - r.x1, 0.2), sink(thin, r.key));
				r = null;
			}
			if (!r) r = runs[d.depth[i]] = { i: i, x1: x, x2: x, widest: 0, key: key };
			r.x2 = x + w;
			if (key === "hit" || (w > r.widest && r.key !== "hit")) { r.widest = w; r.key = key; }
		}
		for (i = zoomed; i > 0; ) { i = d.parent[i]; box(i, conf.pad, inner); }
		for (i = zoomed; i <= d.last[zoomed]; i++) {
			var w = d.width[i] * k;
			if (w < 0.02) { i = d.last[i]; continue; } /* nothing above it can be seen either */
			box(i, conf.pad + (d.start[i] - d.start[zoomed]) * k, w);
		}
		for (var depth in runs) {
			var r = runs[depth];
			drawn(r.i, r.x1, Math.max(r.x2 - r.x1, 0.2), sink(thin, r.key));
		}
		var g = document.createElementNS(NS, "g");
		g.setAttribute("id", "view");
		function paint(set, edge) {
			for (var key in set) {
				var e = add(g, "path", { class: (key[0] === "#" ? key.slice(8) : key) + edge, d: set[key].join("") });
				if (key[0] === "#") e.setAttribute("fill", key.slice(0, 7));
			}
		}
		paint(thin, "");
		paint(wide, " edge");
		for (var key in bars)
			add(g, "path", conf.change ? { class: "bar s" + key, d: bars[key].join("") } :
				{ class: "bar", stroke: conf.columns[key].color || "#b0b0b0", d: bars[key].join("") });
		for (var t = 0; t < texts.length; t++) {
			var label = fitting(nameOf(texts[t][0]), texts[t][2] - 6);
			if (label) add(g, "text", { x: (texts[t][1] + 3).toFixed(1),
				y: top(d.depth[texts[t][0]]) + 4 + h / 2 }, label);
		}
		svg.replaceChild(g, view);
		view = g;
		[part("frames"), part("bars")].forEach(function (e) { if (e) e.classList.add("hide"); });
		unzoomButton.classList.toggle("hide", !zoomed);
		backButton.classList.toggle("hide", !trail.length);
		showMatched();
		showFocus();
	}

	/* Controls */
	function button(id, x, text, anchor, action) {
		var e = add(svg, "text", { id: id, class: "ui button", x: x, y: conf.font * 2, "text-anchor": anchor }, text);
		e.addEventListener("click", function (event) { event.stopPropagation(); action(); });
		return e;
	}
	var details = add(svg, "text", { id: "details", class: "ui", x: conf.pad, y: conf.framesHeight - conf.bottom / 2,
		"aria-live": "polite" }, " ");
	var matched = add(svg, "text", { id: "matched", class: "ui", x: conf.width - conf.pad,
		y: conf.framesHeight - conf.bottom / 2, "text-anchor": "end" }, " ");
	var unzoomButton = button("unzoom", conf.pad, "Reset Zoom", "start", reset);
	var backButton = button("back", conf.pad + 8 * conf.font, "Back", "start", back);
	var searchButton = button("search", conf.width - conf.pad - 5 * conf.font, "Search", "end", openSearch);
	var caseButton = button("ignorecase", conf.width - conf.pad - 3 * conf.font, "ic", "end", toggleCase);
	button("theme", conf.width - conf.pad, "\u25d0", "end", toggleTheme);
	unzoomButton.classList.add("hide");
	backButton.classList.add("hide");
	var tip = add(svg, "g", { class: "tip hide" });
	var focusBox = add(svg, "rect", { class: "focus hide" });

	function zoom(i) {
		if (i === zoomed) return;
		trail.push(zoomed);
		zoomed = i;
		focus = focus >= 0 ? i : -1;
		draw();
		saveState();
	}
	function reset() { trail = []; zoomed = 0; draw(); saveState(); }
	function back() { if (trail.length) { zoomed = trail.pop(); draw(); saveState(); } }
	function dark() {
		return svg.classList.contains("dark") || (!svg.classList.contains("light") &&
			matchMedia("(prefers-color-scheme: dark)").matches);
	}
	function toggleTheme() {
		var now = dark();
		svg.classList.toggle("dark", !now);
		svg.classList.toggle("light", now);
		document.documentElement.classList.toggle("dark", !now);
		document.documentElement.classList.toggle("light", now);
	}

	/* Search */
	var field = null;
	function search(text) {
		var d = tables(), re;
		term = text;
		hits = null;
		hitCount = 0;
		if (text) {
			try { re = new RegExp(text, ignoreCase ? "i" : ""); }
			catch (e) { matched.textContent = "not a regular expression"; return; }
			var named = new Uint8Array(d.names.length), i;
			for (i = 0; i < named.length; i++) named[i] = re.test(d.names[i]) ? 1 : 0;
			hits = new Uint8Array(d.n);
			for (i = 1; i < d.n; i++) if (named[d.name[i]]) { hits[i] = 1; hitCount++; }
		}
		searchButton.classList.toggle("on", !!text);
		searchButton.textContent = text ? "Reset Search" : "Search";
		draw();
		saveState();
	}
	/* A hit inside of a hit is not counted again; in the view of a frame that lies in a hit, all of it is one. */
	function showMatched() {
		var d = tables(), sum = 0, i = zoomed;
		if (!hits) { matched.textContent = " "; return; }
		while (i > 0 && !hits[i]) i = d.parent[i];
		if (i > 0 && i < zoomed) sum = d.width[zoomed];
		for (i = sum ? d.n : zoomed; i <= d.last[zoomed]; i++)
			if (hits[i]) { sum += d.width[i]; i = d.last[i]; }
		var pct = 100 * sum / d.width[zoomed];
		matched.textContent = "Matched: " + (pct === 100 ? pct : pct.toFixed(1)) + "% (" + words(sum) + ")";
	}
	function openSearch() {
		if (field) { field.firstChild.focus(); return; }
		if (term) { search(""); return; }
		field = document.createElementNS(NS, "foreignObject");
		field.setAttribute("x", conf.width - conf.pad - 20 * conf.font);
		field.setAttribute("y", 4);
		field.setAttribute("width", 20 * conf.font);
		field.setAttribute("height", 2 * conf.font + 6);
		var input = document.createElementNS(XHTML, "input"), timer = 0;
		input.setAttribute("type", "text");
		input.setAttribute("id", "term");
		input.setAttribute("placeholder", "regular expression, Enter or Esc");
		input.setAttribute("style", "width:95%;font:" + conf.font + "px sans-serif;padding:3px");
		field.appendChild(input);
		svg.appendChild(field);
		input.addEventListener("input", function () {
			clearTimeout(timer);
			timer = setTimeout(function () { search(input.value); }, 120);
		});
		input.addEventListener("keydown", function (e) {
			e.stopPropagation();
			if (e.key !== "Enter" && e.key !== "Escape") return;
			clearTimeout(timer);
			closeSearch();
			search(e.key === "Enter" ? input.value : "");
		});
		input.focus();
	}
	function closeSearch() { if (field) { svg.removeChild(field); field = null; svg.focus(); } }
	function toggleCase() {
		ignoreCase = !ignoreCase;
		caseButton.classList.toggle("on", ignoreCase);
		if (term) search(term); else saveState();
	}

	/* The address: x and y of the zoomed frame in the whole picture, s the search; as flamegraph.pl's. */
	function params() { return new URLSearchParams(location.search); }
	function saveState() {
		var p = params(), d = tables();
		["x", "y", "s", "i"].forEach(function (key) { p.delete(key); });
		if (zoomed) {
			p.set("x", (conf.pad + d.start[zoomed] * inner / d.width[0]).toFixed(1));
			p.set("y", String(top(d.depth[zoomed])));
		}
		if (term) p.set("s", term);
		if (ignoreCase) p.set("i", "1");
		var q = p.toString();
		try { history.replaceState(null, "", location.pathname + (q ? "?" + q : "") + location.hash); }
		catch (e) { /* some viewers forbid it; the picture works without */ }
	}
	function restoreState() {
		var p = params(), d, best = 0;
		if (p.get("i")) { ignoreCase = true; caseButton.classList.add("on"); }
		if (p.get("x") && p.get("y")) {
			d = tables();
			var y = parseFloat(p.get("y")), x = parseFloat(p.get("x")), row = d.rows[depthAt(y + 1)] || [];
			row.forEach(function (i) {
				if (Math.abs(conf.pad + d.start[i] * inner / d.width[0] - x) < 0.06 &&
					(!best || d.width[i] > d.width[best])) best = i;
			});
			if (best) { zoomed = best; trail = [0]; }
		}
		if (p.get("s")) search(p.get("s"));
		else if (best) draw();
	}

	/* Tooltip and focus */
	function wrapped(name) {
		var out = [];
		for (var at = 0; at < name.length && out.length < 6; at += 76) out.push(name.slice(at, at + 76));
		if (name.length > 6 * 76) out[5] = out[5].slice(0, 73) + "...";
		return out;
	}
	function showTip(i, x, y) {
		var all = wrapped(nameOf(i)).map(function (t) { return { text: t, name: true }; }).concat(lines(i));
		var row = conf.font * 1.35, w = 0;
		tip.textContent = "";
		var card = add(tip, "rect", { class: "card", rx: 3 });
		all.forEach(function (l, n) {
			var t = add(tip, "text", { x: l.color ? 22 : 8, y: 6 + (n + 0.75) * row }, l.text);
			if (l.name) t.setAttribute("style", "font-weight:bold");
			if (l.color) add(tip, "rect", { x: 8, y: 6 + n * row + 2, width: 9, height: 9, fill: l.color });
			w = Math.max(w, t.getComputedTextLength() + (l.color ? 22 : 8));
		});
		var h = all.length * row + 12;
		w += 8;
		card.setAttribute("width", w);
		card.setAttribute("height", h);
		x = Math.max(2, Math.min(x + 14, conf.width - w - 2));
		y = y + 18 + h > conf.height ? Math.max(2, y - h - 10) : y + 18;
		tip.setAttribute("transform", "translate(" + x.toFixed(1) + " " + y.toFixed(1) + ")");
		svg.appendChild(tip);
	}
	function describe(i) {
		details.textContent = i < 0 ? " " : fitting(conf.nameType + " " + nameOf(i) + " (" +
			lines(i).map(function (l) { return l.text; }).join("; ") + ")", conf.width * 0.75);
	}
	function showFocus() {
		var shown = focus >= 0 && (isAbove(focus) || (focus >= zoomed && focus <= tables().last[zoomed]));
		focusBox.classList.toggle("hide", !shown);
		if (!shown) return;
		var p = pixels(focus);
		focusBox.setAttribute("x", p.x.toFixed(1));
		focusBox.setAttribute("y", top(tables().depth[focus]));
		focusBox.setAttribute("width", Math.max(p.w, 1).toFixed(1));
		focusBox.setAttribute("height", conf.frame - 1);
		describe(focus);
	}
	function toPicture(e) {
		var p = svg.createSVGPoint();
		p.x = e.clientX;
		p.y = e.clientY;
		return p.matrixTransform(svg.getScreenCTM().inverse());
	}

	/* Keyboard: up and down are the picture's; a sibling is the next box in the row below the same parent. */
	function step(key) {
		var d = tables(), i = focus < 0 ? zoomed : focus, row = d.rows[d.depth[i]], at = row.indexOf(i), c, best = -1;
		if ((key === "ArrowDown") !== conf.inverted && key !== "ArrowLeft" && key !== "ArrowRight")
			return d.parent[i];
		if (key === "ArrowLeft" || key === "ArrowRight") {
			c = row[at + (key === "ArrowLeft" ? -1 : 1)];
			return c !== undefined && c >= zoomed && c <= d.last[zoomed] ? c : i;
		}
		for (c = i + 1; c <= d.last[i]; c = d.last[c] + 1)
			if (best < 0 || d.width[c] > d.width[best]) best = c;
		return best < 0 ? i : best;
	}
	function keydown(e) {
		if ((e.ctrlKey || e.metaKey) && e.key === "f" || e.key === "F3" || (e.key === "/" && !e.ctrlKey)) openSearch();
		else if (e.ctrlKey && e.key === "i") toggleCase();
		else if (e.ctrlKey || e.metaKey || e.altKey) return;
		else if (e.key.slice(0, 5) === "Arrow") { focus = step(e.key); showFocus(); }
		else if (e.key === "Enter" && focus >= 0) zoom(focus);
		else if (e.key === "Backspace" || e.key === "b") back();
		else if (e.key === "Home" || e.key === "r") reset();
		else if (e.key === "i") toggleCase();
		else if (e.key === "d") toggleTheme();
		else if (e.key === "Escape") {
			if (term) search(""); else if (zoomed) reset();
			focus = -1;
			showFocus();
		} else return;
		e.preventDefault();
	}

	svg.classList.add("live");
	svg.setAttribute("tabindex", "0");
	svg.addEventListener("mousemove", function (e) {
		var p = toPicture(e), i = boxAt(p.x, p.y);
		svg.style.cursor = i < 0 ? "" : "pointer";
		if (i !== hover) describe(i);
		hover = i;
		tip.classList.toggle("hide", i < 0);
		if (i >= 0) showTip(i, p.x, p.y);
	});
	svg.addEventListener("mouseleave", function () { hover = -1; tip.classList.add("hide"); describe(focus); });
	svg.addEventListener("click", function (e) {
		var p = toPicture(e), i = boxAt(p.x, p.y);
		if (i >= 0) { tip.classList.add("hide"); zoom(i); }
	});
	window.addEventListener("keydown", function (e) {
		if (svg.getClientRects().length && !/^(INPUT|BUTTON)$/.test(e.target.tagName || "")) keydown(e);
	});
	svg.flameRange = chooseRange;
	restoreState();
	(window.requestIdleCallback || setTimeout)(tables); /* ready for the first click */
}
window.startFlame = start; /* of a page's tabs the one that is shown, others when they are */
[].forEach.call(document.querySelectorAll("svg.alone, .tab.shown svg.flame"), start);
})();
