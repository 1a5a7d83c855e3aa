/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/assign.h"
#include "user/analysis/match_node.h"
#include "user/base/mem.h"

struct group {
	uint32_t first; /* out; the rest through group_next */
	uint32_t owner; /* request, or MATCH_NOBODY */
	uint32_t cnt;
};

struct work {
	struct match_node *n;
	const struct match_block *b;
	uint32_t *kinds;
	uint32_t *group_next; /* by out */
	bool *moved;	      /* by out: belongs to a group */
	struct group *groups;
	size_t groups_cnt, groups_cap;
	double *base; /* by request: score of what stays; NAN = not yet known */

	size_t *row_edges;
	uint32_t *cols;
	double *costs;
	double *none_costs;
	size_t edges_cnt, cols_cap, costs_cap;
};

static void find_groups(struct work *w)
{
	struct match_node *n = w->n;

	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		struct group g = { .first = MATCH_NOBODY, .owner = r };
		uint32_t last = MATCH_NOBODY;

		for (uint32_t o = n->first[r]; o != MATCH_NOBODY; o = n->next[o]) {
			if (!w->b->kinds[w->kinds[o]] || n->fixed[o])
				continue;
			w->moved[o] = true;
			w->group_next[o] = MATCH_NOBODY;
			if (last == MATCH_NOBODY)
				g.first = o;
			else
				w->group_next[last] = o;
			last = o;
			g.cnt++;
		}
		if (!g.cnt)
			continue;
		w->groups = xgrow(w->groups, &w->groups_cap, w->groups_cnt + 1, sizeof(g));
		w->groups[w->groups_cnt++] = g;
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		if (n->req_of[o] != MATCH_NOBODY || n->outs[o].endpoint != w->b->alone_endpoint)
			continue;
		w->moved[o] = true;
		w->group_next[o] = MATCH_NOBODY;
		w->groups = xgrow(w->groups, &w->groups_cap, w->groups_cnt + 1, sizeof(*w->groups));
		w->groups[w->groups_cnt++] =
			(struct group){ .first = o, .owner = MATCH_NOBODY, .cnt = 1 };
	}
}

static int by_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* The calls that request r keeps, merged with a group's; returns how many, or 0 if too many. */
static uint32_t gather(const struct work *w, uint32_t r, const struct group *g,
		       const struct match_out **kids)
{
	const struct match_node *n = w->n;
	uint32_t cnt = 0, o = w->b->blind ? MATCH_NOBODY : n->first[r];
	uint32_t p = g ? g->first : MATCH_NOBODY;

	while (o != MATCH_NOBODY || p != MATCH_NOBODY) {
		uint32_t take;

		if (o != MATCH_NOBODY && w->moved[o]) {
			o = n->next[o];
			continue;
		}
		if (cnt == MATCH_KIDS_MAX)
			return 0;
		if (o < p) { /* MATCH_NOBODY is the largest number, and numbers go by start */
			take = o;
			o = n->next[o];
		} else {
			take = p;
			p = w->group_next[p];
		}
		kids[cnt++] = &n->outs[take];
	}
	return cnt;
}

static double base_score(struct work *w, uint32_t r)
{
	const struct match_out *kids[MATCH_KIDS_MAX];

	if (isnan(w->base[r])) {
		uint32_t cnt = gather(w, r, NULL, kids);

		w->base[r] = match_model_score(&w->n->model, &w->n->reqs[r], kids, cnt);
	}
	return w->base[r];
}

static bool all_fit(const struct work *w, const struct group *g, uint32_t r)
{
	for (uint32_t o = w->group_next[g->first]; o != MATCH_NOBODY; o = w->group_next[o])
		if (!match_node_fits(w->n, o, r))
			return false;
	return true;
}

