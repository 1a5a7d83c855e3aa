/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/match.h"

#include <stdlib.h>
#include <string.h>

#include "user/analysis/match_node.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"

/* The calls of the trace, grouped by the node that served them and by the node that made them. */
struct by_node {
	uint32_t nodes_cnt;
	uint32_t *in_start, *in;   /* node n: in[in_start[n] .. in_start[n + 1]) */
	uint32_t *out_start, *out; /* call numbers, by client_start */
};

static bool is_in(const struct call *c)
{
	return c->side != CALL_CLIENT && c->callee;
}

static bool is_out(const struct call *c)
{
	return c->side != CALL_SERVER && c->caller;
}

static void count_up(uint32_t *start, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		start[i + 1] += start[i];
}

static struct by_node group(const struct msgtrace *t)
{
	struct by_node g = { .nodes_cnt = (uint32_t)t->nodes.cnt + 1 };
	uint32_t *in_at, *out_at;
	size_t bytes = ((size_t)g.nodes_cnt + 1) * sizeof(uint32_t);

	g.in_start = xzalloc(bytes);
	g.out_start = xzalloc(bytes);
	for (size_t i = 0; i < t->call_cnt; i++) {
		g.in_start[t->calls[i].callee + 1] += is_in(&t->calls[i]);
		g.out_start[t->calls[i].caller + 1] += is_out(&t->calls[i]);
	}
	count_up(g.in_start, g.nodes_cnt);
	count_up(g.out_start, g.nodes_cnt);
	g.in = xcalloc((size_t)g.in_start[g.nodes_cnt] + 1, sizeof(*g.in));
	g.out = xcalloc((size_t)g.out_start[g.nodes_cnt] + 1, sizeof(*g.out));
	in_at = xmalloc(bytes);
	out_at = xmalloc(bytes);
	memcpy(in_at, g.in_start, bytes);
	memcpy(out_at, g.out_start, bytes);
	for (size_t i = 0; i < t->call_cnt; i++) {
		if (is_in(&t->calls[i]))
			g.in[in_at[t->calls[i].callee]++] = (uint32_t)i;
		if (is_out(&t->calls[i]))
			g.out[out_at[t->calls[i].caller]++] = (uint32_t)i;
	}
	free(in_at);
	free(out_at);
	return g;
}

static void group_free(struct by_node *g)
{
	free(g->in_start);
	free(g->in);
	free(g->out_start);
	free(g->out);
}

/* Small numbers for pairs (peer, operation), in order of appearance. */
struct pair_ids {
	struct index index;
	uint64_t *pairs;
	size_t cnt, cap;
};

static uint32_t pair_id(struct pair_ids *p, uint32_t peer, uint32_t op)
{
	uint64_t pair = (uint64_t)peer << 32 | op, hash = hash_u64(pair);
	struct index_iter it = index_find(&p->index, hash);

	for (; index_hit(&p->index, &it); index_next(&p->index, &it))
		if (p->pairs[it.elem] == pair)
			return it.elem;
	p->pairs = xgrow(p->pairs, &p->cap, p->cnt + 1, sizeof(*p->pairs));
	p->pairs[p->cnt] = pair;
	index_add(&p->index, hash, (uint32_t)p->cnt);
	return (uint32_t)p->cnt++;
}

static void pair_ids_free(struct pair_ids *p)
{
	index_free(&p->index);
	free(p->pairs);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The clock's tick: what all differences of stamps are multiples of. */
static int64_t find_tick(const struct match_node *n, int64_t origin)
{
	uint64_t tick = 0;

	for (uint32_t r = 0; r < n->reqs_cnt && tick != 1; r++) {
		tick = common_divisor(tick, (uint64_t)(n->reqs[r].start - origin));
		tick = common_divisor(tick, (uint64_t)llabs(n->reqs[r].end - n->reqs[r].start));
	}
	for (uint32_t o = 0; o < n->outs_cnt && tick != 1; o++) {
		tick = common_divisor(tick, (uint64_t)llabs(n->outs[o].start - origin));
		tick = common_divisor(tick, (uint64_t)llabs(n->outs[o].end - n->outs[o].start));
	}
	return tick ? (int64_t)tick : 1;
}

static int req_by_start(const void *a, const void *b)
{
	const struct match_request *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->call_no > y->call_no) - (x->call_no < y->call_no);
}

