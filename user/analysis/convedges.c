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

struct conv_edges conv_edges_make(const struct msgtrace *t, int64_t quantum_ns)
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
		d->signal = signal_make(d->times_ns, d->cnt, e.origin_ns, quantum_ns);
		e.first[d->from + 1]++;
	}
	for (uint32_t n = 0; n < e.nodes_cnt; n++)
		e.first[n + 1] += e.first[n];
	return e;
}

void conv_edges_free(struct conv_edges *e)
{
	for (size_t i = 0; i < e->cnt; i++) {
		free(e->edges[i].times_ns);
		signal_free(&e->edges[i].signal);
	}
	free(e->edges);
	free(e->first);
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
