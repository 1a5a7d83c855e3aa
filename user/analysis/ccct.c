/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical calling context trees; see ccct.h. */
#include "user/analysis/ccct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

enum {
	BUCKETS_PER_OCTAVE = 64
};

void ccct__free(struct ccct *c)
{
	strtab_free(&c->strings);
	index_free(&c->frame_index);
	index_free(&c->path_index);
	free(c->frames);
	index_free(&c->fact_index);
	free(c->paths);
	free(c->path_rank);
	free(c->facts);
	free(c->groups);
	free(c->cells);
	free(c->path_seen);
	free(c->frame_seen);
	*c = (struct ccct){ 0 };
}

/* Sums of what a file claims may not fit. */
static void add_i64(int64_t *to, int64_t by)
{
	if (__builtin_add_overflow(*to, by, to))
		*to = by < 0 ? INT64_MIN : INT64_MAX;
}

void ccct__begin_group(struct ccct *c, const struct ccct_group *g)
{
	c->groups = xgrow(c->groups, &c->group_cap, c->group_cnt + 1, sizeof(*c->groups));
	c->groups[c->group_cnt] = *g;
	c->groups[c->group_cnt].first_cell = c->cell_cnt;
	c->groups[c->group_cnt++].cell_cnt = 0;
	c->trace_cnt += g->trace_cnt;
	c->serial++;
}

void ccct__add_cell(struct ccct *c, const struct ccct_cell *cell)
{
	struct ccct_seen *seen = &c->path_seen[cell->path];
	struct ccct_cell *to;

	if (seen->serial != c->serial) {
		c->cells = xgrow(c->cells, &c->cell_cap, c->cell_cnt + 1, sizeof(*c->cells));
		*seen = (struct ccct_seen){ c->serial, (uint32_t)c->cell_cnt };
		c->cells[c->cell_cnt++] = *cell;
		c->groups[c->group_cnt - 1].cell_cnt++;
		return;
	}
	to = &c->cells[seen->cell];
	to->trace_cnt += cell->trace_cnt;
	to->freq += cell->freq;
	add_i64(&to->inclusive_ns, cell->inclusive_ns);
	add_i64(&to->exclusive_ns, cell->exclusive_ns);
}

/* The larger first; of equal ones the one with the smaller ids, whatever came first. */
static bool worse(const struct ccct *c, const struct ccct_example *a, const struct ccct_example *b)
{
	int by_trace;

	if (!b->trace_sid)
		return true;
	if (a->ns != b->ns)
		return a->ns > b->ns;
	by_trace = strcmp(strtab_get(&c->strings, a->trace_sid),
			  strtab_get(&c->strings, b->trace_sid));
	if (!by_trace)
		by_trace = strcmp(strtab_get(&c->strings, a->span_sid),
				  strtab_get(&c->strings, b->span_sid));
	return by_trace < 0;
}

static bool same_example(const struct ccct_example *a, const struct ccct_example *b)
{
	return a->ns == b->ns && a->trace_sid == b->trace_sid && a->span_sid == b->span_sid;
}

static void keep_exclusive(struct ccct *c, struct ccct_path *p, struct ccct_example e)
{
	for (int i = 0; i < CCCT_EXAMPLES; i++)
		if (same_example(&p->exclusive[i], &e))
			return;
	for (int i = 0; i < CCCT_EXAMPLES && e.trace_sid; i++) {
		if (worse(c, &e, &p->exclusive[i])) {
			struct ccct_example next = p->exclusive[i];

			p->exclusive[i] = e;
			e = next;
		}
	}
}

void ccct__keep_examples(struct ccct *c, uint32_t path, const struct ccct_example *inclusive,
			 const struct ccct_example *exclusive)
{
	struct ccct_path *p = &c->paths[path];

	if (inclusive->trace_sid && worse(c, inclusive, &p->inclusive))
		p->inclusive = *inclusive;
	if (exclusive->trace_sid)
		keep_exclusive(c, p, *exclusive);
}

/* Interning ids of all traces would grow without bound: only those of new examples are. Equal times are not
 * looked into: with as many examples as there are, the first in sorting order matters only at a tie. */
static void offer_examples(struct ccct *c, uint32_t path, const struct trace *t, uint32_t span,
			   int64_t inclusive_ns, int64_t exclusive_ns)
{
	const struct ccct_path *p = &c->paths[path];
	struct ccct_example in = { 0 }, ex = { 0 };
	const struct ccct_example *last = &p->exclusive[CCCT_EXAMPLES - 1];
	bool take_in = !p->inclusive.trace_sid || inclusive_ns >= p->inclusive.ns;
	bool take_ex = !last->trace_sid || exclusive_ns >= last->ns;

	if (!take_in && !take_ex)
		return;
	in.trace_sid = strtab_add(&c->strings, trace__str(t, t->id_sid));
	in.span_sid = strtab_add(&c->strings, trace__str(t, t->spans[span].id_sid));
	ex = in;
	in.ns = inclusive_ns;
	ex.ns = exclusive_ns;
	if (!take_in)
		in.trace_sid = 0;
	if (!take_ex)
		ex.trace_sid = 0;
	ccct__keep_examples(c, path, &in, &ex);
}

