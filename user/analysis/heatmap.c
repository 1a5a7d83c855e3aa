/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heat map of operations and traces; see ccct_graph.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/ccct_graph.h"
#include "user/base/mem.h"

const double heatmap_quantiles[HEATMAP_QUANTILES] = { 0.50, 0.95, 0.99 };

/* A value that weight traces have (or had in the mean). */
struct weighted {
	uint32_t frame;
	uint64_t weight;
	double ns;
};

struct values {
	struct weighted *items;
	size_t cnt, cap;
};

static void add_value(struct values *v, uint32_t frame, int64_t sum_ns, uint64_t weight)
{
	if (!sum_ns || !weight)
		return;
	v->items = xgrow(v->items, &v->cap, v->cnt + 1, sizeof(*v->items));
	v->items[v->cnt++] = (struct weighted){ frame, weight, (double)sum_ns / (double)weight };
}

static int by_frame_and_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The element with this rank (from 0) when each counts weight times. */
static double ranked(const struct weighted *w, size_t cnt, uint64_t rank)
{
	uint64_t at = 0;

	for (size_t i = 0; i < cnt; i++) {
		at += w[i].weight;
		if (rank < at)
			return w[i].ns;
	}
	return cnt ? w[cnt - 1].ns : 0;
}

static void quantiles(const struct weighted *w, size_t cnt, double *ret)
{
	uint64_t total = 0;

	for (size_t i = 0; i < cnt; i++)
		total += w[i].weight;
	for (int q = 0; q < HEATMAP_QUANTILES && total; q++) {
		double at = heatmap_quantiles[q] * (double)(total - 1);
		double lo = ranked(w, cnt, (uint64_t)floor(at));
		double hi = ranked(w, cnt, (uint64_t)ceil(at));

		ret[q] = lo + (hi - lo) * (at - floor(at));
	}
}

struct filling {
	struct heatmap *map;
	const struct ccct *ccct;
	struct values inclusive, exclusive;
	uint32_t *row_of; /* by frame */
	int64_t *sums;	  /* by frame: exclusive, inclusive of the group under work */
	uint64_t *weights;
	uint32_t *frames; /* of the group under work */
};

/* Sums of one group per operation: a frame may lie on several call paths. */
static size_t sum_group(struct filling *f, const struct ccct_group *g)
{
	const struct ccct *c = f->ccct;
	size_t cnt = 0;

	for (size_t k = g->first_cell; k < g->first_cell + g->cell_cnt; k++) {
		const struct ccct_cell *cell = &c->cells[k];
		uint32_t frame = c->paths[cell->path].frame;

		if (!f->weights[frame])
			f->frames[cnt++] = frame;
		if (f->weights[frame] < cell->trace_cnt)
			f->weights[frame] = cell->trace_cnt;
		f->sums[2 * frame] += cell->exclusive_ns;
		f->sums[2 * frame + 1] += cell->inclusive_ns;
	}
	return cnt;
}

static void collect_group(struct filling *f, const struct ccct_group *g)
{
	size_t cnt = sum_group(f, g);

	for (size_t i = 0; i < cnt; i++) {
		uint32_t frame = f->frames[i];

		add_value(&f->exclusive, frame, f->sums[2 * frame], f->weights[frame]);
		add_value(&f->inclusive, frame, f->sums[2 * frame + 1], f->weights[frame]);
		f->sums[2 * frame] = f->sums[2 * frame + 1] = 0;
		f->weights[frame] = 0;
	}
	add_value(&f->exclusive, SPAN_NONE, g->root_ns, g->trace_cnt);
	f->map->trace_cnt += g->trace_cnt;
}

static int by_total(const void *a, const void *b, void *arg)
{
	const struct heatmap_row *x = a, *y = b;

	if (x->frame == SPAN_NONE || y->frame == SPAN_NONE)
		return x->frame == y->frame ? 0 : x->frame == SPAN_NONE ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return ccct__compare_frames(arg, x->frame, y->frame);
}