static void add_edges(struct work *w, const struct group *g)
{
	struct match_node *n = w->n;
	const struct match_out *kids[MATCH_KIDS_MAX];

	for (size_t c = n->cand_start[g->first]; c < n->cand_start[g->first + 1]; c++) {
		uint32_t r = n->cands[c], cnt;

		if (r != g->owner && !all_fit(w, g, r))
			continue;
		cnt = gather(w, r, g, kids);
		if (!cnt)
			continue;
		w->cols = xgrow(w->cols, &w->cols_cap, w->edges_cnt + 1, sizeof(*w->cols));
		w->costs = xgrow(w->costs, &w->costs_cap, w->edges_cnt + 1, sizeof(*w->costs));
		w->cols[w->edges_cnt] = r;
		w->costs[w->edges_cnt++] =
			base_score(w, r) - match_model_score(&n->model, &n->reqs[r], kids, cnt);
	}
}

static void build(struct work *w)
{
	struct match_node *n = w->n;

	w->kinds = xcalloc((size_t)n->outs_cnt + 1, sizeof(*w->kinds));
	w->group_next = xcalloc((size_t)n->outs_cnt + 1, sizeof(*w->group_next));
	w->moved = xcalloc((size_t)n->outs_cnt + 1, sizeof(*w->moved));
	w->base = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*w->base));
	match_node_kinds(n, w->kinds);
	find_groups(w);
	if (w->groups_cnt)
		qsort(w->groups, w->groups_cnt, sizeof(*w->groups), by_first);
	for (uint32_t r = 0; r < n->reqs_cnt; r++)
		w->base[r] = NAN;
	w->row_edges = xcalloc(w->groups_cnt + 1, sizeof(*w->row_edges));
	w->none_costs = xcalloc(w->groups_cnt + 1, sizeof(*w->none_costs));
	for (size_t g = 0; g < w->groups_cnt; g++) {
		w->row_edges[g] = w->edges_cnt;
		for (uint32_t o = w->groups[g].first; o != MATCH_NOBODY; o = w->group_next[o])
			w->none_costs[g] += match_node_none_cost(n, o);
		add_edges(w, &w->groups[g]);
	}
	w->row_edges[w->groups_cnt] = w->edges_cnt;
}

static void release(struct work *w)
{
	free(w->kinds);
	free(w->group_next);
	free(w->moved);
	free(w->groups);
	free(w->base);
	free(w->row_edges);
	free(w->cols);
	free(w->costs);
	free(w->none_costs);
}

/* First all leave, then all arrive, so that nobody meets a list in between. */
static size_t apply(struct work *w, const uint32_t *req_of_group)
{
	size_t changed = 0;

	for (size_t g = 0; g < w->groups_cnt; g++)
		if (req_of_group[g] != w->groups[g].owner)
			for (uint32_t o = w->groups[g].first; o != MATCH_NOBODY;
			     o = w->group_next[o])
				match_node_move(w->n, o, MATCH_NOBODY);
	for (size_t g = 0; g < w->groups_cnt; g++) {
		if (req_of_group[g] == w->groups[g].owner)
			continue;
		for (uint32_t o = w->groups[g].first; o != MATCH_NOBODY; o = w->group_next[o]) {
			match_node_move(w->n, o, req_of_group[g]);
			changed++;
		}
	}
	return changed;
}

size_t match_block_solve(struct match_node *n, const struct match_block *b)
{
	struct work w = { .n = n, .b = b };
	uint32_t *col_of_row;
	size_t changed;

	build(&w);
	col_of_row = xcalloc(w.groups_cnt + 1, sizeof(*col_of_row));
	assign_solve(&(struct assign_problem){ .rows_cnt = (uint32_t)w.groups_cnt,
					       .cols_cnt = n->reqs_cnt,
					       .row_edges = w.row_edges,
					       .cols = w.cols,
					       .costs = w.costs,
					       .none_costs = w.none_costs },
		     col_of_row, NULL);
	changed = apply(&w, col_of_row);
	free(col_of_row);
	release(&w);
	return changed;
}
