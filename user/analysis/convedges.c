/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/convedges.h"

#include <stdlib.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

static struct conv_edge *edge(struct conv_edges *e, struct index *ix, uint32_t from, uint32_t to)
{
	uint64_t hash = hash_pair(from, to);
	struct index_iter it = index_find(ix, hash);

	for (; index_hit(ix, &it); index_next(ix, &it))
		if (e->edges[it.elem].from == from && e->edges[it.elem].to == to)
			return &e->edges[it.elem];
	e->edges = xgrow(e->edges, &e->cap, e->cnt + 1, sizeof(*e->edges));
	e->edges[e->cnt] = (struct conv_edge){ .from = from, .to = to };
	index_add(ix, hash, (uint32_t)e->cnt);
	return &e->edges[e->cnt++];
}

static void add(struct conv_edges *e, struct index *ix, const struct msg *m)
{
	struct conv_edge *d = edge(e, ix, m->sender, m->receiver);

	d->times_ns = xgrow(d->times_ns, &d->cap, d->cnt + 1, sizeof(*d->times_ns));
	d->times_ns[d->cnt++] = m->time_ns;
	d->request_cnt += m->op != MSG_RET;
	if (!e->messages_cnt || m->time_ns < e->origin_ns)
		e->origin_ns = m->time_ns;
	if (!e->messages_cnt || m->time_ns > e->last_ns)
		e->last_ns = m->time_ns;
	e->messages_cnt++;
}

static void add_call(struct conv_edges *e, struct index *ix, const struct call *c)
{
	struct msg m = { .sender = c->caller, .receiver = c->callee, .op = MSG_CALL };

	m.time_ns = c->side == CALL_SERVER ? c->server_start_ns : c->client_start_ns;
	add(e, ix, &m);
	m = (struct msg){ .sender = c->callee, .receiver = c->caller, .op = MSG_RET };
	m.time_ns = c->side == CALL_SERVER ? c->server_end_ns : c->client_end_ns;
	add(e, ix, &m);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int by_nodes(const void *a, const void *b)
{
	const struct conv_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static bool sorted(const int64_t *times_ns, size_t cnt)
{
	for (size_t i = 1; i < cnt; i++)
		if (times_ns[i] < times_ns[i - 1])
			return false;
	return true;
}

struct conv_edges conv_edges_make(const struct msgtrace *t)
{
	struct conv_edges e = { .nodes_cnt = (uint32_t)t->nodes.cnt + 1 };
	struct index ix = { 0 };

	for (size_t i = 0; i < t->msg_cnt; i++)
		add(&e, &ix, msgtrace__msg(t, i));
	for (size_t i = 0; i < t->call_cnt && !t->msg_cnt; i++)
		add_call(&e, &ix, &t->calls[i]);
	index_free(&ix);
	if (e.cnt)
		qsort(e.edges, e.cnt, sizeof(*e.edges), by_nodes);
	e.first = xcalloc((size_t)e.nodes_cnt + 1, sizeof(*e.first));
	for (size_t i = 0; i < e.cnt; i++) {
		struct conv_edge *d = &e.edges[i];

		if (!sorted(d->times_ns, d->cnt))
			qsort(d->times_ns, d->cnt, sizeof(*d->times_ns), by_time);
		d->own_cnt = d->cnt;
		e.first[d->from + 1]++;
	}
	for (uint32_t n = 0; n < e.nodes_cnt; n++)
		e.first[n + 1] += e.first[n];
	return e;
}

void conv_edges_free(struct conv_edges *e)
{
	for (size_t i = 0; i < e->cnt; i++)
		free(e->edges[i].times_ns);
	free(e->edges);
	free(e->first);
	*e = (struct conv_edges){ 0 };
}

/* How many of an edge's messages come before t_ns. */
static size_t cnt_before(const struct conv_edge *d, int64_t t_ns)
{
	size_t lo = 0, hi = d->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->times_ns[mid] < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The earliest time before which there are at least cnt messages, from lo_ns on. */
static int64_t time_of(const struct conv_edges *e, uint64_t cnt, int64_t lo_ns)
{
	int64_t hi_ns = e->last_ns + 1;

	while (lo_ns < hi_ns) {
		int64_t mid_ns = lo_ns + (hi_ns - lo_ns) / 2;
		uint64_t before = 0;

		for (size_t i = 0; i < e->cnt; i++)
			before += cnt_before(&e->edges[i], mid_ns);
		if (before < cnt)
			lo_ns = mid_ns + 1;
		else
			hi_ns = mid_ns;
	}
	return lo_ns;
}

int64_t *conv_edges_cut(const struct conv_edges *e, uint64_t piece_cnt, int64_t reach_ns,
			size_t *cnt)
{
	size_t cap = 0, pieces = 0;
	int64_t *ends_ns = NULL, at_ns = e->origin_ns;

	for (uint64_t done = piece_cnt; done + piece_cnt / 2 < e->messages_cnt; done += piece_cnt) {
		int64_t end_ns = time_of(e, done, at_ns);

		/* overflow is out of the question: both are within the trace */
		if ((end_ns - at_ns) / 4 < reach_ns || (e->last_ns - end_ns) / 4 < reach_ns)
			continue;
		ends_ns = xgrow(ends_ns, &cap, pieces + 1, sizeof(*ends_ns));
		ends_ns[pieces++] = at_ns = end_ns;
	}
	ends_ns = xgrow(ends_ns, &cap, pieces + 1, sizeof(*ends_ns));
	ends_ns[pieces++] = e->last_ns + 1;
	*cnt = pieces;
	return ends_ns;
}

struct conv_edges conv_edges_piece(const struct conv_edges *e, int64_t from_ns, int64_t to_ns,
				   int64_t reach_ns, int64_t quantum_ns)
{
	struct conv_edges piece = *e;
	int64_t last_ns = e->last_ns - to_ns > reach_ns ? to_ns + reach_ns : e->last_ns + 1;

	piece.edges = xcalloc(e->cnt + 1, sizeof(*piece.edges));
	for (size_t i = 0; i < e->cnt; i++) {
		struct conv_edge *d = &piece.edges[i];
		size_t first = cnt_before(&e->edges[i], from_ns);

		*d = e->edges[i];
		d->times_ns += first;
		d->own_cnt = cnt_before(&e->edges[i], to_ns) - first;
		d->cnt = cnt_before(&e->edges[i], last_ns) - first;
		d->signal = signal_make(d->times_ns, d->cnt, e->origin_ns, quantum_ns);
	}
	return piece;
}

void conv_edges_piece_free(struct conv_edges *e)
{
	for (size_t i = 0; i < e->cnt; i++)
		signal_free(&e->edges[i].signal);
	free(e->edges);
	*e = (struct conv_edges){ 0 };
}

uint32_t conv_edges_roots(const struct conv_edges *e, bool *is_root)
{
	uint64_t *sent = xcalloc(e->nodes_cnt, sizeof(*sent));
	uint64_t *got = xcalloc(e->nodes_cnt, sizeof(*got));
	uint32_t cnt = 0;

	for (size_t i = 0; i < e->cnt; i++) {
		sent[e->edges[i].from] += e->edges[i].request_cnt;
		got[e->edges[i].to] += e->edges[i].request_cnt;
	}
	for (int rule = 0; rule < 3 && !cnt; rule++)
		for (uint32_t n = 0; n < e->nodes_cnt; n++) {
			is_root[n] = sent[n] && (rule == 0 ? !got[n] :
						 rule == 1 ? sent[n] > got[n] :
							     true);
			cnt += is_root[n];
		}
	free(sent);
	free(got);
	return cnt;
}
