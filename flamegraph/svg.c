/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture as SVG. What is drawn here is complete without a script: boxes, names, titles, a legend. Up to
 * ELEMENT_MAX boxes are elements of their own with a title to hover over; in a larger picture the widest
 * ELEMENT_KEEP are, and the slivers between them become one path a row and colour, drawn to the resolution
 * of a pixel. The script draws anew from the data (encode.h) when it zooms or searches. */
#include "flamegraph/svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/metrics.h"
#include "gen/flame.css.h"
#include "gen/flame.js.h"
#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/mem.h"

enum {
	ELEMENT_MAX = 12000,
	ELEMENT_KEEP = 5000,
};

static const double bar_px = 2.4; /* fits above the letters */

void flame_put_xml(struct buf *out, const char *s)
{
	escape_xml(out, s, strlen(s));
}

static void put_notes(struct buf *out, const char *notes)
{
	buf_puts(out, "<!-- ");
	for (; *notes; notes++) { /* no "--" inside of a comment */
		char c[2] = { *notes, 0 };

		if (*notes == '-' && notes[1] == '-')
			buf_puts(out, "- ");
		else
			flame_put_xml(out, (unsigned char)c[0] < 0x80 ? c : "?");
	}
	buf_puts(out, " -->\n");
}

static void put_font(const char *font_type, struct buf *out)
{
	buf_puts(out, "font-family:\"");
	for (const char *c = font_type; *c; c++) /* a list of names; nothing that ends the rule */
		if (strchr(" ,.-_", *c) || (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= 'a' && *c <= 'z'))
			buf_puts(out, *c == ',' ? "\",\"" : (char[2]){ *c, 0 });
	buf_puts(out, "\",\"DejaVu Sans\",sans-serif;");
}

/* Colours and the font, in front of the fixed part of the style. In a page with several pictures each rule is
 * for one of them, and the fixed part stands in the page's head. */
static void put_style(const struct flame_picture *p, struct buf *out)
{
	const struct flame_opts *o = p->opts;
	char scope[32] = "";

	if (p->scope)
		snprintf(scope, sizeof(scope), ".%s ", p->scope);
	buf_printf(out, "<style>\n%stext{", scope);
	put_font(o->font_type, out);
	buf_printf(out, "font-size:%gpx}\n%s.title{font-size:%gpx}\n", o->font_size_px, scope,
		   o->font_size_px + 5);
	for (size_t i = 0; i < p->colors.rgb_cnt; i++)
		buf_printf(out, "%s.c%zu{fill:#%06x}", scope, i, p->colors.rgb[i]);
	for (size_t i = 0; p->change && i < p->colors.rgb_cnt; i++)
		buf_printf(out, "%s.sc%zu{stroke:#%06x}", scope, i, p->colors.rgb[i]);
	buf_puts(out, "\n");
	if (!p->scope)
		buf_puts(out, flame_css);
	buf_puts(out, "</style>\n");
}

static void put_text(struct buf *out, const char *cls, double x, double y, const char *text)
{
	buf_printf(out, "<text class=\"%s\" x=\"%g\" y=\"%g\">", cls, x, y);
	flame_put_xml(out, text);
	buf_puts(out, "</text>\n");
}

const char *flame_picture__title(const struct flame_picture *p)
{
	if (p->opts->title)
		return p->opts->title;
	if (p->change)
		return "Differential Flame Graph";
	if (p->tree->merge == FLAME_MERGE_CHART)
		return "Flame Chart";
	return p->opts->inverted ? "Icicle Graph" : "Flame Graph";
}

static void put_head(const struct flame_picture *p, struct buf *out)
{
	const struct flame_opts *o = p->opts;
	double mid = floor(o->width_px / 2);

	if (!p->scope)
		buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame %s\" width=\"%g\" "
		   "height=\"%g\" viewBox=\"0 0 %g %g\">\n",
		   p->scope ? p->scope : "alone", o->width_px, p->height_px, o->width_px,
		   p->height_px);
	if (!p->scope) { /* inside of a page it would be a tooltip everywhere */
		buf_puts(out, "<title>");
		flame_put_xml(out, flame_picture__title(p));
		buf_puts(out, "</title>\n");
	}
	if (o->notes)
		put_notes(out, o->notes);
	put_style(p, out);
	buf_printf(out, "<rect class=\"bg\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n",
		   o->width_px, p->height_px, p->bg);
	buf_printf(out, "<text class=\"ui title\" x=\"%g\" y=\"%g\">", mid, o->font_size_px * 2);
	flame_put_xml(out, flame_picture__title(p));
	buf_puts(out, "</text>\n");
	if (o->subtitle && *o->subtitle)
		put_text(out, "ui subtitle", mid, o->font_size_px * 4, o->subtitle);
}

