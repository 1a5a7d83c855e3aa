/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two ends of calls; see callends.h. */
#include "user/analysis/callends.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	LOOKED_AT_MAX =
		4096, /* ends of an edge, for a client's call: bounds what hostile tables cost */
};

/* An end of a call, for sorting by edge, then by start. */
struct call_end {
	uint64_t edge;
	int64_t start_ns;
	uint32_t call;
	uint32_t is_server;
};

static int call_end_cmp(const void *a, const void *b)
{
	const struct call_end *x = a, *y = b;

	if (x->edge != y->edge)
		return x->edge < y->edge ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->is_server != y->is_server)
		return x->is_server < y->is_server ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static struct call_end *sorted_ends(const struct msgtrace *t, size_t *ret_cnt)
{
	struct call_end *ends = xcalloc(t->call_cnt + 1, sizeof(*ends));
	size_t cnt = 0;

	for (size_t i = 0; i < t->call_cnt; i++) {
		const struct call *c = &t->calls[i];

		if (c->side != CALL_BOTH)
			ends[cnt++] = (struct call_end){ (uint64_t)c->caller << 32 | c->callee,
							 c->client_start_ns, (uint32_t)i,
							 c->side == CALL_SERVER };
	}
	if (cnt)
		qsort(ends, cnt, sizeof(*ends), call_end_cmp);
	*ret_cnt = cnt;
	return ends;
}

static bool fits(const struct call *client, const struct call *server, int64_t window_ns)
{
	return server->server_start_ns >= client->client_start_ns - window_ns &&
	       server->server_end_ns <= client->client_end_ns + window_ns;
}

/* Joins the cnt ends of one edge. gone marks server calls that were taken. */
static size_t join_edge(struct msgtrace *t, const struct call_end *ends, size_t cnt,
			int64_t window_ns, bool *gone)
{
	size_t first = 0, joined = 0; /* first: no earlier server's call can be anybody's */

	for (size_t i = 0; i < cnt; i++) {
		struct call *client = &t->calls[ends[i].call];

		if (ends[i].is_server)
			continue;
		while (first < cnt && (!ends[first].is_server || gone[ends[first].call] ||
				       ends[first].start_ns < ends[i].start_ns - window_ns))
			first++;
		for (size_t k = first; k < cnt && k < first + LOOKED_AT_MAX; k++) {
			struct call *server = &t->calls[ends[k].call];

			if (ends[k].start_ns > client->client_end_ns + window_ns)
				break;
			if (!ends[k].is_server || gone[ends[k].call] ||
			    !fits(client, server, window_ns))
				continue;
			client->server_start_ns = server->server_start_ns;
			client->server_end_ns = server->server_end_ns;
			client->side = CALL_BOTH;
			gone[ends[k].call] = true;
			joined++;
			break;
		}
	}
	return joined;
}

static void drop_gone(struct msgtrace *t, const bool *gone)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->call_cnt; i++) {
		if (gone[i])
			continue;
		t->calls[kept] = t->calls[i];
		t->calls[kept].parent = CALL_NONE;
		t->calls[kept].true_parent = CALL_TRUE_NONE;
		if (t->call_witness)
			t->call_witness[kept] = t->call_witness[i];
		if (t->call_msg)
			t->call_msg[kept] = t->call_msg[i];
		kept++;
	}
	t->call_cnt = kept;
	t->has_true_parents = false;
	for (size_t i = 0; i < kept; i++)
		if (t->calls[i].server_start_ns != t->calls[i].client_start_ns ||
		    t->calls[i].server_end_ns != t->calls[i].client_end_ns)
			t->has_server_stamps = true;
}

size_t callends_join(struct msgtrace *t, int64_t window_ns)
{
	bool *gone = xcalloc(t->call_cnt + 1, sizeof(*gone));
	size_t cnt, joined = 0;
	struct call_end *ends = sorted_ends(t, &cnt);

	for (size_t i = 0, end; i < cnt; i = end) {
		for (end = i; end < cnt && ends[end].edge == ends[i].edge; end++)
			;
		joined += join_edge(t, ends + i, end - i, window_ns, gone);
	}
	if (joined)
		drop_gone(t, gone);
	free(ends);
	free(gone);
	msgtrace__sort_calls(t);
	return joined;
}

static uint32_t network_node(struct msgtrace *t, uint32_t a, uint32_t b)
{
	char *name = xasprintf("%s~%s", msgtrace__node_name(t, a), msgtrace__node_name(t, b));
	uint32_t node = msgtrace__node(t, name, strlen(name));

	free(name);
	return node;
}

size_t callends_split_network(struct msgtrace *t, uint32_t a, uint32_t b)
{
	uint32_t *inner = xmalloc((t->call_cnt + 1) * sizeof(*inner)); /* by call: its inner half */
	uint32_t network = network_node(t, a, b);
	size_t old_cnt = t->call_cnt;

	memset(inner, 0xff, (t->call_cnt + 1) * sizeof(*inner));
	for (size_t i = 0; i < old_cnt && t->call_cnt < CALL_TRUE_NONE - 1; i++) {
		struct call *c = &t->calls[i], half = *c;

		if (!((c->caller == a && c->callee == b) || (c->caller == b && c->callee == a)) ||
		    (c->server_start_ns == c->client_start_ns &&
		     c->server_end_ns == c->client_end_ns))
			continue;
		inner[i] = (uint32_t)t->call_cnt;
		half.caller = network;
		half.client_start_ns = half.server_start_ns;
		half.client_end_ns = half.server_end_ns;
		half.parent = (uint32_t)i;
		half.true_parent = CALL_TRUE_NONE;
		c->callee = network;
		c->server_start_ns = c->client_start_ns;
		c->server_end_ns = c->client_end_ns;
		msgtrace__add_call(t, &half, NULL);
	}
	for (size_t i = 0; i < old_cnt; i++)
		if (t->calls[i].parent != CALL_NONE && inner[t->calls[i].parent] != CALL_NONE)
			t->calls[i].parent = inner[t->calls[i].parent];
	free(inner);
	old_cnt = t->call_cnt - old_cnt;
	msgtrace__sort_calls(t);
	return old_cnt;
}
