/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nesting algorithm; see nesting.h. The work is done node by node: "server" calls are those into the
 * node, which may be parents, "client" calls those out of it, which look for one. */
#include "user/analysis/nesting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/delaybins.h"
#include "user/analysis/scoreboard.h"
#include "user/base/mem.h"

#define NIL 0xffffffffu

enum {
	MEMO_MAX_CNT = 1 << 20,
	TICK_CLIENTS = 1 << 14,
};

/* Scores that differ by less are a tie: the earliest parent wins, on every machine. */
#define TIE 1e-9

struct server {
	int64_t start_ns, end_ns;
	uint32_t call;
	uint32_t from; /* dense number of its caller among the node's callers */
	uint32_t
		last_child; /* newest of the children it was given, as a client number; NIL = none */
	uint32_t child_cnt;
};

struct client {
	uint32_t call;
	uint32_t to;	/* dense number of its callee */
	uint32_t first; /* candidates [first, first + cnt) */
	uint32_t cnt;
	uint32_t next_child; /* given to the same server before this one */
};

struct node {
	struct server *servers;
	struct client *clients;
	size_t server_cnt, client_cnt;
	size_t clients_before; /* of nodes before this one, for progress */
	uint32_t from_cnt, to_cnt;
	uint32_t *candidates; /* server numbers, in order of their starts */
	size_t candidate_cnt, candidate_cap;
	uint32_t *memo; /* [from * to_cnt + to] = histogram, NIL = not yet */
	struct scoreboard board;
};

struct nesting {
	struct msgtrace *t;
	const struct nesting_opts *opts;
	struct nesting_stats *stats;
	struct delaybins bins;
	double overlap_factor[NESTING_CHILDREN_MAX + 1], same_factor[NESTING_CHILDREN_MAX + 1];
	uint32_t *by_callee, *callee_at; /* calls grouped by callee; group n is [at[n], at[n+1]) */
	uint32_t *by_caller, *caller_at;
	uint32_t *dense;      /* node -> number in this node's work */
	uint32_t *tree_above; /* union-find of trees so far, NULL where cycles cannot arise */
};

struct nesting_opts nesting_opts_default(void)
{
	return (struct nesting_opts){ .overlap_power = 2, .same_power = 4, .smooth_bins = 3 };
}

struct nesting_opts nesting_opts_paper(void)
{
	return (struct nesting_opts){ .overlap_power = 2, .return_order = true };
}

static bool is_server(const struct call *c)
{
	return c->side != CALL_CLIENT;
}

static bool is_client(const struct call *c)
{
	return c->side != CALL_SERVER;
}

/* Groups the calls for which wanted() holds by one of their two nodes, keeping their order. */
static uint32_t *group(const struct msgtrace *t, bool by_callee, uint32_t **ret_at)
{
	bool (*wanted)(const struct call *) = by_callee ? is_server : is_client;
	uint32_t *at = xcalloc(t->nodes.cnt + 2, sizeof(*at));
	uint32_t *calls = xmalloc((t->call_cnt + 1) * sizeof(*calls));

	for (size_t i = 0; i < t->call_cnt; i++)
		if (wanted(&t->calls[i]))
			at[(by_callee ? t->calls[i].callee : t->calls[i].caller) + 2]++;
	for (size_t i = 2; i < t->nodes.cnt + 2; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < t->call_cnt; i++)
		if (wanted(&t->calls[i]))
			calls[at[(by_callee ? t->calls[i].callee : t->calls[i].caller) + 1]++] =
				(uint32_t)i;
	*ret_at = at;
	return calls;
}