static void group_if_large(struct ccct *c);

void ccct__add(struct ccct *c, const struct spantree *t, const struct critpath *p)
{
	const struct trace *trace = t->trace;
	struct ccct_group g = { .trace_cnt = 1, .span_cnt = trace->span_cnt };
	uint32_t *paths = xcalloc(p->node_cnt, sizeof(*paths));
	size_t cells = c->cell_cnt;

	g.trace_sid = strtab_add(&c->strings, trace__str(trace, trace->id_sid));
	g.root_ns = p->nodes[0].inclusive_ns;
	g.path_span_cnt = p->node_cnt;
	ccct__begin_group(c, &g);
	for (size_t i = 0; i < p->node_cnt; i++) {
		const struct path_node *n = &p->nodes[i];
		const struct span *s = &trace->spans[n->span];
		uint32_t frame = ccct__frame(c, trace__str(trace, s->service_sid),
					     trace__str(trace, s->operation_sid));
		uint32_t parent = n->parent == SPAN_NONE ? SPAN_NONE : paths[n->parent];

		paths[i] = ccct__path(c, parent, frame);
		if (c->frame_seen[frame].serial != c->serial) {
			c->frame_seen[frame].serial = c->serial;
			c->frames[frame].trace_cnt++;
		}
		ccct__add_cell(
			c, &(struct ccct_cell){ paths[i], 1, 1, n->inclusive_ns, n->exclusive_ns });
		offer_examples(c, paths[i], trace, n->span, n->inclusive_ns, n->exclusive_ns);
	}
	for (size_t i = cells; i < c->cell_cnt; i++)
		c->cells[i].trace_cnt = 1;
	c->groups[c->group_cnt - 1].entry = paths[0];
	c->cells_added += c->cell_cnt - cells;
	free(paths);
	group_if_large(c);
}

void ccct__count(struct ccct *c, const struct spantree *t)
{
	struct ccct_totals *s = &c->totals;

	s->trace_cnt++;
	s->span_cnt += t->trace->span_cnt;
	s->rootless_cnt += !t->root_cnt;
	s->incomplete_cnt += t->note_cnt[TREE_ORPHAN] || t->note_cnt[TREE_PARENT_WARNED];
	s->cut_ns += (uint64_t)t->cut_ns;
	s->root_ns += (uint64_t)t->root_ns;
	for (int i = 0; i < TREE_NOTE_MAX; i++)
		s->notes[i] += t->note_cnt[i];
	for (int i = 0; i < TRACE_FLAW_MAX; i++)
		s->flaws[i] += t->trace->flaws[i];
}

static uint64_t fact_hash(const struct ccct_fact *f)
{
	return hash_pair((uint64_t)f->kind << 32 | f->path, (uint64_t)f->other << 32 | f->bucket);
}

static uint32_t find_fact(const struct ccct *c, const struct ccct_fact *f, uint64_t hash)
{
	struct index_iter it = index_find(&c->fact_index, hash);

	for (; index_hit(&c->fact_index, &it); index_next(&c->fact_index, &it)) {
		const struct ccct_fact *at = &c->facts[it.elem];

		if (at->kind == f->kind && at->path == f->path && at->other == f->other &&
		    at->bucket == f->bucket)
			return it.elem;
	}
	return SPAN_NONE;
}

const struct ccct_fact *ccct__find_fact(const struct ccct *c, const struct ccct_fact *key)
{
	uint32_t i = find_fact(c, key, fact_hash(key));

	return i == SPAN_NONE ? NULL : &c->facts[i];
}

void ccct__add_fact(struct ccct *c, const struct ccct_fact *f)
{
	uint64_t hash = fact_hash(f);
	uint32_t i = find_fact(c, f, hash);

	if (i == SPAN_NONE) {
		c->facts = xgrow(c->facts, &c->fact_cap, c->fact_cnt + 1, sizeof(*c->facts));
		index_add(&c->fact_index, hash, (uint32_t)c->fact_cnt);
		c->facts[c->fact_cnt++] = *f;
		return;
	}
	c->facts[i].cnt += f->cnt;
	c->facts[i].more_cnt += f->more_cnt;
	add_i64(&c->facts[i].ns, f->ns);
	add_i64(&c->facts[i].more_ns, f->more_ns);
}

