/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Geometry; see layout.h. */
#include "flamegraph/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "user/base/mem.h"

static double self_width(const struct flame_tree *t, uint32_t node, enum flame_width_by by)
{
	double after = flame_tree__self(t, node, FLAME_AFTER);
	double before = flame_tree__self(t, node, FLAME_BEFORE);

	if (by == FLAME_BY_AFTER)
		return after;
	return by == FLAME_BY_BEFORE || before > after ? before : after;
}

static void sum_widths(struct flame_layout *l, const struct flame_tree *t, enum flame_width_by by)
{
	enum flame_side side = by == FLAME_BY_BEFORE ? FLAME_BEFORE : FLAME_AFTER;
	double *w;

	l->widths = t->totals;
	if (by != FLAME_BY_UNION && t->col_cnt == 1 && t->col_side[0] == side)
		return;
	l->widths = w = l->own_widths = xcalloc(t->node_cnt, sizeof(*w));
	for (size_t n = t->node_cnt; n--;) {
		if (by != FLAME_BY_UNION) {
			w[n] = flame_tree__total(t, (uint32_t)n, side);
			continue;
		}
		w[n] += self_width(t, (uint32_t)n, by);
		if (n)
			w[t->nodes[n].parent] += w[n];
	}
}

static void put_box(struct flame_layout *l, struct flame_box box)
{
	l->boxes = xgrow(l->boxes, &l->box_cap, l->box_cnt + 1, sizeof(*l->boxes));
	l->boxes[l->box_cnt++] = box;
	if (box.depth > l->depth_max)
		l->depth_max = box.depth;
}

struct walk {
	const struct flame_tree *t;
	enum flame_width_by by;
	double min_weight;
	double *child_at; /* where the next child of the node at each depth begins */
	size_t child_cap;
};

static void enter(struct flame_layout *l, struct walk *w, uint32_t node, uint32_t depth,
		  double start)
{
	w->child_at = xgrow(w->child_at, &w->child_cap, depth + 2, sizeof(*w->child_at));
	w->child_at[depth] = start + self_width(w->t, node, w->by);
	put_box(l, (struct flame_box){ start, l->widths[node], node, depth });
}

static void walk_tree(struct flame_layout *l, struct walk *w)
{
	const struct flame_node *nodes = w->t->nodes;
	uint32_t node = nodes[0].first, depth = 1;

	enter(l, w, 0, 0, 0);
	while (node) {
		double start = w->t->starts ? w->t->starts[node] : w->child_at[depth - 1];
		bool drawn = l->widths[node] > 0 && l->widths[node] >= w->min_weight;

		w->child_at[depth - 1] += l->widths[node];
		if (drawn)
			enter(l, w, node, depth, start);
		else if (l->widths[node] > 0)
			l->pruned_cnt++;
		if (drawn && nodes[node].first) {
			node = nodes[node].first;
			depth++;
			continue;
		}
		while (node && !nodes[node].next) {
			node = nodes[node].parent;
			depth--;
		}
		node = node ? nodes[node].next : 0;
	}
}

int flame_layout__make(struct flame_layout *l, const struct flame_tree *t,
		       const struct flame_opts *o, struct err *err)
{
	struct walk w = { .t = t, .by = o->width_by };

	*l = (struct flame_layout){ 0 };
	sum_widths(l, t, o->width_by);
	l->sum = l->widths[0];
	if (!(l->sum > 0))
		return err_set(err, -ENODATA, "there are no stacks with a count above 0");
	l->total = o->total > l->sum ? o->total : l->sum;
	l->px_per_weight = (o->width_px - 2 * FLAME_X_PAD_PX) / l->total;
	w.min_weight = o->min_width_is_percent ? l->total * o->min_width / 100 :
						 o->min_width / l->px_per_weight;
	walk_tree(l, &w);
	l->boxes[0].width = l->total;
	free(w.child_at);
	return 0;
}

void flame_layout__fini(struct flame_layout *l)
{
	free(l->boxes);
	free(l->own_widths);
	*l = (struct flame_layout){ 0 };
}

struct flame_px flame_layout__px(const struct flame_layout *l, const struct flame_opts *o)
{
	struct flame_px p = { .top = o->font_size_px * 3, .bottom = o->font_size_px * 2 + 10 };

	if (o->subtitle && *o->subtitle)
		p.top += o->font_size_px * 2;
	p.height = (l->depth_max + 1) * o->frame_height_px + p.top + p.bottom;
	return p;
}

double flame_layout__y(const struct flame_layout *l, const struct flame_opts *o, uint32_t depth)
{
	struct flame_px p = flame_layout__px(l, o);

	if (o->inverted)
		return p.top + depth * o->frame_height_px;
	return p.height - p.bottom - (depth + 1) * o->frame_height_px + FLAME_FRAME_PAD_PX;
}
