/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of critical paths added up; see ccct_graph.h. */
#include "user/analysis/ccct_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

static int64_t part_of(int64_t ns, uint64_t take, uint64_t of)
{
	return take == of ? ns : (int64_t)((__int128)ns * (__int128)take / (__int128)of);
}

static void add_group(struct ccct_graph *g, const struct ccct *c, const struct ccct_group *group,
		      uint64_t take)
{
	for (size_t k = group->first_cell; k < group->first_cell + group->cell_cnt; k++) {
		const struct ccct_cell *cell = &c->cells[k];
		struct ccct_times *to = &g->paths[cell->path];

		to->inclusive_ns += part_of(cell->inclusive_ns, take, group->trace_cnt);
		to->exclusive_ns += part_of(cell->exclusive_ns, take, group->trace_cnt);
		to->freq += (uint64_t)part_of((int64_t)cell->freq, take, group->trace_cnt);
	}
	g->trace_cnt += take;
	g->root_ns += part_of(group->root_ns, take, group->trace_cnt);
}

/* Groups first..end are one entry's, by root duration. */
static void add_entry(struct ccct_graph *g, const struct ccct *c, size_t first, size_t end,
		      const double pct[2])
{
	uint64_t total = 0, from, to, at = 0;

	for (size_t i = first; i < end; i++)
		total += c->groups[i].trace_cnt;
	from = (uint64_t)floor((double)total * pct[0] / 100 + 0.5);
	to = (uint64_t)floor((double)total * pct[1] / 100 + 0.5);
	for (size_t i = first; i < end; i++) {
		uint64_t lo = at > from ? at : from, hi = at + c->groups[i].trace_cnt;

		at = hi;
		hi = hi < to ? hi : to;
		if (lo < hi)
			add_group(g, c, &c->groups[i], hi - lo);
	}
}

void ccct_graph__fill(struct ccct_graph *g, const struct ccct *c, uint32_t entry, double from_pct,
		      double to_pct)
{
	const double pct[2] = { from_pct, to_pct };

	*g = (struct ccct_graph){ .path_cnt = c->path_cnt };
	g->paths = xcalloc(c->path_cnt + 1, sizeof(*g->paths));
	for (size_t i = 0, end; i < c->group_cnt; i = end) {
		for (end = i + 1; end < c->group_cnt; end++)
			if (c->groups[end].entry != c->groups[i].entry)
				break;
		if (entry == SPAN_NONE || entry == c->groups[i].entry)
			add_entry(g, c, i, end, pct);
	}
}

void ccct_graph__free(struct ccct_graph *g)
{
	free(g->paths);
	*g = (struct ccct_graph){ 0 };
}