/* One row per run of equal frames in sorted values; inclusive runs are looked up beside. */
static void make_rows(struct filling *f)
{
	struct values *ex = &f->exclusive, *in = &f->inclusive;
	size_t cap = 0, j = 0;

	qsort(ex->items, ex->cnt, sizeof(*ex->items), by_frame_and_value);
	if (in->cnt)
		qsort(in->items, in->cnt, sizeof(*in->items), by_frame_and_value);
	for (size_t i = 0, end; i < ex->cnt; i = end) {
		struct heatmap_row row = { .frame = ex->items[i].frame };
		size_t first;

		for (end = i; end < ex->cnt && ex->items[end].frame == row.frame; end++) {
			row.occurrence += ex->items[end].weight;
			row.total_ns += llround(ex->items[end].ns * (double)ex->items[end].weight);
		}
		quantiles(ex->items + i, end - i, row.exclusive_ns);
		while (j < in->cnt && in->items[j].frame < row.frame)
			j++;
		for (first = j; j < in->cnt && in->items[j].frame == row.frame; j++)
			;
		quantiles(in->items + first, j - first, row.inclusive_ns);
		if (row.frame == SPAN_NONE)
			memcpy(row.inclusive_ns, row.exclusive_ns, sizeof(row.inclusive_ns));
		f->map->rows = xgrow(f->map->rows, &cap, f->map->row_cnt + 1, sizeof(row));
		f->map->rows[f->map->row_cnt++] = row;
	}
	if (f->map->row_cnt > 1)
		qsort_r(f->map->rows, f->map->row_cnt, sizeof(*f->map->rows), by_total,
			(void *)(uintptr_t)f->ccct);
}

/* At most max columns, evenly spaced over the groups first..end (ascending), the slowest first. */
static void choose_columns(struct heatmap *h, const uint32_t *groups, size_t cnt, size_t max)
{
	h->column_cnt = cnt < max ? cnt : max;
	h->columns = xcalloc(h->column_cnt + 1, sizeof(*h->columns));
	for (size_t i = 0; i < h->column_cnt; i++)
		h->columns[i] = groups[cnt - 1 - (h->column_cnt == cnt ? i : i * cnt / max)];
}

static void fill_cells(struct filling *f)
{
	struct heatmap *h = f->map;

	h->cells_ns = xcalloc(h->row_cnt * h->column_cnt + 1, sizeof(*h->cells_ns));
	for (size_t r = 0; r < h->row_cnt; r++)
		if (h->rows[r].frame != SPAN_NONE)
			f->row_of[h->rows[r].frame] = (uint32_t)r;
	for (size_t i = 0; i < h->column_cnt; i++) {
		const struct ccct_group *g = &f->ccct->groups[h->columns[i]];

		h->cells_ns[i] = g->root_ns / (int64_t)g->trace_cnt;
		for (size_t k = g->first_cell; k < g->first_cell + g->cell_cnt; k++) {
			const struct ccct_cell *cell = &f->ccct->cells[k];
			uint32_t row = f->row_of[f->ccct->paths[cell->path].frame];

			if (row)
				h->cells_ns[row * h->column_cnt + i] +=
					cell->exclusive_ns / (int64_t)g->trace_cnt;
		}
	}
}

static int by_duration(const void *a, const void *b, void *arg)
{
	const struct ccct *c = arg;
	const struct ccct_group *x = &c->groups[*(const uint32_t *)a],
				*y = &c->groups[*(const uint32_t *)b];
	int64_t mx = x->root_ns / (int64_t)x->trace_cnt, my = y->root_ns / (int64_t)y->trace_cnt;

	if (mx != my)
		return mx < my ? -1 : 1;
	return x < y ? -1 : x > y;
}

void heatmap__fill(struct heatmap *h, const struct ccct *c, uint32_t entry, size_t max_columns)
{
	struct filling f = { .map = h, .ccct = c };
	uint32_t *groups = xcalloc(c->group_cnt + 1, sizeof(*groups));
	size_t cnt = 0;

	*h = (struct heatmap){ 0 };
	f.row_of = xcalloc(c->frame_cnt + 1, sizeof(*f.row_of));
	f.sums = xcalloc(2 * c->frame_cnt + 1, sizeof(*f.sums));
	f.weights = xcalloc(c->frame_cnt + 1, sizeof(*f.weights));
	f.frames = xcalloc(c->frame_cnt + 1, sizeof(*f.frames));
	for (size_t i = 0; i < c->group_cnt; i++)
		if (entry == SPAN_NONE || entry == c->groups[i].entry) {
			collect_group(&f, &c->groups[i]);
			groups[cnt++] = (uint32_t)i;
		}
	if (cnt > 1)
		qsort_r(groups, cnt, sizeof(*groups), by_duration, (void *)(uintptr_t)c);
	if (f.exclusive.cnt)
		make_rows(&f);
	choose_columns(h, groups, cnt, max_columns);
	fill_cells(&f);
	free(groups);
	free(f.row_of);
	free(f.sums);
	free(f.weights);
	free(f.frames);
	free(f.inclusive.items);
	free(f.exclusive.items);
}

void heatmap__free(struct heatmap *h)
{
	free(h->rows);
	free(h->columns);
	free(h->cells_ns);
	*h = (struct heatmap){ 0 };
}
