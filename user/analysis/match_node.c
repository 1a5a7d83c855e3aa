/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/match_node.h"

#include <stdlib.h>
#include <string.h>

#include "user/analysis/match_sample.h"
#include "user/base/mem.h"

void match_node_move(struct match_node *n, uint32_t out, uint32_t req)
{
	uint32_t old = n->req_of[out];
	uint32_t *link;

	if (old != MATCH_NOBODY) {
		for (link = &n->first[old]; *link != out;)
			link = &n->next[*link];
		*link = n->next[out];
	}
	n->req_of[out] = req;
	n->next[out] = MATCH_NOBODY;
	if (req == MATCH_NOBODY)
		return;
	for (link = &n->first[req]; *link < out;) /* MATCH_NOBODY is the largest number */
		link = &n->next[*link];
	n->next[out] = *link;
	*link = out;
}

void match_node_kinds(const struct match_node *n, uint32_t *kinds)
{
	uint32_t *cnt = xcalloc((size_t)n->endpoints + 1, sizeof(*cnt));

	for (uint32_t o = 0; o < n->outs_cnt; o++)
		kinds[o] = n->outs[o].endpoint * MATCH_ORDINALS;
	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		for (uint32_t o = n->first[r]; o != MATCH_NOBODY; o = n->next[o]) {
			uint32_t ord = cnt[n->outs[o].endpoint]++;

			kinds[o] += ord < MATCH_ORDINALS ? ord : MATCH_ORDINALS - 1;
		}
		for (uint32_t o = n->first[r]; o != MATCH_NOBODY; o = n->next[o])
			cnt[n->outs[o].endpoint] = 0;
	}
	free(cnt);
}

/* A call that lies inside some request is not thought to outlive another one, at first. */
static bool may_be(const struct match_node *n, uint32_t r, uint32_t o)
{
	return n->late[o] || n->reqs[r].end + n->skew >= n->outs[o].end;
}

/* Before anything is known each candidate of a call is as good as another. */
static void first_guess(struct match_node *n)
{
	uint32_t *calls = xcalloc((size_t)n->endpoints + 1, sizeof(*calls));

	match_model_clear(&n->model);
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		size_t cnt = 0;

		calls[n->outs[o].endpoint]++;
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
			cnt += may_be(n, n->cands[c], o);
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
			if (may_be(n, n->cands[c], o))
				match_model_add_pair(&n->model, &n->reqs[n->cands[c]], &n->outs[o],
						     1.0 / (double)cnt);
	}
	for (uint32_t e = 0; e < n->endpoints; e++)
		match_model_guess_counts(&n->model, e,
					 (double)calls[e] / (n->reqs_cnt ? n->reqs_cnt : 1));
	match_model_fit(&n->model);
	free(calls);
}

static void add_all(struct match_node *n, double weight)
{
	const struct match_out *kids[MATCH_KIDS_MAX];

	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		uint32_t cnt = 0;

		for (uint32_t o = n->first[r]; o != MATCH_NOBODY && cnt < MATCH_KIDS_MAX;
		     o = n->next[o])
			kids[cnt++] = &n->outs[o];
		match_model_add(&n->model, &n->reqs[r], kids, cnt, weight);
	}
}

static void learn(struct match_node *n)
{
	match_model_clear(&n->model);
	add_all(n, 1);
	match_model_fit(&n->model);
}

double match_node_relearn(struct match_node *n)
{
	const struct match_out *kids[MATCH_KIDS_MAX];
	double sum = 0;

	learn(n);
	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		uint32_t cnt = 0;

		for (uint32_t o = n->first[r]; o != MATCH_NOBODY && cnt < MATCH_KIDS_MAX;
		     o = n->next[o])
			kids[cnt++] = &n->outs[o];
		sum += match_model_score(&n->model, &n->reqs[r], kids, cnt);
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		sum -= n->req_of[o] == MATCH_NOBODY ? match_node_none_cost(n, o) : 0;
	return sum;
}

static void cool_sampler(struct match_sampler *s, int sweeps)
{
	match_sampler_refresh(s);
	for (int i = 0; i < sweeps; i++) {
		s->temperature = 1 - (double)i / sweeps;
		match_sampler_sweep(s);
	}
}

static void cool(struct match_node *n, int sweeps)
{
	struct match_sampler s;

	match_sampler_init(&s, n, 3);
	cool_sampler(&s, sweeps);
	match_sampler_free(&s);
}

/* Learns from samples; leaves the links near the best. */
static void learn_from_samples(struct match_node *n)
{
	struct match_sampler s;

	match_sampler_init(&s, n, 1);
	for (int i = 0; i < MATCH_SAMPLE_ROUNDS; i++) {
		match_sampler_refresh(&s);
		if (i >= MATCH_SAMPLE_ROUNDS / 2)
			s.offer_any = MATCH_OFFER_ANY;
		match_model_clear(&n->model);
		for (int k = 0; k < MATCH_SAMPLE_SWEEPS; k++) {
			match_sampler_sweep(&s);
			match_sampler_note(&s, MATCH_SEEN_SHARE);
			add_all(n, 1.0 / MATCH_SAMPLE_SWEEPS);
		}
		match_model_fit(&n->model);
	}
	cool_sampler(&s, MATCH_COOLING_SWEEPS);
	match_sampler_free(&s);
}

