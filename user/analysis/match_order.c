/* SPDX-License-Identifier: GPL-2.0-or-later */
/* First come, first served.
 *
 * A service that is one event loop, or one queue, goes on with its requests in the order in which they became
 * ready. Independent delays know nothing of that, and with a coarse clock or exponential delays they cannot
 * tell the order at all. So the links are also put in order, kind by kind (the request whose earlier events
 * are over first gets the call that starts first), and the two results are compared by what it takes to
 * describe them: in order, the stamps; free, the stamps (better, or they would not be chosen) and, for every
 * two requests that waited at the same time, which was taken first, N H(X / N) nats for X of N out of order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/match_node.h"
#include "user/base/mem.h"

struct waiting {
	int64_t ready; /* when what must come before was over */
	uint32_t tie;  /* order among those that were ready at one tick */
	uint32_t req;
	uint32_t out; /* its call of the kind at hand */
};

struct order {
	struct match_node *n;
	uint32_t *kinds; /* by out */
	uint32_t *rank;	 /* by kind: place in the order in which requests make them */
	uint32_t *both,
		*after; /* by pair of kinds: requests with both; with the second after the first */
	struct waiting *w;
	uint32_t w_cnt;
	uint64_t pairs_cnt, crossed_cnt;
	bool ties_as_linked; /* as the free links have it, not by arrival */
};

static bool before(const struct order *f, uint32_t k, uint32_t q)
{
	size_t at = (size_t)k * f->n->model.kinds + q;

	return f->rank[q] < f->rank[k] && 2 * f->after[at] > f->both[at];
}

/* Which kinds of calls return before which others start. */
static void learn_precedence(struct order *f)
{
	struct match_node *n = f->n;

	for (uint32_t r = 0; r < n->reqs_cnt; r++)
		for (uint32_t o = n->first[r]; o != MATCH_NOBODY; o = n->next[o])
			for (uint32_t p = n->first[r]; p != o; p = n->next[p]) {
				size_t at = (size_t)f->kinds[o] * n->model.kinds + f->kinds[p];

				f->both[at]++;
				f->after[at] += n->outs[p].end <= n->outs[o].start;
			}
}

static int by_ready(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->ready != y->ready)
		return x->ready < y->ready ? -1 : 1;
	return (x->tie > y->tie) - (x->tie < y->tie);
}

static int by_out(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The requests that make a call of this kind, by when they were ready for it. */
static void collect(struct order *f, uint32_t kind)
{
	struct match_node *n = f->n;

	f->w_cnt = 0;
	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		struct waiting w = { .ready = n->reqs[r].start, .req = r, .out = MATCH_NOBODY };

		for (uint32_t o = n->first[r]; o != MATCH_NOBODY; o = n->next[o]) {
			if (f->kinds[o] == kind && !n->fixed[o])
				w.out = o;
			else if (before(f, kind, f->kinds[o]) && n->outs[o].end > w.ready)
				w.ready = n->outs[o].end;
		}
		w.tie = f->ties_as_linked ? w.out : r;
		if (w.out != MATCH_NOBODY)
			f->w[f->w_cnt++] = w;
	}
	if (f->w_cnt)
		qsort(f->w, f->w_cnt, sizeof(*f->w), by_ready);
}

/* Counts neighbours in the queue that waited at the same time, and those of them that were overtaken. */
static void count_crossings(struct order *f)
{
	for (uint32_t i = 1; i < f->w_cnt; i++) {
		const struct waiting *a = &f->w[i - 1], *b = &f->w[i];
		int64_t first = f->n->outs[a->out < b->out ? a->out : b->out].start;

		if (b->ready > first)
			continue;
		f->pairs_cnt++;
		f->crossed_cnt += a->out > b->out;
	}
}

/* Gives the calls of a kind out in order. Returns how many do not fit. */
static uint32_t put_in_order(struct order *f)
{
	struct match_node *n = f->n;
	uint32_t *outs = xcalloc((size_t)f->w_cnt + 1, sizeof(*outs)), misfits = 0;

	for (uint32_t i = 0; i < f->w_cnt; i++) {
		outs[i] = f->w[i].out;
		match_node_move(n, outs[i], MATCH_NOBODY);
	}
	if (f->w_cnt)
		qsort(outs, f->w_cnt, sizeof(*outs), by_out);
	for (uint32_t i = 0; i < f->w_cnt; i++) {
		misfits += n->outs[outs[i]].start + n->skew < f->w[i].ready ||
			   !match_node_fits(n, outs[i], f->w[i].req);
		match_node_move(n, outs[i], f->w[i].req);
	}
	free(outs);
	return misfits;
}

static double entropy(uint64_t crossed, uint64_t pairs)
{
	double x = ((double)crossed + 0.5) / ((double)pairs + 1);

	return -x * log(x) - (1 - x) * log(1 - x);
}

static uint32_t order_all(struct order *f, bool change)
{
	uint32_t misfits = 0;

	for (uint32_t place = 0; place < f->n->model.kinds; place++)
		for (uint32_t k = 0; k < f->n->model.kinds; k++) {
			if (f->rank[k] != place)
				continue;
			collect(f, k);
			if (change)
				misfits += put_in_order(f);
			else
				count_crossings(f);
		}
	return misfits;
}

static void set_links(struct match_node *n, const uint32_t *links)
{
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		match_node_move(n, o, links[o]);
}

/* Score of the links in order, or -INFINITY if too many calls do not fit. */
static double try_ties(struct order *f, bool ties_as_linked, const uint32_t *free_links)
{
	uint32_t misfits;

	f->ties_as_linked = ties_as_linked;
	set_links(f->n, free_links);
	misfits = order_all(f, true);
	if ((double)misfits > MATCH_ORDER_MISFITS * f->n->outs_cnt)
		return -INFINITY;
	return match_node_relearn(f->n);
}

static void order_init(struct order *f, struct match_node *n)
{
	size_t kinds = n->model.kinds;

	*f = (struct order){ .n = n };
	f->kinds = xcalloc((size_t)n->outs_cnt + 1, sizeof(*f->kinds));
	f->rank = xcalloc(kinds + 1, sizeof(*f->rank));
	f->both = xcalloc(kinds * kinds + 1, sizeof(*f->both));
	f->after = xcalloc(kinds * kinds + 1, sizeof(*f->after));
	f->w = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*f->w));
	match_node_kinds(n, f->kinds);
	match_node_rank_kinds(n, f->rank);
	learn_precedence(f);
}

static void order_free(struct order *f)
{
	free(f->kinds);
	free(f->rank);
	free(f->both);
	free(f->after);
	free(f->w);
}

bool match_node_try_order(struct match_node *n)
{
	uint32_t *free_links = xcalloc((size_t)n->outs_cnt + 1, sizeof(*free_links));
	double free_score, by_arrival, as_linked, price;
	struct order f;
	bool keep;

	memcpy(free_links, n->req_of, n->outs_cnt * sizeof(*free_links));
	order_init(&f, n);
	free_score = match_node_relearn(n);
	order_all(&f, false);
	price = (double)f.pairs_cnt * entropy(f.crossed_cnt, f.pairs_cnt);
	as_linked = try_ties(&f, true, free_links);
	by_arrival = try_ties(&f, false, free_links);
	if (as_linked > by_arrival)
		by_arrival = try_ties(&f, true, free_links);
	keep = f.pairs_cnt > 0 && by_arrival >= free_score - price;
	if (!keep)
		set_links(n, free_links);
	order_free(&f);
	free(free_links);
	return keep;
}
