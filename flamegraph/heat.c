/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heat map; see heat.h. */
#include "flamegraph/heat.h"

#include <math.h>
#include <stdlib.h>

#include "flamegraph/metrics.h"
#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	LEVELS = 12,
	CELL_HEIGHT_PX = 4,
	LABEL_PX = 90,
	MAP_GAP_PX = 22,
};

struct map {
	const char *label;
	bool on; /* running time, or everything else */
	bool all;
	double *sums;
	double least, max; /* of the slices; the colours span from one to the other */
};

static uint32_t level_rgb(const struct map *m, int level)
{
	static const double paper[3] = { 250, 248, 242 };
	uint32_t full = m->on || m->all ? 0xc8400a : 0x1f4f96;
	double depth = (double)(level + 1) / LEVELS;
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++) {
		double to = full >> (16 - 8 * i) & 255;

		rgb = rgb << 8 | (uint32_t)(paper[i] + depth * (to - paper[i]) + 0.5);
	}
	return rgb;
}

static void sum_up(const struct flame_heat *h, struct map *m)
{
	m->sums = xcalloc(h->slice_cnt, sizeof(*m->sums));
	for (size_t i = 0; i < h->cnt; i++) {
		const struct flame_slice *s = &h->slices[i];

		if (s->slice < h->slice_cnt && (m->all || m->on == (s->cls == FLAME_RUNNING)))
			m->sums[s->slice] += s->value;
	}
	m->least = m->sums[0];
	for (uint32_t i = 0; i < h->slice_cnt; i++) {
		if (m->sums[i] > m->max)
			m->max = m->sums[i];
		if (m->sums[i] < m->least && i + 1 < h->slice_cnt) /* the last may be cut */
			m->least = m->sums[i];
	}
}

/* Idle threads wait all the time: what they add to each slice would hide the changes. */
static int level_of(const struct map *m, double v)
{
	if (!(v > m->least) && v < m->max)
		return m->least > 0 ? 0 : -1;
	if (!(m->max > m->least))
		return LEVELS / 2;
	return (int)ceil((v - m->least) / (m->max - m->least) * LEVELS) - 1;
}

/* The label, and from how many to how many threads the colours go. */
static void put_label(const struct flame_heat *h, const struct map *m, double top_px,
		      const struct flame_opts *o, struct buf *out)
{
	buf_printf(out, "<text class=\"ui\" x=\"10\" y=\"%g\">%s</text>\n", top_px + 12, m->label);
	if (o->unit != FLAME_UNIT_NS)
		return;
	buf_printf(out, "<text class=\"ui\" x=\"10\" y=\"%g\">%.3g to %.3g</text>\n", top_px + 30,
		   m->least / (double)h->slice_ns, m->max / (double)h->slice_ns);
	buf_printf(out, "<text class=\"ui\" x=\"10\" y=\"%g\">threads</text>\n", top_px + 45);
}

struct heat_geometry {
	double width_px, cell_px;
	uint32_t column_cnt;
};

static struct heat_geometry geometry(const struct flame_heat *h, const struct flame_opts *o)
{
	struct heat_geometry g = { .column_cnt = (h->slice_cnt + h->row_cnt - 1) / h->row_cnt };

	g.width_px = o->width_px - LABEL_PX - FLAME_X_PAD_PX;
	g.cell_px = g.width_px / g.column_cnt;
	if (g.cell_px > 24)
		g.cell_px = 24;
	return g;
}

static void put_map(const struct flame_heat *h, const struct map *m, const struct heat_geometry *g,
		    double top_px, struct buf *out)
{
	struct buf paths[LEVELS] = { 0 };

	for (uint32_t i = 0; i < h->slice_cnt && m->max > 0; i++) {
		int level = level_of(m, m->sums[i]);

		if (level < 0)
			continue;
		buf_putc(&paths[level], 'M');
		flame_put_fixed1(&paths[level], LABEL_PX + i / h->row_cnt * g->cell_px);
		buf_putc(&paths[level], ' ');
		flame_put_fixed1(&paths[level], top_px + (h->row_cnt - 1 - i % h->row_cnt) *
								 (double)CELL_HEIGHT_PX);
		buf_printf(&paths[level], "h%gv%dh-%gz", floor(g->cell_px * 10 + 0.5) / 10,
			   CELL_HEIGHT_PX, floor(g->cell_px * 10 + 0.5) / 10);
	}
	for (int i = 0; i < LEVELS; i++) {
		if (paths[i].len_bytes)
			buf_printf(out, "<path fill=\"#%06x\" d=\"%s\"/>\n", level_rgb(m, i),
				   buf_str(&paths[i]));
		buf_free(&paths[i]);
	}
	buf_printf(out,
		   "<rect class=\"map\" x=\"%d\" y=\"%g\" width=\"%g\" height=\"%d\" "
		   "fill=\"none\" stroke=\"#999\" stroke-width=\".5\"/>\n",
		   LABEL_PX, top_px, g->cell_px * g->column_cnt, (int)h->row_cnt * CELL_HEIGHT_PX);
}