/* Elements -------------------------------------------------------------------------------------------- */

static void put_change_title(const struct flame_picture *p, uint32_t node, struct buf *out)
{
	double after = flame_tree__total(p->tree, node, FLAME_AFTER);
	double before = flame_tree__total(p->tree, node, FLAME_BEFORE);

	buf_puts(out, "; before ");
	flame_put_value(out, before, p->opts);
	if (after > 0 && !(before > 0)) {
		buf_puts(out, ", new");
	} else if (!(after > 0) && before > 0) {
		buf_puts(out, ", gone, -100%");
	} else if (after == before) {
		buf_puts(out, ", unchanged");
	} else {
		buf_puts(out, after > before ? ", +" : ", ");
		flame_put_value(out, after - before, p->opts);
		buf_printf(out, ", %+.2f%%", 100 * (after - before) / before);
	}
}

static void put_class_split(const struct flame_picture *p, uint32_t node, struct buf *out)
{
	double total = flame_tree__total(p->tree, node, FLAME_AFTER);
	const char *sep = "; ";

	for (int cls = 0; cls < FLAME_CLASS_MAX; cls++) {
		double part = flame_tree__class_total(p->tree, node, FLAME_AFTER, cls);

		if (!(part > 0))
			continue;
		buf_puts(out, sep);
		buf_puts(out, cls ? flame_class_label(cls) : "other");
		if (part < total) {
			buf_putc(out, ' ');
			flame_put_value(out, part, p->opts);
		}
		sep = ", ";
	}
}

static void put_box_title(const struct flame_picture *p, const struct flame_box *b, struct buf *out)
{
	const struct flame_tree *t = p->tree;
	uint32_t name = t->nodes[b->node].name;
	double shown = b->width;

	if (p->change && b->depth)
		shown = flame_tree__total(t, b->node, FLAME_AFTER);
	if (b->depth)
		flame_put_name(out, strtab_get(&t->names, name), strtab_len_bytes(&t->names, name));
	else
		buf_puts(out, "all");
	buf_puts(out, " (");
	flame_put_value(out, shown, p->opts);
	buf_puts(out, ", ");
	if (b->depth)
		flame_put_share(out, b->width, p->layout.total);
	else
		buf_puts(out, "100%");
	if (p->change)
		put_change_title(p, b->node, out);
	else if (p->classes)
		put_class_split(p, b->node, out);
	if (p->encoding.counts) {
		buf_puts(out, "; ");
		buf_put_u64(out, p->encoding.cnts[b->node]);
		buf_puts(out, p->encoding.cnts[b->node] == 1 ? " time" : " times");
	}
	buf_putc(out, ')');
}

static void put_attr1(struct buf *out, const char *name, double v)
{
	buf_putc(out, ' ');
	buf_puts(out, name);
	buf_puts(out, "=\"");
	flame_put_fixed1(out, v);
	buf_putc(out, '"');
}

static void put_box(const struct flame_picture *p, size_t i, struct buf *out)
{
	const struct flame_box *b = &p->layout.boxes[i];
	const struct flame_opts *o = p->opts;
	uint32_t name = p->tree->nodes[b->node].name;
	double x = FLAME_X_PAD_PX + b->start * p->layout.px_per_weight;
	double y = flame_layout__y(&p->layout, o, b->depth);
	double w = b->width * p->layout.px_per_weight, h = o->frame_height_px - FLAME_FRAME_PAD_PX;
	size_t at;

	buf_puts(out, "<g><title>");
	put_box_title(p, b, out);
	buf_puts(out, "</title><rect");
	put_attr1(out, "x", x);
	put_attr1(out, "y", y);
	put_attr1(out, "width", w);
	put_attr1(out, "height", h);
	buf_printf(out, " class=\"c%u\"/>", p->colors.of_box[i]);
	at = out->len_bytes;
	buf_puts(out, "<text");
	put_attr1(out, "x", x + 3);
	put_attr1(out, "y", 4 + y + h / 2);
	buf_putc(out, '>');
	if (b->depth) {
		size_t before = out->len_bytes;

		flame_put_fitting(out, strtab_get(&p->tree->names, name),
				  strtab_len_bytes(&p->tree->names, name), w, o);
		if (out->len_bytes == before) { /* nothing fits: no element */
			out->len_bytes = at;
			out->data[at] = '\0';
		}
	} else {
		flame_put_fitting(out, "all", 3, w, o);
	}
	if (out->len_bytes > at)
		buf_puts(out, "</text>");
	buf_puts(out, "</g>\n");
}