static int server_cmp(const void *a, const void *b)
{
	const struct server *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/* Numbers nodes 0, 1, ... as they come; n->dense is NIL outside of a node's work. */
static uint32_t number(struct nesting *n, uint32_t node, uint32_t *cnt)
{
	if (n->dense[node] == NIL)
		n->dense[node] = (*cnt)++;
	return n->dense[node];
}

static void load_node(struct nesting *n, struct node *w, uint32_t node)
{
	const uint32_t *in = n->by_callee + n->callee_at[node];
	const uint32_t *out = n->by_caller + n->caller_at[node];
	const struct call *calls = n->t->calls;

	w->server_cnt = n->callee_at[node + 1] - n->callee_at[node];
	w->client_cnt = n->caller_at[node + 1] - n->caller_at[node];
	w->clients_before = n->caller_at[node];
	w->servers = xcalloc(w->server_cnt, sizeof(*w->servers));
	w->clients = xcalloc(w->client_cnt, sizeof(*w->clients));
	for (size_t i = 0; i < w->server_cnt; i++) {
		const struct call *c = &calls[in[i]];

		w->servers[i] = (struct server){ c->server_start_ns,
						 c->server_end_ns,
						 in[i],
						 number(n, c->caller, &w->from_cnt),
						 NIL,
						 0 };
	}
	for (size_t i = 0; i < w->server_cnt; i++)
		n->dense[calls[in[i]].caller] = NIL;
	for (size_t i = 0; i < w->client_cnt; i++)
		w->clients[i] =
			(struct client){ .call = out[i],
					 .to = number(n, calls[out[i]].callee, &w->to_cnt) };
	for (size_t i = 0; i < w->client_cnt; i++)
		n->dense[calls[out[i]].callee] = NIL;
	if (n->t->has_server_stamps)
		qsort(w->servers, w->server_cnt, sizeof(*w->servers), server_cmp);
	scoreboard_init(&w->board, &n->bins, n->opts->smooth_bins, n->opts->window_ns);
	if ((uint64_t)w->from_cnt * w->to_cnt <= MEMO_MAX_CNT) {
		w->memo = xmalloc((size_t)w->from_cnt * w->to_cnt * sizeof(*w->memo) + 1);
		memset(w->memo, 0xff, (size_t)w->from_cnt * w->to_cnt * sizeof(*w->memo));
	}
}

static void free_node(struct node *w)
{
	free(w->servers);
	free(w->clients);
	free(w->candidates);
	free(w->memo);
	scoreboard_fini(&w->board);
}

static uint32_t hist_of(struct node *w, uint32_t from, uint32_t to)
{
	uint32_t *memo = w->memo ? &w->memo[(size_t)from * w->to_cnt + to] : NULL;

	if (!memo)
		return scoreboard_hist(&w->board, from, to);
	if (*memo == NIL)
		*memo = scoreboard_hist(&w->board, from, to);
	return *memo;
}

/* Whether s was being served during all of c, within the window (specs B.2 steps 1 and 5). At equal starts
 * the order of the calls decides. */
static bool contains(const struct nesting *n, const struct server *s, const struct call *c,
		     uint32_t call)
{
	int64_t window_ns = n->opts->window_ns;

	if (s->call == call || s->end_ns < c->client_end_ns - window_ns)
		return false;
	if (window_ns)
		return s->start_ns <= c->client_start_ns + window_ns;
	return s->start_ns < c->client_start_ns ||
	       (s->start_ns == c->client_start_ns && s->call < call);
}

/* Servers that may contain the clients to come, in order of their starts. */
struct active {
	uint32_t *servers;
	size_t cnt, cap, next; /* next: the first server that has not been looked at */
};

static void advance(struct nesting *n, const struct node *w, struct active *a, int64_t now_ns)
{
	int64_t window_ns = n->opts->window_ns;
	size_t kept = 0;

	while (a->next < w->server_cnt && w->servers[a->next].start_ns <= now_ns + window_ns) {
		a->servers = xgrow(a->servers, &a->cap, a->cnt + 1, sizeof(*a->servers));
		a->servers[a->cnt++] = (uint32_t)a->next++;
	}
	for (size_t i = 0; i < a->cnt; i++)
		if (w->servers[a->servers[i]].end_ns >= now_ns - window_ns)
			a->servers[kept++] = a->servers[i];
	a->cnt = kept;
	if (a->cnt > NESTING_CANDIDATES_MAX) {
		size_t cut = a->cnt - NESTING_CANDIDATES_MAX;

		memmove(a->servers, a->servers + cut, (a->cnt - cut) * sizeof(*a->servers));
		a->cnt -= cut;
		n->stats->cut_cnt += cut;
	}
}

/* Whether the node was serving anything (but this very call, if it calls itself) when it made the call. */
static bool serves_another(const struct node *w, const struct active *a, uint32_t call)
{
	return a->cnt > 1 || (a->cnt == 1 && w->servers[a->servers[0]].call != call);
}

static void find_candidates(struct nesting *n, struct node *w)
{
	struct active a = { 0 };

	for (size_t i = 0; i < w->client_cnt; i++) {
		struct client *k = &w->clients[i];
		const struct call *c = &n->t->calls[k->call];

		advance(n, w, &a, c->client_start_ns);
		k->first = (uint32_t)w->candidate_cnt;
		w->candidates = xgrow(w->candidates, &w->candidate_cap, w->candidate_cnt + a.cnt,
				      sizeof(*w->candidates));
		for (size_t j = 0; j < a.cnt; j++)
			if (contains(n, &w->servers[a.servers[j]], c, k->call))
				w->candidates[w->candidate_cnt++] = a.servers[j];
		k->cnt = (uint32_t)w->candidate_cnt - k->first;
		if (i % TICK_CLIENTS == 0)
			progress_tick(n->opts->progress, "nesting", w->clients_before + i,
				      n->t->call_cnt);
		n->stats->child_cnt += k->cnt > 0;
		n->stats->ambiguous_cnt += k->cnt > 1;
		n->stats->candidate_cnt += k->cnt;
		n->stats->outlive_cnt += !k->cnt && serves_another(w, &a, k->call);
	}
	free(a.servers);
}

static void score_nestings(struct nesting *n, struct node *w)
{
	for (size_t i = 0; i < w->client_cnt; i++) {
		const struct client *k = &w->clients[i];
		int64_t start_ns = n->t->calls[k->call].client_start_ns;

		for (uint32_t j = 0; j < k->cnt; j++) {
			const struct server *s = &w->servers[w->candidates[k->first + j]];

			scoreboard_add(&w->board, hist_of(w, s->from, k->to),
				       start_ns - s->start_ns, 1.0 / k->cnt);
		}
	}
	scoreboard_smooth(&w->board);
	n->stats->score_mass += scoreboard_mass(&w->board);
}

static bool overlap(const struct call *a, const struct call *b)
{
	int64_t start_ns =
		a->client_start_ns > b->client_start_ns ? a->client_start_ns : b->client_start_ns;
	int64_t end_ns = a->client_end_ns < b->client_end_ns ? a->client_end_ns : b->client_end_ns;

	return start_ns < end_ns;
}

static double penalty(const struct nesting *n, const struct node *w, const struct server *s,
		      const struct client *k)
{
	const struct call *calls = n->t->calls;
	uint32_t overlap_cnt = 0, same_cnt = 0, at = s->last_child;
	double factor;

	if (at == NIL)
		return 1;
	for (int i = 0; i < NESTING_CHILDREN_MAX && at != NIL; i++) {
		overlap_cnt += overlap(&calls[w->clients[at].call], &calls[k->call]);
		same_cnt += w->clients[at].to == k->to;
		at = w->clients[at].next_child;
	}
	factor = n->overlap_factor[overlap_cnt] * n->same_factor[same_cnt];
	if (n->opts->child_power != 0)
		factor *= pow(1.0 + s->child_cnt, -n->opts->child_power);
	return factor;
}

/* The root of a call's tree as it stands, with path halving. */
static uint32_t tree_root(uint32_t *above, uint32_t call)
{
	while (above[call] != call) {
		above[call] = above[above[call]];
		call = above[call];
	}
	return call;
}

static void choose_parent(struct nesting *n, struct node *w, uint32_t client)
{
	struct client *k = &w->clients[client];
	struct call *c = &n->t->calls[k->call];
	struct server *best = NULL;
	double best_score = -1;

	for (uint32_t j = 0; j < k->cnt; j++) {
		struct server *s = &w->servers[w->candidates[k->first + j]];
		double score = scoreboard_score(&w->board, hist_of(w, s->from, k->to),
						c->client_start_ns - s->start_ns);

		if (score > best_score)
			score *= penalty(n, w, s, k);
		if (best && !(score > best_score * (1 + TIE)))
			continue;
		if (n->tree_above && tree_root(n->tree_above, s->call) == k->call)
			continue;
		best = s;
		best_score = score;
	}
	if (!best)
		return;
	c->parent = best->call;
	k->next_child = best->last_child;
	best->last_child = client;
	best->child_cnt++;
	if (n->tree_above)
		n->tree_above[k->call] = best->call;
}

/* For sorting by end; of equal ends the call that came last returns first (specs A.1). */
struct client_end {
	int64_t end_ns;
	uint32_t client;
};

static int client_end_cmp(const void *a, const void *b)
{
	const struct client_end *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->client > y->client ? -1 : x->client < y->client;
}

static void find_nested_pairs(struct nesting *n, struct node *w)
{
	struct client_end *ends;

	if (!n->opts->return_order) {
		for (size_t i = 0; i < w->client_cnt; i++)
			choose_parent(n, w, (uint32_t)i);
		return;
	}
	ends = xcalloc(w->client_cnt, sizeof(*ends));
	for (size_t i = 0; i < w->client_cnt; i++)
		ends[i] = (struct client_end){ n->t->calls[w->clients[i].call].client_end_ns,
					       (uint32_t)i };
	qsort(ends, w->client_cnt, sizeof(*ends), client_end_cmp);
	for (size_t i = 0; i < w->client_cnt; i++)
		choose_parent(n, w, ends[i].client);
	free(ends);
}

static void infer_node(struct nesting *n, uint32_t node)
{
	struct node w = { 0 };

	if (n->caller_at[node + 1] == n->caller_at[node] ||
	    n->callee_at[node + 1] == n->callee_at[node])
		return;
	load_node(n, &w, node);
	find_candidates(n, &w);
	score_nestings(n, &w);
	find_nested_pairs(n, &w);
	free_node(&w);
}

static void prepare(struct nesting *n)
{
	const struct nesting_opts *o = n->opts;
	struct msgtrace *t = n->t;

	delaybins_init(&n->bins, o->paper_bins ? 1000000 : 1000, o->paper_bins ? 340 : 480);
	for (int i = 0; i <= NESTING_CHILDREN_MAX; i++) {
		n->overlap_factor[i] = pow(1.0 + i, -o->overlap_power);
		n->same_factor[i] = pow(1.0 + i, -o->same_power);
	}
	n->by_callee = group(t, true, &n->callee_at);
	n->by_caller = group(t, false, &n->caller_at);
	n->dense = xmalloc((t->nodes.cnt + 1) * sizeof(*n->dense));
	memset(n->dense, 0xff, t->nodes.cnt * sizeof(*n->dense));
	/* Containment alone has no cycles; clocks that may disagree have */
	if (o->window_ns || t->has_server_stamps) {
		n->tree_above = xmalloc((t->call_cnt + 1) * sizeof(*n->tree_above));
		for (size_t i = 0; i < t->call_cnt; i++)
			n->tree_above[i] = (uint32_t)i;
	}
}

void nesting_infer(struct msgtrace *t, const struct nesting_opts *opts, struct nesting_stats *stats)
{
	struct nesting n = { .t = t, .opts = opts, .stats = stats };

	*stats = (struct nesting_stats){ .call_cnt = t->call_cnt };
	for (size_t i = 0; i < t->call_cnt; i++)
		t->calls[i].parent = CALL_NONE;
	prepare(&n);
	for (size_t i = 1; i < t->nodes.cnt; i++) {
		infer_node(&n, (uint32_t)i);
	}
	free(n.by_callee);
	free(n.callee_at);
	free(n.by_caller);
	free(n.caller_at);
	free(n.dense);
	free(n.tree_above);
}
