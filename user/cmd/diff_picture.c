/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference as a flame graph; see diff_picture.h. */
#include "user/cmd/diff_picture.h"

#include <stdlib.h>
#include <string.h>

#include "flamegraph/html.h"
#include "flamegraph/tree.h"
#include "user/analysis/diff_report.h"
#include "user/base/mem.h"

const char *const diff_picture_widths[] = { "after", "before", "union", NULL };

struct drawing {
	const struct diff *d;
	struct flame_tree *tree;
	uint32_t *drawn; /* by node of the difference: 1 + node of the picture; 0 = not there */
	const char **names;
	size_t names_cap;
};

/* Adds one stack, root first, and finds out which of the picture's nodes its callers are. */
static void add_stack(struct drawing *g, uint32_t node)
{
	const struct nametree *t = &g->d->tree;
	const struct diff_node *n = &g->d->nodes[node];
	const struct flame_weight weights[2] = {
		{ .value = n->self[1], .side = FLAME_AFTER },
		{ .value = n->self[0], .side = FLAME_BEFORE },
	};
	uint32_t at = node, drawn;
	size_t depth = 0, i;

	for (uint32_t up = node; up; up = t->nodes[up].parent)
		depth++;
	if (depth >= g->names_cap)
		g->names = xgrow(g->names, &g->names_cap, depth + 1, sizeof(char *));
	i = depth;
	for (uint32_t up = node; up; up = t->nodes[up].parent)
		g->names[--i] = nametree_name(t, up);
	drawn = flame_tree__add_names(g->tree, g->names, depth, weights, 2);
	for (; at && !g->drawn[at]; at = t->nodes[at].parent) {
		g->drawn[at] = 1 + drawn;
		drawn = g->tree->nodes[drawn].parent;
	}
}

/* Frames of the picture that changed beyond noise. */
static void make_mask(const struct drawing *g, uint8_t *self, uint8_t *subtree)
{
	for (uint32_t i = 1; i < g->d->tree.cnt; i++) {
		if (!g->drawn[i])
			continue;
		self[g->drawn[i] - 1] = diff_node_self_changed(g->d, i);
		subtree[g->drawn[i] - 1] = diff_node_subtree_changed(g->d, i);
	}
	self[0] = 0;
	subtree[0] = diff_node_subtree_changed(g->d, 0);
}

static void describe(const struct diff *d, struct flame_opts *o)
{
	if (!strcmp(d->unit, "ns"))
		o->unit = FLAME_UNIT_NS;
	else if (!strcmp(d->unit, "bytes"))
		o->unit = FLAME_UNIT_BYTES;
	else
		o->count_name = d->unit;
}

/* A page has the three widths as tabs, the chosen one first; an SVG has the chosen one. */
static int put(const struct drawing *g, struct flame_opts *o, bool html, struct buf *out,
	       struct err *err)
{
	static const char *const labels[] = { "width: after", "width: before",
					      "width: larger of both" };
	struct flame_opts opts[3];
	struct flame_tab tabs[3];

	if (!html)
		return flame_svg(g->tree, o, out, err);
	for (int i = 0; i < 3; i++) {
		int width = ((int)o->width_by + i) % 3;

		opts[i] = *o;
		opts[i].width_by = (enum flame_width_by)width;
		tabs[i] = (struct flame_tab){ labels[width], g->tree, &opts[i] };
	}
	return flame_html(tabs, 3, NULL, out, err);
}

static int draw(const struct drawing *g, const struct diff_picture_options *opts, bool html,
		struct buf *out, struct err *err)
{
	uint8_t *self = xcalloc(g->tree->node_cnt + 1, 1),
		*subtree = xcalloc(g->tree->node_cnt + 1, 1);
	struct buf caption = { 0 };
	struct flame_opts o;
	int rc;

	flame_opts_init(&o);
	describe(g->d, &o);
	diff_report_caption(g->d, &caption);
	o.title = opts->title ? opts->title : "Differential Flame Graph";
	o.subtitle = buf_str(&caption);
	o.width_by = (enum flame_width_by)opts->width_by;
	o.negate = opts->negate;
	o.inverted = opts->inverted;
	make_mask(g, self, subtree);
	if (g->d->method != DIFF_NO_TEST)
		o.mask = (struct flame_mask){ self, subtree, g->tree->node_cnt };
	rc = put(g, &o, html, out, err);
	buf_free(&caption);
	free(self);
	free(subtree);
	return rc;
}

static bool is_html(const char *path)
{
	size_t n = strlen(path);

	return (n > 5 && !strcmp(path + n - 5, ".html")) ||
	       (n > 4 && !strcmp(path + n - 4, ".htm"));
}

int diff_picture__save(const struct diff *d, const struct diff_picture_options *opts,
		       const char *path, enum outfile_mode mode, struct err *err)
{
	struct drawing g = { .d = d, .tree = flame_tree__new(FLAME_MERGE_ALL) };
	uint32_t *order = nametree_sorted(&d->tree);
	struct buf out = { 0 };
	int rc;

	g.drawn = xcalloc(d->tree.cnt + 1, sizeof(*g.drawn));
	for (size_t i = 1; i < d->tree.cnt; i++)
		if (d->nodes[order[i]].self[0] > 0 || d->nodes[order[i]].self[1] > 0)
			add_stack(&g, order[i]);
	flame_tree__finish(g.tree);
	rc = draw(&g, opts, is_html(path), &out, err);
	if (!rc)
		rc = outfile_put(path, mode, buf_str(&out), out.len_bytes, err);
	flame_tree__free(g.tree);
	buf_free(&out);
	free(order);
	free(g.drawn);
	free(g.names);
	return rc;
}