static int compare_doubles_down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The width from which on boxes are elements. */
static double element_width(const struct flame_picture *p)
{
	size_t cnt = p->layout.box_cnt;
	double *widths, limit;

	if (cnt <= ELEMENT_MAX || p->opts->all_elements)
		return 0;
	widths = xcalloc(cnt, sizeof(*widths));
	for (size_t i = 0; i < cnt; i++)
		widths[i] = p->layout.boxes[i].width;
	qsort(widths, cnt, sizeof(*widths), compare_doubles_down);
	limit = widths[ELEMENT_KEEP];
	free(widths);
	return nextafter(limit, INFINITY);
}

/* Slivers --------------------------------------------------------------------------------------------- */

struct run {
	double x1, x2, widest;
	uint16_t color;
};

static void put_run(const struct flame_picture *p, uint32_t depth, const struct run *r,
		    struct buf *path)
{
	if (!(r->x2 > r->x1))
		return;
	buf_putc(path, 'M');
	flame_put_fixed1(path, r->x1);
	buf_putc(path, ' ');
	flame_put_fixed1(path, flame_layout__y(&p->layout, p->opts, depth));
	buf_putc(path, 'h');
	flame_put_fixed1(path, r->x2 - r->x1 < 0.1 ? 0.1 : r->x2 - r->x1);
	buf_printf(path, "v%gh-", p->opts->frame_height_px - FLAME_FRAME_PAD_PX);
	flame_put_fixed1(path, r->x2 - r->x1 < 0.1 ? 0.1 : r->x2 - r->x1);
	buf_putc(path, 'z');
}

/* Boxes come sorted by position within a depth, so one open run a depth is enough. */
static void put_slivers(const struct flame_picture *p, double limit, struct buf *out)
{
	struct run *runs = xcalloc(p->layout.depth_max + 1, sizeof(*runs));
	struct buf *paths = xcalloc(p->colors.rgb_cnt + 1, sizeof(*paths));

	for (size_t i = 0; i < p->layout.box_cnt; i++) {
		const struct flame_box *b = &p->layout.boxes[i];
		struct run *r = &runs[b->depth];
		double x1 = FLAME_X_PAD_PX + b->start * p->layout.px_per_weight;
		double w = b->width * p->layout.px_per_weight;

		if (b->width >= limit)
			continue;
		if (x1 > r->x2 + 0.15 || r->x2 - r->x1 >= 1 || w >= 1) {
			put_run(p, b->depth, r, &paths[r->color]);
			*r = (struct run){ .x1 = x1 };
		}
		r->x2 = x1 + w;
		if (w > r->widest) {
			r->widest = w;
			r->color = p->colors.of_box[i];
		}
	}
	for (uint32_t d = 0; d <= p->layout.depth_max; d++)
		put_run(p, d, &runs[d], &paths[runs[d].color]);
	for (size_t i = 0; i < p->colors.rgb_cnt; i++) {
		if (paths[i].len_bytes)
			buf_printf(out, "<path class=\"c%zu\" d=\"%s\"/>\n", i, buf_str(&paths[i]));
		buf_free(&paths[i]);
	}
	free(paths);
	free(runs);
}

/* Bars: the exact split of a frame of several classes, or the change of a subtree ----------------------- */

static void put_bar(const struct flame_picture *p, const struct flame_box *b, double from,
		    double part, struct buf *path)
{
	double x = FLAME_X_PAD_PX + (b->start + from) * p->layout.px_per_weight;
	double y = flame_layout__y(&p->layout, p->opts, b->depth) + bar_px / 2;

	buf_putc(path, 'M');
	flame_put_fixed1(path, x);
	buf_putc(path, ' ');
	flame_put_fixed1(path, y);
	buf_putc(path, 'h');
	flame_put_fixed1(path, part * p->layout.px_per_weight);
}

