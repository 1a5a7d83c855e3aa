/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From facts to hints; see opportunity.h. Thresholds are shares of the root time of the entry concerned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/ccct_graph.h"
#include "user/analysis/opportunity.h"
#include "user/base/mem.h"

static const double dominant_share = 0.5, serial_share = 0.03, repeated_share = 0.05,
		    transport_share = 0.03, transport_min = 0.5, store_share = 0.05;

struct hints {
	const struct ccct *ccct;
	double *root_ns; /* by entry path: the entry's total */
	uint32_t *entry; /* by path */
	struct hint *items;
	size_t cnt, cap;
};

static void add_hint(struct hints *h, struct hint hint)
{
	h->items = xgrow(h->items, &h->cap, h->cnt + 1, sizeof(*h->items));
	h->items[h->cnt++] = hint;
}

static void judge(struct hints *h, const struct ccct_fact *f)
{
	double root_ns = f->kind == FACT_CLOCK ? 0 : h->root_ns[h->entry[f->path]];
	double share = root_ns > 0 ? (double)f->ns / root_ns : 0;
	struct hint hint = { .path = f->path,
			     .other = f->other,
			     .share = share,
			     .cnt = f->cnt,
			     .more_cnt = f->more_cnt };
	const struct ccct_fact *reverse;

	switch (f->kind) {
	case FACT_REPEATED:
		hint.kind = HINT_REPEATED;
		if (share >= repeated_share)
			add_hint(h, hint);
		break;
	case FACT_SERIAL:
		if (share < serial_share || f->more_cnt)
			break;
		reverse = ccct__find_fact(h->ccct, &(struct ccct_fact){ .kind = FACT_SERIAL,
									.path = f->other,
									.other = f->path });
		hint.kind = HINT_SERIAL;
		if (!reverse || (!reverse->more_cnt && f->cnt >= reverse->cnt))
			add_hint(h, hint);
		break;
	case FACT_TRANSPORT:
		hint.kind = HINT_TRANSPORT;
		hint.share = root_ns > 0 ? (double)(f->ns - f->more_ns) / root_ns : 0;
		if (hint.share >= transport_share &&
		    (double)(f->ns - f->more_ns) >= transport_min * (double)f->ns)
			add_hint(h, hint);
		break;
	case FACT_STORE:
		hint.kind = HINT_STORE;
		if (share >= store_share)
			add_hint(h, hint);
		break;
	default:
		break;
	}
}

/* Paths other than entries that make at least half of their entry's fastest half; of a chain of such paths
 * the deepest. */
static void judge_dominant(struct hints *h)
{
	const struct ccct *c = h->ccct;
	struct ccct_graph fast;
	bool *covered = xcalloc(c->path_cnt + 1, sizeof(*covered));
	size_t cnt;
	uint32_t *order;

	ccct_graph__fill(&fast, c, SPAN_NONE, 0, 50);
	order = ccct_graph__order(c, &fast, NULL, &cnt);
	for (size_t i = cnt; i-- > 0;) { /* children before parents */
		uint32_t p = order[i];
		double root = (double)fast.paths[h->entry[p]].inclusive_ns;
		double share = root > 0 ? (double)fast.paths[p].inclusive_ns / root : 0;

		if (share < dominant_share || c->paths[p].parent == SPAN_NONE)
			continue;
		if (!covered[p])
			add_hint(h, (struct hint){ HINT_DOMINANT, p, 0, share, fast.paths[p].freq,
						   0 });
		covered[c->paths[p].parent] = true;
	}
	free(order);
	free(covered);
	ccct_graph__free(&fast);
}

static int by_share(const void *a, const void *b, void *arg)
{
	const struct hint *x = a, *y = b;
	int by;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	by = ccct__compare_paths(arg, x->path, y->path);
	return by ? by : ccct__compare_paths(arg, x->other, y->other);
}

struct hint *opportunity_hints(const struct ccct *c, size_t *cnt)
{
	struct hints h = { .ccct = c, .entry = ccct__entries_of(c) };

	h.root_ns = xcalloc(c->path_cnt + 1, sizeof(*h.root_ns));
	for (size_t i = 0; i < c->group_cnt; i++)
		h.root_ns[c->groups[i].entry] += (double)c->groups[i].root_ns;
	judge_dominant(&h);
	for (size_t i = 0; i < c->fact_cnt; i++)
		judge(&h, &c->facts[i]);
	free(h.root_ns);
	free(h.entry);
	if (h.cnt > 1)
		qsort_r(h.items, h.cnt, sizeof(*h.items), by_share, (void *)(uintptr_t)c);
	*cnt = h.cnt;
	return h.items;
}

struct clock_offset *opportunity_clocks(const struct ccct *c, size_t *cnt)
{
	struct clock_offset *offsets = NULL;
	size_t cap = 0, end;

	*cnt = 0;
	for (size_t i = 0; i < c->fact_cnt; i = end) { /* sorted by kind, path, other, bucket */
		const struct ccct_fact *f = &c->facts[i];
		struct clock_offset o = { .client = f->path, .server = f->other };
		uint64_t at = 0;

		for (end = i; end < c->fact_cnt && c->facts[end].kind == f->kind &&
			      c->facts[end].path == f->path && c->facts[end].other == f->other;
		     end++) {
			o.cnt += c->facts[end].cnt;
			o.shifted_cnt += c->facts[end].more_cnt;
		}
		if (f->kind != FACT_CLOCK)
			continue;
		for (size_t k = i; k < end; k++) {
			at += c->facts[k].cnt;
			if (at * 2 >= o.cnt) {
				o.median_ns = c->facts[k].ns / (int64_t)c->facts[k].cnt;
				break;
			}
		}
		offsets = xgrow(offsets, &cap, *cnt + 1, sizeof(*offsets));
		offsets[(*cnt)++] = o;
	}
	return offsets;
}