/* All members are uint64_t sums. */
static void add_totals(struct ccct_totals *to, const struct ccct_totals *from)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	_Static_assert(sizeof(*to) % sizeof(*a) == 0, "only uint64_t in ccct_totals");
	for (size_t i = 0; i < sizeof(*to) / sizeof(*a); i++)
		a[i] += b[i];
}

static uint32_t merge_string(struct ccct *c, const struct ccct *other, uint32_t sid)
{
	return strtab_addn(&c->strings, strtab_get(&other->strings, sid),
			   strtab_len_bytes(&other->strings, sid));
}

static struct ccct_example merge_example(struct ccct *c, const struct ccct *other,
					 const struct ccct_example *e)
{
	return (struct ccct_example){ merge_string(c, other, e->trace_sid),
				      merge_string(c, other, e->span_sid), e->ns };
}

/* Fills the numbers in c of other's paths (parents come first) and frames. */
static void merge_paths(struct ccct *c, const struct ccct *other, uint32_t *map, uint32_t *frames)
{
	for (size_t i = 0; i < other->frame_cnt; i++) {
		const struct ccct_frame *f = &other->frames[i];

		frames[i] = ccct__frame(c, strtab_get(&other->strings, f->service_sid),
					strtab_get(&other->strings, f->operation_sid));
		c->frames[frames[i]].trace_cnt += f->trace_cnt;
	}
	for (size_t i = 0; i < other->path_cnt; i++) {
		const struct ccct_path *p = &other->paths[i];
		uint32_t parent = p->parent == SPAN_NONE ? SPAN_NONE : map[p->parent];
		struct ccct_example none = { 0 }, in = merge_example(c, other, &p->inclusive);

		map[i] = ccct__path(c, parent, frames[p->frame]);
		ccct__keep_examples(c, map[i], &in, &none);
		for (int k = 0; k < CCCT_EXAMPLES; k++) {
			struct ccct_example ex = merge_example(c, other, &p->exclusive[k]);

			ccct__keep_examples(c, map[i], &none, &ex);
		}
	}
}

static void merge_facts(struct ccct *c, const struct ccct *other, const uint32_t *map,
			const uint32_t *frames)
{
	for (size_t i = 0; i < other->fact_cnt; i++) {
		struct ccct_fact f = other->facts[i];
		const uint32_t *numbers = f.kind == FACT_CLOCK ? frames : map;

		f.path = numbers[f.path];
		if (f.kind == FACT_CLOCK || f.kind == FACT_SERIAL)
			f.other = numbers[f.other];
		ccct__add_fact(c, &f);
	}
}

void ccct__merge(struct ccct *c, const struct ccct *other)
{
	uint32_t *map = xcalloc(other->path_cnt + 1, sizeof(*map));
	uint32_t *frames = xcalloc(other->frame_cnt + 1, sizeof(*frames));

	merge_paths(c, other, map, frames);
	merge_facts(c, other, map, frames);
	for (size_t i = 0; i < other->group_cnt; i++) {
		struct ccct_group g = other->groups[i];
		size_t first = g.first_cell;
		uint32_t cnt = g.cell_cnt;

		g.entry = map[g.entry];
		g.trace_sid = merge_string(c, other, g.trace_sid);
		ccct__begin_group(c, &g);
		for (size_t k = first; k < first + cnt; k++) {
			struct ccct_cell cell = other->cells[k];

			cell.path = map[cell.path];
			ccct__add_cell(c, &cell);
		}
	}
	c->cells_added += other->cells_added;
	add_totals(&c->totals, &other->totals);
	free(map);
	free(frames);
	group_if_large(c);
}

/* Logarithmic bucket of a mean root duration. */
static int bucket_of(const struct ccct_group *g)
{
	double mean_ns = (double)g->root_ns / (double)g->trace_cnt;

	return !(mean_ns >= 1) ? -1 : (int)floor(log2(mean_ns) * BUCKETS_PER_OCTAVE);
}

static int by_bucket(const void *a, const void *b)
{
	const struct ccct_group *x = a, *y = b;
	int bx = bucket_of(x), by = bucket_of(y);

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return bx < by ? -1 : bx > by;
}