static void put_class_bars(const struct flame_picture *p, struct buf *out)
{
	struct buf paths[FLAME_CLASS_MAX] = { 0 };

	for (size_t i = 0; i < p->layout.box_cnt; i++) {
		const struct flame_box *b = &p->layout.boxes[i];
		double total = flame_tree__total(p->tree, b->node, FLAME_AFTER), from = 0;

		if (b->width * p->layout.px_per_weight < 3)
			continue;
		for (int cls = 0; cls < FLAME_CLASS_MAX; cls++) {
			double part = flame_tree__class_total(p->tree, b->node, FLAME_AFTER, cls);

			if (part > 0 && part < 0.995 * total)
				put_bar(p, b, from, part, &paths[cls]);
			else if (part > 0)
				break;
			from += part;
		}
	}
	buf_puts(out, "<g id=\"bars\">\n");
	for (int cls = 0; cls < FLAME_CLASS_MAX; cls++) {
		if (paths[cls].len_bytes)
			buf_printf(out, "<path stroke=\"#%06x\" d=\"%s\"/>\n",
				   cls ? flame_class_rgb(cls) : 0xb0b0b0U, buf_str(&paths[cls]));
		buf_free(&paths[cls]);
	}
	buf_puts(out, "</g>\n");
}

static void put_change_bars(const struct flame_picture *p, struct buf *out)
{
	struct buf *paths = xcalloc(p->colors.rgb_cnt + 1, sizeof(*paths));

	for (size_t i = 0; i < p->layout.box_cnt; i++) {
		const struct flame_box *b = &p->layout.boxes[i];

		if (p->colors.bar[i] && b->width * p->layout.px_per_weight >= 3)
			put_bar(p, b, 0, b->width, &paths[p->colors.bar[i] - 1]);
	}
	buf_puts(out, "<g id=\"bars\">\n");
	for (size_t i = 0; i < p->colors.rgb_cnt; i++) {
		if (paths[i].len_bytes)
			buf_printf(out, "<path stroke=\"#%06x\" d=\"%s\"/>\n", p->colors.rgb[i],
				   buf_str(&paths[i]));
		buf_free(&paths[i]);
	}
	free(paths);
	buf_puts(out, "</g>\n");
}

/* The document ---------------------------------------------------------------------------------------- */