static int by_path(const void *a, const void *b, void *arg)
{
	return ccct__compare_paths(arg, *(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t *ccct_graph__order(const struct ccct *c, const struct ccct_graph *a,
			    const struct ccct_graph *b, size_t *cnt)
{
	uint32_t *order = xcalloc(c->path_cnt + 1, sizeof(*order));

	*cnt = 0;
	for (uint32_t i = 0; i < c->path_cnt; i++)
		if (a->paths[i].freq || (b && b->paths[i].freq))
			order[(*cnt)++] = i;
	if (*cnt > 1)
		qsort_r(order, *cnt, sizeof(*order), by_path, (void *)(uintptr_t)c);
	return order;
}

int64_t ccct_graph__scaled_ns(const struct ccct_graph *a, const struct ccct_graph *b, uint32_t path)
{
	int64_t ns = a->paths[path].exclusive_ns;

	if (a->root_ns <= 0 || b->root_ns <= 0)
		return ns;
	return (int64_t)((__int128)ns * b->root_ns / a->root_ns);
}

static int by_exclusive(const void *a, const void *b, void *arg)
{
	const struct ccct_rank *x = a, *y = b;

	if (x->exclusive_ns != y->exclusive_ns)
		return x->exclusive_ns < y->exclusive_ns ? 1 : -1;
	return ccct__compare_frames(arg, x->frame, y->frame);
}

static int by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Counts the different entries above each frame. */
static void count_entries(const struct ccct *c, const struct ccct_graph *all, struct ccct_rank *r)
{
	uint64_t *pairs = xcalloc(c->path_cnt + 1, sizeof(*pairs));
	uint32_t *entry = ccct__entries_of(c);
	size_t cnt = 0;

	for (uint32_t i = 0; i < c->path_cnt; i++)
		if (all->paths[i].freq)
			pairs[cnt++] = (uint64_t)c->paths[i].frame << 32 | entry[i];
	qsort(pairs, cnt, sizeof(*pairs), by_u64);
	for (size_t i = 0; i < cnt; i++)
		if (!i || pairs[i] != pairs[i - 1])
			r[pairs[i] >> 32].entry_cnt++;
	free(pairs);
	free(entry);
}

struct ccct_rank *ccct_rank_all(const struct ccct *c, size_t *cnt)
{
	struct ccct_rank *r = xcalloc(c->frame_cnt + 1, sizeof(*r));
	struct ccct_graph all;

	ccct_graph__fill(&all, c, SPAN_NONE, 0, 100);
	for (uint32_t i = 0; i < c->frame_cnt; i++) {
		r[i].frame = i;
		r[i].trace_cnt = c->frames[i].trace_cnt;
	}
	for (size_t i = 0; i < c->path_cnt; i++) {
		struct ccct_rank *to = &r[c->paths[i].frame];

		to->inclusive_ns += all.paths[i].inclusive_ns;
		to->exclusive_ns += all.paths[i].exclusive_ns;
		to->freq += all.paths[i].freq;
	}
	count_entries(c, &all, r);
	ccct_graph__free(&all);
	*cnt = 0;
	for (size_t i = 0; i < c->frame_cnt; i++)
		if (r[i].freq)
			r[(*cnt)++] = r[i];
	if (*cnt > 1)
		qsort_r(r, *cnt, sizeof(*r), by_exclusive, (void *)(uintptr_t)c);
	return r;
}

/* The nearest-rank quantile of root durations of groups first..end (by duration), their means for groups. */
static int64_t root_quantile(const struct ccct *c, size_t first, size_t end, double q)
{
	uint64_t total = 0, rank, at = 0;

	for (size_t i = first; i < end; i++)
		total += c->groups[i].trace_cnt;
	rank = (uint64_t)ceil((double)total * q);
	for (size_t i = first; i < end; i++) {
		at += c->groups[i].trace_cnt;
		if (at >= rank)
			return c->groups[i].root_ns / (int64_t)c->groups[i].trace_cnt;
	}
	return 0;
}

static int by_root_time(const void *a, const void *b, void *arg)
{
	const struct ccct_entry *x = a, *y = b;

	if (x->root_ns != y->root_ns)
		return x->root_ns < y->root_ns ? 1 : -1;
	return ccct__compare_paths(arg, x->path, y->path);
}

struct ccct_entry *ccct_entries(const struct ccct *c, size_t *cnt)
{
	struct ccct_entry *entries = NULL;
	size_t cap = 0, end;

	*cnt = 0;
	for (size_t i = 0; i < c->group_cnt; i = end) {
		struct ccct_entry e = { .path = c->groups[i].entry };

		for (end = i; end < c->group_cnt && c->groups[end].entry == e.path; end++) {
			e.trace_cnt += c->groups[end].trace_cnt;
			e.root_ns += c->groups[end].root_ns;
			e.span_cnt += c->groups[end].span_cnt;
			e.path_span_cnt += c->groups[end].path_span_cnt;
		}
		e.p50_ns = root_quantile(c, i, end, 0.50);
		e.p95_ns = root_quantile(c, i, end, 0.95);
		e.p99_ns = root_quantile(c, i, end, 0.99);
		e.max_ns = root_quantile(c, i, end, 1);
		entries = xgrow(entries, &cap, *cnt + 1, sizeof(*entries));
		entries[(*cnt)++] = e;
	}
	if (*cnt > 1)
		qsort_r(entries, *cnt, sizeof(*entries), by_root_time, (void *)(uintptr_t)c);
	return entries;
}