static void put_axis(const struct flame_heat *h, const struct heat_geometry *g, double y_px,
		     struct buf *out)
{
	uint32_t step = 1;

	while (step * g->cell_px < 70)
		step *= step % 3 == 2 ? 5 : 2; /* 1, 2, 10, 20, 100, ... */
	for (uint32_t c = 0; c < g->column_cnt; c += step) {
		buf_printf(out, "<text class=\"ui\" x=\"%.1f\" y=\"%g\">",
			   LABEL_PX + c * g->cell_px, y_px);
		if (c)
			buf_put_duration(out, (uint64_t)c * h->row_cnt * h->slice_ns);
		else
			buf_putc(out, '0');
		buf_puts(out, "</text>\n");
	}
}

void flame_heat_put_svg(const struct flame_heat *h, const struct flame_picture *p, struct buf *out)
{
	struct map maps[2] = { { .label = "on-CPU", .on = true }, { .label = "off-CPU" } };
	struct heat_geometry g = geometry(h, p->opts);
	double map_px = h->row_cnt * (double)CELL_HEIGHT_PX;
	int map_cnt = p->classes ? 2 : 1;

	if (!p->classes)
		maps[0] = (struct map){ .label = "all", .all = true };
	buf_printf(out,
		   "<svg class=\"flame heat\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" "
		   "height=\"%g\" data-left=\"%d\" data-cell=\"%.17g\" data-row=\"%d\" "
		   "data-rows=\"%u\" data-slices=\"%u\" data-ns=\"%llu\" data-gap=\"%d\" "
		   "data-maps=\"%d\">\n",
		   p->opts->width_px, map_cnt * (map_px + MAP_GAP_PX) + 8, LABEL_PX, g.cell_px,
		   CELL_HEIGHT_PX, h->row_cnt, h->slice_cnt, (unsigned long long)h->slice_ns,
		   MAP_GAP_PX, map_cnt);
	for (int i = 0; i < map_cnt; i++) {
		sum_up(h, &maps[i]);
		put_label(h, &maps[i], 4 + i * (map_px + MAP_GAP_PX), p->opts, out);
		put_map(h, &maps[i], &g, 4 + i * (map_px + MAP_GAP_PX), out);
		put_axis(h, &g, 4 + i * (map_px + MAP_GAP_PX) + map_px + 14, out);
		free(maps[i].sums);
	}
	buf_puts(out, "</svg>\n");
}

/* Data ------------------------------------------------------------------------------------------------- */

static int compare_slices(const void *pa, const void *pb)
{
	const struct flame_slice *a = pa, *b = pb;

	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->cls - b->cls;
}

/* From here on .node of a slice is the number of its box. */
static void nodes_to_boxes(struct flame_heat *h, const struct flame_picture *p)
{
	const struct flame_tree *t = p->tree;
	uint32_t *box_of = xcalloc(t->node_cnt, sizeof(*box_of));

	for (size_t i = 0; i < p->layout.box_cnt; i++)
		box_of[p->layout.boxes[i].node] = (uint32_t)i;
	for (size_t n = 1; n < t->node_cnt; n++)
		if (!box_of[n])
			box_of[n] = box_of[t->nodes[n].parent];
	for (size_t i = 0; i < h->cnt; i++)
		h->slices[i].node = h->slices[i].node < t->node_cnt ? box_of[h->slices[i].node] : 0;
	free(box_of);
}

void flame_heat_put_data(struct flame_heat *h, const struct flame_picture *p, struct buf *out)
{
	uint32_t before = 0;

	nodes_to_boxes(h, p);
	qsort(h->slices, h->cnt, sizeof(*h->slices), compare_slices);
	for (size_t i = 0; i < h->cnt; i++) {
		struct flame_slice s = h->slices[i];
		uint32_t col = p->tree->cols[FLAME_AFTER][s.cls < FLAME_CLASS_MAX ? s.cls : 0];

		while (i + 1 < h->cnt && !compare_slices(&h->slices[i], &h->slices[i + 1]))
			s.value += h->slices[++i].value;
		if (s.slice >= h->slice_cnt || !col)
			continue;
		flame_encoding__put_digits(out, s.slice - before);
		flame_encoding__put_digits(out, s.node);
		if (p->tree->col_cnt > 1)
			flame_encoding__put_digits(out, col - 1);
		flame_encoding__put_digits(out, floor(s.value * p->encoding.scale + 0.5));
		before = s.slice;
	}
}