static void put_conf(const struct flame_picture *p, struct buf *out)
{
	const struct flame_opts *o = p->opts;
	struct buf text = { 0 };
	struct json j;

	json_init(&j, &text);
	json_begin_object(&j, NULL);
	json_f64(&j, "width", o->width_px);
	json_f64(&j, "height", p->height_px);
	json_f64(&j, "framesHeight", p->px.height);
	json_f64(&j, "top", p->px.top);
	json_f64(&j, "bottom", p->px.bottom);
	json_f64(&j, "pad", FLAME_X_PAD_PX);
	json_f64(&j, "frame", o->frame_height_px);
	json_f64(&j, "font", o->font_size_px);
	json_f64(&j, "bar", bar_px);
	json_bool(&j, "inverted", o->inverted);
	json_f64(&j, "scale", p->encoding.scale);
	json_f64(&j, "factor", o->factor);
	json_u64(&j, "unit", o->unit);
	json_str(&j, "countName", o->count_name);
	json_str(&j, "nameType", o->name_type);
	json_bool(&j, "counts", p->encoding.counts);
	json_bool(&j, "change", p->change);
	json_u64(&j, "boxes", p->layout.box_cnt);
	json_begin_array(&j, "columns");
	for (uint32_t i = 0; i < p->tree->col_cnt; i++) {
		char rgb[8];
		uint32_t v = flame_class_rgb(p->tree->col_class[i]);

		snprintf(rgb, sizeof(rgb), "#%06x", p->tree->col_class[i] ? v : 0xb0b0b0U);
		json_begin_object(&j, NULL);
		json_str(&j, "label", flame_class_label(p->tree->col_class[i]));
		json_str(&j, "color", rgb);
		json_bool(&j, "before", p->tree->col_side[i] == FLAME_BEFORE);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	for (size_t i = 0; i < text.len_bytes;
	     i++) /* line breaks of the layout; strings have none */
		if (text.data[i] == '\n')
			text.data[i] = ' ';
	buf_puts(out, "<metadata id=\"conf\">");
	flame_put_xml(out, buf_str(&text));
	buf_puts(out, "</metadata>\n");
	buf_free(&text);
}

static void put_data(const struct flame_picture *p, struct buf *out)
{
	put_conf(p, out);
	buf_puts(out, "<metadata id=\"names\">");
	flame_encoding__put_names(&p->encoding, p->tree, out);
	buf_puts(out, "</metadata>\n<metadata id=\"boxes\">");
	flame_encoding__put_boxes(&p->encoding, p->tree, &p->layout, &p->colors, p->opts, out);
	buf_puts(out, "</metadata>\n");
}

static const char *background(const struct flame_opts *o)
{
	static const struct {
		const char *word, *rgb;
	} words[] = { { "yellow", "#f7f5ea" },
		      { "blue", "#eef1fa" },
		      { "green", "#eef6ee" },
		      { "grey", "#f4f4f4" } };

	if (o->bg_colors && o->bg_colors[0] == '#')
		return o->bg_colors;
	for (size_t i = 0; o->bg_colors && i < ARRAY_CNT(words); i++)
		if (!strcmp(o->bg_colors, words[i].word))
			return words[i].rgb;
	if (o->palette == FLAME_MEM)
		return words[2].rgb;
	if (o->palette == FLAME_IO || o->palette == FLAME_WAKEUP || o->palette == FLAME_CHAIN)
		return words[1].rgb;
	return o->palette >= FLAME_RED ? words[3].rgb : words[0].rgb;
}

static void put_frames(const struct flame_picture *p, struct buf *out)
{
	double limit = element_width(p);

	buf_puts(out, "<g id=\"frames\">\n");
	if (limit > 0)
		put_slivers(p, limit, out);
	for (size_t i = 0; i < p->layout.box_cnt; i++)
		if (p->layout.boxes[i].width >= limit)
			put_box(p, i, out);
	buf_puts(out, "</g>\n");
	if (p->change)
		put_change_bars(p, out);
	else if (p->classes)
		put_class_bars(p, out);
}

int flame_picture__init(struct flame_picture *p, const struct flame_tree *t,
			const struct flame_opts *o, struct err *err)
{
	int rc;

	*p = (struct flame_picture){ .tree = t, .opts = o };
	rc = flame_layout__make(&p->layout, t, o, err);
	if (rc)
		return rc;
	p->classes = flame_tree__has_classes(t);
	p->change = flame_tree__has_side(t, FLAME_BEFORE);
	flame_colors__make(&p->colors, t, &p->layout, o);
	flame_encoding__init(&p->encoding, t, &p->layout);
	p->px = flame_layout__px(&p->layout, o);
	flame_legend__make(&p->legend, t, &p->layout, o);
	p->height_px = p->px.height + flame_legend__height_px(&p->legend);
	p->bg = p->change && !o->bg_colors ? "#fbfbfa" : background(o);
	return 0;
}

void flame_picture__fini(struct flame_picture *p)
{
	flame_layout__fini(&p->layout);
	flame_colors__fini(&p->colors);
	flame_encoding__fini(&p->encoding);
	flame_legend__fini(&p->legend);
}

void flame_picture__put_svg(const struct flame_picture *p, struct buf *out)
{
	put_head(p, out);
	put_frames(p, out);
	flame_legend__put(&p->legend, p->px.height + 2, out);
	if (!p->opts->plain || p->scope)
		put_data(p, out);
	if (!p->opts->plain && !p->scope) {
		buf_puts(out, "<script><![CDATA[\n");
		buf_puts(out, flame_js);
		buf_puts(out, "]]></script>\n");
	}
	buf_puts(out, "</svg>\n");
}

int flame_svg(const struct flame_tree *t, const struct flame_opts *o, struct buf *out,
	      struct err *err)
{
	struct flame_picture p;
	int rc = flame_picture__init(&p, t, o, err);

	if (!rc)
		flame_picture__put_svg(&p, out);
	flame_picture__fini(&p);
	return rc;
}

void flame_svg_message(const struct flame_opts *o, const char *text, struct buf *out)
{
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\">\n"
		   "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\" font-size=\"%g\" "
		   "font-family=\"sans-serif\">",
		   o->width_px, o->font_size_px * 5, floor(o->width_px / 2), o->font_size_px * 2,
		   o->font_size_px);
	flame_put_xml(out, text);
	buf_puts(out, "</text>\n</svg>\n");
}