/* Strings of traces that are single no longer are given back by rebuilding the table. */
static void drop_unused_strings(struct ccct *c)
{
	struct strtab old = c->strings;

#define KEEP(sid) \
	((sid) = strtab_addn(&c->strings, strtab_get(&old, sid), strtab_len_bytes(&old, sid)))
	c->strings = (struct strtab){ 0 };
	index_reset(&c->frame_index);
	for (size_t i = 0; i < c->frame_cnt; i++) {
		KEEP(c->frames[i].service_sid);
		KEEP(c->frames[i].operation_sid);
		index_add(&c->frame_index,
			  hash_pair(c->frames[i].service_sid, c->frames[i].operation_sid),
			  (uint32_t)i);
	}
	for (size_t i = 0; i < c->path_cnt; i++) {
		KEEP(c->paths[i].inclusive.trace_sid);
		KEEP(c->paths[i].inclusive.span_sid);
		for (int k = 0; k < CCCT_EXAMPLES; k++) {
			KEEP(c->paths[i].exclusive[k].trace_sid);
			KEEP(c->paths[i].exclusive[k].span_sid);
		}
	}
	for (size_t i = 0; i < c->group_cnt; i++)
		KEEP(c->groups[i].trace_sid);
#undef KEEP
	strtab_free(&old);
}

/* Joins all groups of one entry and bucket. */
static void join_groups(struct ccct *c)
{
	struct ccct_group *groups = c->groups;
	struct ccct_cell *cells = c->cells;
	size_t cnt = c->group_cnt;

	qsort(groups, cnt, sizeof(*groups), by_bucket);
	c->groups = NULL;
	c->cells = NULL;
	c->group_cnt = c->group_cap = c->cell_cnt = c->cell_cap = 0;
	c->trace_cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct ccct_group *g = &groups[i];

		if (!i || by_bucket(&groups[i - 1], g)) {
			ccct__begin_group(c, g);
		} else {
			struct ccct_group *to = &c->groups[c->group_cnt - 1];

			to->trace_sid = 0;
			to->trace_cnt += g->trace_cnt;
			add_i64(&to->root_ns, g->root_ns);
			to->span_cnt += g->span_cnt;
			to->path_span_cnt += g->path_span_cnt;
			c->trace_cnt += g->trace_cnt;
		}
		for (size_t k = g->first_cell; k < g->first_cell + g->cell_cnt; k++)
			ccct__add_cell(c, &cells[k]);
	}
	c->grouped_cells = c->cell_cnt;
	drop_unused_strings(c);
	free(groups);
	free(cells);
}

static void group_if_large(struct ccct *c)
{
	size_t limit = c->grouped_cells * 2;

	if (c->cell_cnt > (limit > CCCT_EXACT_CELLS ? limit : CCCT_EXACT_CELLS))
		join_groups(c);
}

static int by_entry_and_time(const void *a, const void *b, void *arg)
{
	const struct ccct_group *x = a, *y = b;
	const struct ccct *c = arg;
	__int128 tx = (__int128)x->root_ns * (__int128)y->trace_cnt;
	__int128 ty = (__int128)y->root_ns * (__int128)x->trace_cnt;

	if (x->entry != y->entry)
		return ccct__compare_paths(c, x->entry, y->entry);
	if (tx != ty)
		return tx < ty ? -1 : 1;
	return strcmp(strtab_get(&c->strings, x->trace_sid), strtab_get(&c->strings, y->trace_sid));
}

static int by_path(const void *a, const void *b, void *arg)
{
	const struct ccct_cell *x = a, *y = b;

	return ccct__compare_paths(arg, x->path, y->path);
}

static int compare_numbers(const struct ccct *c, uint32_t kind, uint32_t a, uint32_t b)
{
	return kind == FACT_CLOCK ? ccct__compare_frames(c, a, b) : ccct__compare_paths(c, a, b);
}

static int by_fact(const void *a, const void *b, void *arg)
{
	const struct ccct_fact *x = a, *y = b;
	const struct ccct *c = arg;
	int by;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	by = compare_numbers(c, x->kind, x->path, y->path);
	if (!by && (x->kind == FACT_CLOCK || x->kind == FACT_SERIAL))
		by = compare_numbers(c, x->kind, x->other, y->other);
	return by ? by : x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static void sort_facts(struct ccct *c)
{
	if (c->fact_cnt)
		qsort_r(c->facts, c->fact_cnt, sizeof(*c->facts), by_fact, c);
	index_reset(&c->fact_index);
	for (size_t i = 0; i < c->fact_cnt; i++)
		index_add(&c->fact_index, fact_hash(&c->facts[i]), (uint32_t)i);
}

void ccct__finish(struct ccct *c)
{
	ccct__rank(c);
	sort_facts(c);
	if (c->cells_added > CCCT_EXACT_CELLS)
		join_groups(c);
	if (c->group_cnt)
		qsort_r(c->groups, c->group_cnt, sizeof(*c->groups), by_entry_and_time, c);
	for (size_t i = 0; i < c->group_cnt; i++)
		if (c->groups[i].cell_cnt)
			qsort_r(c->cells + c->groups[i].first_cell, c->groups[i].cell_cnt,
				sizeof(*c->cells), by_path, c);
}
