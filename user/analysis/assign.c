/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/assign.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "user/base/mem.h"

struct heap_item {
	double dist;
	uint32_t col;
};

/* Potentials: reduced cost of an edge = cost - u[row] - v[col] >= 0, = 0 on matched edges; v <= 0, and
 * v = 0 on free columns. "None" is a private free column of each row. */
struct solver {
	const struct assign_problem *p;
	uint32_t *col_of_row;
	uint32_t *row_of_col;
	double *u;
	double *v;

	/* of the current search; only what it touched is reset */
	double *dist;	    /* by column; INFINITY = not reached */
	uint32_t *from_row; /* by column: the row through which it was reached */
	bool *done;
	uint32_t *touched;
	size_t touched_cnt;
	uint32_t *scanned; /* columns whose dist is final */
	size_t scanned_cnt;
	struct heap_item *heap;
	size_t heap_cnt;
	size_t heap_cap;
};

static bool item_before(struct heap_item a, struct heap_item b)
{
	return a.dist < b.dist || (a.dist == b.dist && a.col < b.col);
}

static void heap_push(struct solver *s, struct heap_item item)
{
	size_t i = s->heap_cnt++;

	s->heap = xgrow(s->heap, &s->heap_cap, s->heap_cnt, sizeof(*s->heap));
	for (; i && item_before(item, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = item;
}

static struct heap_item heap_pop(struct solver *s)
{
	struct heap_item top = s->heap[0], last = s->heap[--s->heap_cnt];
	size_t i = 0;

	for (;;) {
		size_t kid = 2 * i + 1;

		if (kid >= s->heap_cnt)
			break;
		if (kid + 1 < s->heap_cnt && item_before(s->heap[kid + 1], s->heap[kid]))
			kid++;
		if (!item_before(s->heap[kid], last))
			break;
		s->heap[i] = s->heap[kid];
		i = kid;
	}
	s->heap[i] = last;
	return top;
}

struct search_end {
	double dist;
	uint32_t col; /* a free column, or ASSIGN_NONE: the row below takes none */
	uint32_t row;
};

/* Reaches out from a row that is base away from the root; keeps the best "none" in *end. */
static void relax_row(struct solver *s, uint32_t row, double base, struct search_end *end)
{
	const struct assign_problem *p = s->p;
	double none = base + p->none_costs[row] - s->u[row];

	if (none < end->dist)
		*end = (struct search_end){ .dist = none, .col = ASSIGN_NONE, .row = row };
	for (size_t e = p->row_edges[row]; e < p->row_edges[row + 1]; e++) {
		uint32_t col = p->cols[e];
		double d = base + p->costs[e] - s->u[row] - s->v[col];

		if (s->done[col] || d >= s->dist[col] || d >= end->dist)
			continue;
		if (isinf(s->dist[col]))
			s->touched[s->touched_cnt++] = col;
		s->dist[col] = d;
		s->from_row[col] = row;
		heap_push(s, (struct heap_item){ .dist = d, .col = col });
	}
}

static struct search_end search(struct solver *s, uint32_t root)
{
	struct search_end end = { .dist = INFINITY, .col = ASSIGN_NONE, .row = root };

	relax_row(s, root, 0, &end);
	while (s->heap_cnt) {
		struct heap_item it = heap_pop(s);

		if (it.dist >= end.dist)
			break;
		if (s->done[it.col] || it.dist > s->dist[it.col])
			continue;
		if (s->row_of_col[it.col] == ASSIGN_NONE)
			return (struct search_end){ .dist = it.dist, .col = it.col };
		s->done[it.col] = true;
		s->scanned[s->scanned_cnt++] = it.col;
		relax_row(s, s->row_of_col[it.col], it.dist, &end);
	}
	return end;
}

/* Keeps the invariants: every row and column inside the radius moves by what it lies below it. */
static void move_potentials(struct solver *s, uint32_t root, double radius)
{
	s->u[root] += radius;
	for (size_t i = 0; i < s->scanned_cnt; i++) {
		uint32_t col = s->scanned[i];
		double by = radius - s->dist[col];

		s->v[col] -= by;
		s->u[s->row_of_col[col]] += by;
	}
}

static void augment(struct solver *s, uint32_t root, struct search_end end)
{
	uint32_t col = end.col, row = end.row;

	if (col == ASSIGN_NONE) {
		col = s->col_of_row[row]; /* the column that this row gives up */
		s->col_of_row[row] = ASSIGN_NONE;
		if (row == root)
			return;
	}
	for (;;) {
		uint32_t next;

		row = s->from_row[col];
		next = s->col_of_row[row];
		s->col_of_row[row] = col;
		s->row_of_col[col] = row;
		if (row == root)
			return;
		col = next;
	}
}

static void reset_search(struct solver *s)
{
	for (size_t i = 0; i < s->touched_cnt; i++) {
		s->dist[s->touched[i]] = INFINITY;
		s->done[s->touched[i]] = false;
	}
	s->touched_cnt = 0;
	s->scanned_cnt = 0;
	s->heap_cnt = 0;
}

static void start(struct solver *s)
{
	const struct assign_problem *p = s->p;

	for (uint32_t c = 0; c < p->cols_cnt; c++) {
		s->row_of_col[c] = ASSIGN_NONE;
		s->dist[c] = INFINITY;
	}
	for (uint32_t r = 0; r < p->rows_cnt; r++) {
		s->col_of_row[r] = ASSIGN_NONE;
		s->u[r] = p->none_costs[r];
		for (size_t e = p->row_edges[r]; e < p->row_edges[r + 1]; e++)
			if (p->costs[e] < s->u[r])
				s->u[r] = p->costs[e];
	}
}

void assign_solve(const struct assign_problem *p, uint32_t *col_of_row, double *col_prices)
{
	struct solver s = { .p = p, .col_of_row = col_of_row };
	size_t cols = (size_t)p->cols_cnt + 1;

	s.row_of_col = xcalloc(cols, sizeof(*s.row_of_col));
	s.u = xcalloc((size_t)p->rows_cnt + 1, sizeof(*s.u));
	s.v = xcalloc(cols, sizeof(*s.v));
	s.dist = xcalloc(cols, sizeof(*s.dist));
	s.from_row = xcalloc(cols, sizeof(*s.from_row));
	s.done = xcalloc(cols, sizeof(*s.done));
	s.touched = xcalloc(cols, sizeof(*s.touched));
	s.scanned = xcalloc(cols, sizeof(*s.scanned));
	start(&s);
	for (uint32_t r = 0; r < p->rows_cnt; r++) {
		struct search_end end = search(&s, r);

		move_potentials(&s, r, end.dist);
		augment(&s, r, end);
		reset_search(&s);
	}
	for (uint32_t c = 0; col_prices && c < p->cols_cnt; c++)
		col_prices[c] = s.v[c];
	free(s.row_of_col);
	free(s.u);
	free(s.v);
	free(s.dist);
	free(s.from_row);
	free(s.done);
	free(s.touched);
	free(s.scanned);
	free(s.heap);
}

double assign_cost(const struct assign_problem *p, const uint32_t *col_of_row)
{
	double sum = 0;

	for (uint32_t r = 0; r < p->rows_cnt; r++) {
		double cost = p->none_costs[r];

		for (size_t e = p->row_edges[r]; e < p->row_edges[r + 1]; e++)
			if (p->cols[e] == col_of_row[r])
				cost = p->costs[e];
		sum += cost;
	}
	return sum;
}
