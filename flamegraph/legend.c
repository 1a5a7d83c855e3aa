/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the colours mean; see legend.h. */
#include "flamegraph/legend.h"

#include <stdlib.h>
#include <string.h>

#include "flamegraph/metrics.h"
#include "flamegraph/palette.h"
#include "user/base/mem.h"

enum {
	VANISHED_MAX = 3, /* named in the picture; the text report has all */
};

/* An entry takes a new row when it does not fit into the one that was begun. text is escaped already. */
static void put_entry(struct flame_legend *g, const struct flame_opts *o, int64_t rgb,
		      const struct buf *text)
{
	double left = rgb >= 0 ? 17 : 0;
	double width = left + flame_text_px(buf_str(text), text->len_bytes, o);

	if (!g->row_cnt || g->x_px + width > o->width_px - FLAME_X_PAD_PX) {
		g->row_cnt++;
		g->x_px = FLAME_X_PAD_PX;
	}
	if (rgb >= 0)
		buf_printf(&g->svg,
			   "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"12\" "
			   "fill=\"#%06x\"/>",
			   g->x_px, (g->row_cnt - 1) * FLAME_LEGEND_ROW_PX - 10, (unsigned)rgb);
	buf_printf(&g->svg, "<text class=\"ui\" x=\"%.1f\" y=\"%d\">%s</text>\n", g->x_px + left,
		   (g->row_cnt - 1) * FLAME_LEGEND_ROW_PX, buf_str(text));
	g->x_px += width + 18;
}

static void put_classes(struct flame_legend *g, const struct flame_tree *t,
			const struct flame_opts *o)
{
	double total = flame_tree__total(t, 0, FLAME_AFTER);

	for (int cls = 1; cls < FLAME_CLASS_MAX; cls++) {
		double part = flame_tree__class_total(t, 0, FLAME_AFTER, cls);
		struct buf text = { 0 };

		if (!(part > 0))
			continue;
		buf_printf(&text, "%s ", flame_class_label(cls));
		flame_put_value(&text, part, o);
		buf_printf(&text, ", %.1f%%", 100 * part / total);
		put_entry(g, o, flame_class_rgb(cls), &text);
		buf_free(&text);
	}
}

static void put_words(struct flame_legend *g, const struct flame_opts *o, int64_t rgb,
		      const char *words)
{
	struct buf text = { 0 };

	buf_puts(&text, words);
	put_entry(g, o, rgb, &text);
	buf_free(&text);
}

struct vanished {
	double before;
	uint32_t node;
};

static int compare_vanished(const void *pa, const void *pb)
{
	const struct vanished *a = pa, *b = pb;

	if (a->before != b->before)
		return a->before < b->before ? 1 : -1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static bool gone(const struct flame_tree *t, uint32_t node)
{
	return flame_tree__total(t, node, FLAME_BEFORE) > 0 &&
	       !(flame_tree__total(t, node, FLAME_AFTER) > 0);
}

/* Code that is not there any more has no width by which it could be seen. */
static void put_vanished(struct flame_legend *g, const struct flame_tree *t,
			 const struct flame_opts *o)
{
	struct vanished *v = NULL;
	size_t cnt = 0, cap = 0;

	for (uint32_t n = 1; n < t->node_cnt; n++) {
		if (!gone(t, n) || gone(t, t->nodes[n].parent))
			continue;
		v = xgrow(v, &cap, cnt + 1, sizeof(*v));
		v[cnt++] = (struct vanished){ flame_tree__total(t, n, FLAME_BEFORE), n };
	}
	if (cnt)
		qsort(v, cnt, sizeof(*v), compare_vanished);
	for (size_t i = 0; i < cnt && i < VANISHED_MAX; i++) {
		uint32_t name = t->nodes[v[i].node].name;
		struct buf text = { 0 };

		buf_puts(&text, "gone: ");
		flame_put_fitting(&text, strtab_get(&t->names, name),
				  strtab_len_bytes(&t->names, name), o->width_px / 4, o);
		buf_puts(&text, " (before ");
		flame_put_value(&text, v[i].before, o);
		buf_puts(&text, ")");
		put_entry(g, o, flame_change_rgb(-1, o->negate), &text);
		buf_free(&text);
	}
	if (cnt > VANISHED_MAX) {
		struct buf text = { 0 };

		buf_printf(&text, "and %zu more", cnt - VANISHED_MAX);
		put_entry(g, o, -1, &text);
		buf_free(&text);
	}
	free(v);
}

static void put_changes(struct flame_legend *g, const struct flame_tree *t,
			const struct flame_opts *o)
{
	static const char *const widths[] = { "width: after", "width: before",
					      "width: the larger side" };

	put_words(g, o, flame_change_rgb(0.7, o->negate), "grew itself");
	put_words(g, o, flame_change_rgb(-0.7, o->negate), "shrank itself");
	put_words(g, o, FLAME_RGB_UNCHANGED, "unchanged");
	if (o->mask.self)
		put_words(g, o, FLAME_RGB_INSIGNIFICANT, "not significant");
	put_words(g, o, -1, "bar on top: with all above it");
	put_words(g, o, -1, widths[o->width_by]);
	if (o->width_by == FLAME_BY_AFTER)
		put_vanished(g, t, o);
}

void flame_legend__make(struct flame_legend *g, const struct flame_tree *t,
			const struct flame_layout *l, const struct flame_opts *o)
{
	*g = (struct flame_legend){ .x_px = FLAME_X_PAD_PX };
	if (flame_tree__has_side(t, FLAME_BEFORE))
		put_changes(g, t, o);
	else if (flame_tree__has_classes(t))
		put_classes(g, t, o);
	if (l->pruned_cnt && g->row_cnt) {
		struct buf text = { 0 };

		buf_puts(&text, "too narrow to draw: ");
		buf_put_u64(&text, l->pruned_cnt);
		put_entry(g, o, -1, &text);
		buf_free(&text);
	}
}

double flame_legend__height_px(const struct flame_legend *g)
{
	return g->row_cnt * FLAME_LEGEND_ROW_PX;
}

void flame_legend__put(const struct flame_legend *g, double y_px, struct buf *out)
{
	if (!g->row_cnt)
		return;
	buf_printf(out, "<g id=\"legend\" transform=\"translate(0 %g)\">\n", y_px);
	buf_append(out, buf_str(&g->svg), g->svg.len_bytes);
	buf_puts(out, "</g>\n");
}

void flame_legend__fini(struct flame_legend *g)
{
	buf_free(&g->svg);
}