/* The share of samples in which each call is where it now is. Leaves the links as they are. */
static void sample_posteriors(struct match_node *n, int sweeps)
{
	uint32_t *links = xcalloc((size_t)n->outs_cnt + 1, sizeof(*links));
	struct match_sampler s;

	memcpy(links, n->req_of, n->outs_cnt * sizeof(*links));
	match_sampler_init(&s, n, 2);
	match_sampler_refresh(&s);
	for (int i = 0; i < sweeps; i++) {
		match_sampler_sweep(&s);
		match_sampler_note(&s, 1.0 / (i + 1));
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		n->posterior[o] = 0;
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
			if (n->cands[c] == links[o])
				n->posterior[o] = s.seen[c];
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		match_node_move(n, o, links[o]);
	match_sampler_free(&s);
	free(links);
}

struct kind_place {
	uint32_t kind;
	double delay; /* mean, since the request's arrival */
	uint64_t cnt;
};

static int by_delay(const void *a, const void *b)
{
	const struct kind_place *x = a, *y = b;

	if (x->delay != y->delay)
		return x->delay < y->delay ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The kinds that occur, in the order in which requests usually make them. */
static uint32_t order_kinds(const struct match_node *n, struct kind_place *places)
{
	uint32_t *kinds = xcalloc((size_t)n->outs_cnt + 1, sizeof(*kinds)), used = 0;

	match_node_kinds(n, kinds);
	for (uint32_t k = 0; k < n->model.kinds; k++)
		places[k] = (struct kind_place){ .kind = k };
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		if (n->req_of[o] == MATCH_NOBODY)
			continue;
		places[kinds[o]].cnt++;
		places[kinds[o]].delay += (double)(n->outs[o].start - n->reqs[n->req_of[o]].start);
	}
	for (uint32_t k = 0; k < n->model.kinds; k++) {
		if (!places[k].cnt)
			continue;
		places[used] = places[k];
		places[used].delay /= (double)places[used].cnt;
		used++;
	}
	qsort(places, used, sizeof(*places), by_delay);
	free(kinds);
	return used;
}

void match_node_rank_kinds(const struct match_node *n, uint32_t *rank)
{
	struct kind_place *places = xcalloc((size_t)n->model.kinds + 1, sizeof(*places));
	uint32_t used = order_kinds(n, places);

	for (uint32_t k = 0; k < n->model.kinds; k++)
		rank[k] = MATCH_NOBODY;
	for (uint32_t i = 0; i < used; i++)
		rank[places[i].kind] = i;
	free(places);
}

/* Each endpoint for itself, each request offering one place at a time until all calls have one. */
static void match_blind(struct match_node *n, bool *set)
{
	struct match_block b = { .kinds = set, .blind = true };

	for (uint32_t e = 0; e < n->endpoints; e++) {
		b.alone_endpoint = e;
		for (int pass = 0; pass < MATCH_KIDS_MAX && match_block_solve(n, &b); pass++)
			;
	}
}

/* One round: kind by kind, then everything from a kind on. Returns how many calls changed hands. */
static size_t round_of(struct match_node *n, bool *set)
{
	struct kind_place *places = xcalloc((size_t)n->model.kinds + 1, sizeof(*places));
	uint32_t used = order_kinds(n, places);
	size_t changed = 0;
	struct match_block b = { .kinds = set };

	for (uint32_t i = 0; i < used; i++) {
		set[places[i].kind] = true;
		b.alone_endpoint = places[i].kind / MATCH_ORDINALS;
		changed += match_block_solve(n, &b);
		set[places[i].kind] = false;
	}
	b.alone_endpoint = MATCH_NOBODY;
	for (uint32_t i = used; i-- > 1;) {
		set[places[i].kind] = true;
		if (i + 1 < used) /* a set of one was tried above */
			changed += match_block_solve(n, &b);
	}
	for (uint32_t i = 0; i < used; i++)
		set[places[i].kind] = false;
	free(places);
	return changed;
}

/* How often a candidate is of the call's thread by chance. */
static void count_threads(struct match_node *n)
{
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1] && n->outs[o].tid; c++) {
			uint32_t tid = n->reqs[n->cands[c]].tid;

			if (tid)
				n->model.tid_chance[tid == n->outs[o].tid] +=
					1 / (double)(n->cand_start[o + 1] - n->cand_start[o]);
		}
}

void match_node_learn(struct match_node *n, const struct gap_kernels *kernels)
{
	bool *set;

	match_model_init(&n->model, kernels, n->classes, n->endpoints);
	count_threads(n);
	set = xcalloc((size_t)n->model.kinds + 1, sizeof(*set));
	first_guess(n);
	match_blind(n, set);
	learn(n);
	learn_from_samples(n);
	free(set);
}

void match_node_run(struct match_node *n, const struct gap_kernels *kernels)
{
	bool whole = n->outs_cnt <= MATCH_LEARN_CALLS, *set;

	if (whole)
		match_node_learn(n, kernels);
	else
		match_node_learn_slices(n, kernels);
	set = xcalloc((size_t)n->model.kinds + 1, sizeof(*set));
	if (!whole) {
		match_blind(n, set);
		round_of(n, set);
		cool(n, MATCH_LONG_SWEEPS);
	}
	for (int i = 0; i < (whole ? MATCH_ROUNDS : 1) && round_of(n, set); i++)
		;
	sample_posteriors(n, whole ? MATCH_POSTERIOR_SWEEPS : MATCH_LONG_SWEEPS);
	match_node_try_order(n);
	free(set);
}

void match_node_free(struct match_node *n)
{
	match_model_free(&n->model);
	free(n->reqs);
	free(n->outs);
	free(n->cand_start);
	free(n->cands);
	free(n->req_of);
	free(n->first);
	free(n->next);
	free(n->fixed);
	free(n->posterior);
	free(n->late);
	free(n->slack);
	free(n->none_cost);
	*n = (struct match_node){ 0 };
}
