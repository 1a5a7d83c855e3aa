/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tabs, and the choice of a range in the heat map. Runs before flame.js; the pictures start when shown. */
(function () {
"use strict";
var NS = "http://www.w3.org/2000/svg";
var tabs = [].slice.call(document.querySelectorAll(".tab")), chosen = 0;

function show(n) {
	chosen = n;
	tabs.forEach(function (t, i) { t.classList.toggle("shown", i === n); });
	[].forEach.call(document.querySelectorAll("nav button"), function (b, i) {
		b.setAttribute("aria-selected", String(i === n));
	});
	var p = new URLSearchParams(location.search);
	p.delete("v");
	if (n) p.set("v", n);
	try { history.replaceState(null, "", location.pathname + (String(p) ? "?" + p : "")); } catch (e) { /* forbidden here */ }
	var svg = tabs[n].querySelector("svg");
	if (window.startFlame) window.startFlame(svg);
}
if (tabs.length > 1) {
	var nav = document.createElement("nav");
	tabs.forEach(function (t, i) {
		var b = document.createElement("button");
		b.textContent = t.getAttribute("aria-label");
		b.addEventListener("click", function () { show(i); });
		nav.appendChild(b);
	});
	document.body.insertBefore(nav, document.body.firstChild);
}
document.body.classList.add("paged");
show(Math.min(tabs.length - 1, +new URLSearchParams(location.search).get("v") || 0));

var heat = document.querySelector("svg.heat");
if (!heat) return;
var h = {}, from = -1, map = 0;
for (var key in heat.dataset) h[key] = +heat.dataset[key];
var mark = document.createElementNS(NS, "path"), words = document.getElementById("range"), hint = words.textContent;
mark.setAttribute("class", "chosen");
heat.appendChild(mark);
function slice(e) {
	var box = heat.getBoundingClientRect(), x = e.clientX - box.left - h.left, y = e.clientY - box.top - 4;
	var high = h.rows * h.row, column = Math.floor(x / h.cell);
	map = Math.max(0, Math.min(h.maps - 1, Math.floor(y / (high + h.gap))));
	var row = Math.floor((y - map * (high + h.gap)) / h.row);
	row = h.rows - 1 - Math.max(0, Math.min(h.rows - 1, row));
	column = Math.max(0, Math.min(Math.ceil(h.slices / h.rows) - 1, column));
	return Math.max(0, Math.min(h.slices - 1, column * h.rows + row));
}
/* The range as a rectangle a column, in every map. */
function draw(a, b) {
	var d = "";
	for (var m = 0; m < h.maps && b >= a; m++)
		for (var c = Math.floor(a / h.rows); c <= Math.floor(b / h.rows); c++) {
			var low = Math.max(a - c * h.rows, 0), high = Math.min(b - c * h.rows, h.rows - 1);
			d += "M" + (h.left + c * h.cell) + " " + (4 + m * (h.rows * h.row + h.gap) + (h.rows - 1 - high) * h.row) +
				"h" + h.cell + "v" + (high - low + 1) * h.row + "h-" + h.cell + "z";
		}
	mark.setAttribute("d", d);
}
function time(s) { return (s * h.ns / 1e9).toFixed(h.ns < 1e7 ? 4 : 2) + " s"; }
function choose(a, b) {
	var svg = tabs[0].querySelector("svg");
	show(0);
	if (a === b) { draw(1, 0); words.textContent = hint; svg.flameRange(null); return; }
	draw(a, b);
	words.textContent = "Flame graph of " + time(a) + " to " + time(b + 1) + "; click the map to see all.";
	svg.flameRange([a, b]);
}
heat.addEventListener("pointerdown", function (e) { from = slice(e); heat.setPointerCapture(e.pointerId); });
heat.addEventListener("pointermove", function (e) {
	if (from >= 0) { var to = slice(e); draw(Math.min(from, to), Math.max(from, to)); }
});
heat.addEventListener("pointerup", function (e) {
	if (from < 0) return;
	var to = slice(e), a = Math.min(from, to), b = Math.max(from, to);
	from = -1;
	choose(a, b);
});
})();