static void to_ticks(struct match_node *n)
{
	int64_t origin = n->reqs_cnt ? n->reqs[0].start : 0, tick = find_tick(n, origin);

	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		n->reqs[r].start = (n->reqs[r].start - origin) / tick;
		n->reqs[r].end = (n->reqs[r].end - origin) / tick;
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		n->outs[o].start = (n->outs[o].start - origin) / tick;
		n->outs[o].end = (n->outs[o].end - origin) / tick;
	}
	n->tick = tick;
}

static void fill(struct match_node *n, const struct msgtrace *t, const struct by_node *g,
		 uint32_t node)
{
	struct pair_ids classes = { 0 }, endpoints = { 0 };

	n->reqs_cnt = g->in_start[node + 1] - g->in_start[node];
	n->outs_cnt = g->out_start[node + 1] - g->out_start[node];
	n->reqs = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*n->reqs));
	n->outs = xcalloc((size_t)n->outs_cnt + 1, sizeof(*n->outs));
	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		uint32_t no = g->in[g->in_start[node] + r];
		const struct call *c = &t->calls[no];

		n->reqs[r] = (struct match_request){ .start = c->server_start_ns,
						     .end = c->server_end_ns,
						     .cls = pair_id(&classes, c->caller, c->op_sid),
						     .call_no = no };
		if (t->call_witness)
			n->reqs[r].tid = t->call_witness[no].receiver_tid;
	}
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		uint32_t no = g->out[g->out_start[node] + o];
		const struct call *c = &t->calls[no];

		n->outs[o] =
			(struct match_out){ .start = c->client_start_ns,
					    .end = c->client_end_ns,
					    .endpoint = pair_id(&endpoints, c->callee, c->op_sid),
					    .call_no = no };
		if (t->call_witness)
			n->outs[o].tid = t->call_witness[no].sender_tid;
	}
	qsort(n->reqs, n->reqs_cnt, sizeof(*n->reqs), req_by_start);
	n->classes = (uint32_t)classes.cnt;
	n->endpoints = (uint32_t)endpoints.cnt;
	pair_ids_free(&classes);
	pair_ids_free(&endpoints);
	to_ticks(n);
}

static void store(const struct match_node *n, struct match_link *links)
{
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		struct match_link *l = &links[n->outs[o].call_no];

		if (n->req_of[o] == MATCH_NOBODY)
			continue;
		if (n->fixed[o]) {
			*l = (struct match_link){ .parent = n->reqs[n->req_of[o]].call_no,
						  .posterior = 1,
						  .source = MATCH_SOURCE_EXACT };
			continue;
		}
		*l = (struct match_link){ .parent = n->reqs[n->req_of[o]].call_no,
					  .posterior = n->posterior[o],
					  .source = MATCH_SOURCE_TIMING,
					  .doubtful = n->posterior[o] < (float)MATCH_DOUBTFUL };
	}
}

static void sum_up(const struct msgtrace *t, const struct match_link *links,
		   struct match_stats *stats)
{
	for (size_t i = 0; i < t->call_cnt; i++) {
		if (!is_out(&t->calls[i]))
			continue;
		stats->calls_cnt++;
		stats->exact_cnt += links[i].source == MATCH_SOURCE_EXACT;
		stats->timing_cnt += links[i].source == MATCH_SOURCE_TIMING;
		stats->root_cnt += links[i].source == MATCH_SOURCE_NONE;
		stats->doubtful_cnt += links[i].doubtful;
	}
}

void match_run(const struct msgtrace *t, const struct match_opts *opts, struct match_link *links,
	       struct match_stats *stats)
{
	struct by_node g = group(t);
	struct gap_kernels *kernels = gap_kernels_new();

	*stats = (struct match_stats){ 0 };
	for (size_t i = 0; i < t->call_cnt; i++)
		links[i] = (struct match_link){ .parent = CALL_NONE };
	for (uint32_t node = 1; node < g.nodes_cnt; node++) {
		struct match_node n = { 0 };

		if (g.in_start[node] == g.in_start[node + 1] ||
		    g.out_start[node] == g.out_start[node + 1])
			continue;
		fill(&n, t, &g, node);
		n.skew = (opts->skew_ns + n.tick - 1) / n.tick;
		match_node_prepare(&n);
		match_node_witness(&n, t);
		match_node_run(&n, kernels);
		store(&n, links);
		stats->cut_cnt += n.cut_cnt;
		match_node_free(&n);
	}
	sum_up(t, links, stats);
	gap_kernels_free(kernels);
	group_free(&g);
}
