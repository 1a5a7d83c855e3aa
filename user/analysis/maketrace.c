/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synthetic traces; see maketrace.h. */
#include "user/analysis/maketrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/prng.h"
#include "user/model/msgtrace.h"

#define NIL 0xffffffffu

enum {
	DEFAULT_INSTANCES = 1000,
	MSGS_MAX = 1 << 28,
	OPEN_MAX = 1 << 16, /* calls open at once in one instance */
};

struct copy {
	struct prng random;
	const struct maketrace_tracelet *tracelet;
	uint32_t tracelet_no, number;
	int64_t next_ns; /* when its next instance begins */
};

struct generator {
	const struct maketrace_config *c;
	struct maketrace_result *out;
	struct err *err;
	size_t cap;
	struct copy *copies, *at; /* a heap by next_ns; the copy at work */
	size_t copy_cnt;
	uint32_t instance;
	uint32_t *got;	  /* by node: 1 + the last message that it got, of any instance */
	uint32_t *chosen; /* nodes in the order in which they were chosen in this instance */
	size_t chosen_cnt, chosen_cap;
	uint32_t *open; /* calls of this instance without return, as message numbers */
	size_t open_cnt, open_cap;
};

static int resolve(struct generator *g, const struct maketrace_step *s,
		   const struct maketrace_end *e, uint32_t *ret)
{
	if (e->cnt > 1) {
		*ret = e->nodes[prng_below(&g->at->random, e->cnt)];
		g->chosen = xgrow(g->chosen, &g->chosen_cap, g->chosen_cnt + 1, sizeof(*g->chosen));
		g->chosen[g->chosen_cnt++] = *ret;
		return 0;
	}
	if (e->cnt) {
		*ret = e->nodes[0];
		return 0;
	}
	for (size_t i = g->chosen_cnt; i-- > 0;)
		if (!strncmp(strtab_get(&g->c->nodes, g->chosen[i]), e->prefix,
			     strlen(e->prefix))) {
			*ret = g->chosen[i];
			return 0;
		}
	return err_set(g->err, -EINVAL,
		       "line %u: no node whose name begins with '%s' has been chosen before",
		       s->line_no, e->prefix);
}

/* The message that made this one happen: for a RET its CALL, else the latest open call into the sender; for
 * a one-way message otherwise the latest that its sender got. */
static int find_cause(struct generator *g, const struct maketrace_step *s, struct maketrace_msg *m)
{
	const struct maketrace_msg *msgs = g->out->msgs;

	m->cause = NIL;
	for (size_t i = g->open_cnt; i-- > 0;) {
		const struct maketrace_msg *call = &msgs[g->open[i]];

		if (m->op == MSG_RET ? call->sender == m->receiver && call->receiver == m->sender :
				       call->receiver == m->sender) {
			m->cause = g->open[i];
			if (m->op != MSG_RET)
				return 0;
			memmove(g->open + i, g->open + i + 1,
				(--g->open_cnt - i) * sizeof(*g->open));
			return 0;
		}
	}
	if (m->op == MSG_RET)
		return err_set(g->err, -EINVAL, "line %u: this ret ends no call", s->line_no);
	if (m->op == MSG_ONEWAY && g->got[m->sender] &&
	    msgs[g->got[m->sender] - 1].instance == g->instance)
		m->cause = g->got[m->sender] - 1;
	return 0;
}

static int64_t delay_of(struct generator *g, const struct maketrace_step *s,
			const struct maketrace_msg *m)
{
	int64_t ns = s->dev_ns ? prng_normal(&g->at->random, s->mean_ns, s->dev_ns) : s->mean_ns;

	for (uint32_t i = 0; i < s->extra_cnt; i++)
		if (s->extras[i].node == m->sender)
			ns += s->extras[i].ns;
	return ns < 0 ? 0 : ns;
}

static int send(struct generator *g, const struct maketrace_step *s, int64_t *now_ns)
{
	struct maketrace_msg m = { .instance = g->instance,
				   .tracelet = g->at->tracelet_no,
				   .op = s->op };
	int rc = resolve(g, s, &s->from, &m.sender);

	if (!rc)
		rc = resolve(g, s, &s->to, &m.receiver);
	if (!rc)
		rc = find_cause(g, s, &m);
	if (!rc && (g->out->cnt >= MSGS_MAX || g->open_cnt >= OPEN_MAX))
		rc = err_set(g->err, -E2BIG, "line %u: too many messages", s->line_no);
	if (rc)
		return rc;
	*now_ns += delay_of(g, s, &m);
	m.time_ns = *now_ns;
	g->out->msgs = xgrow(g->out->msgs, &g->cap, g->out->cnt + 1, sizeof(m));
	g->out->msgs[g->out->cnt] = m;
	if (m.op == MSG_CALL) {
		g->open = xgrow(g->open, &g->open_cap, g->open_cnt + 1, sizeof(*g->open));
		g->open[g->open_cnt++] = (uint32_t)g->out->cnt;
	}
	g->got[m.receiver] = (uint32_t)++g->out->cnt;
	return 0;
}

/* Runs a block from *now_ns on and moves *now_ns to its end. Depth is bounded by the parser. */
static int run_block(struct generator *g, const struct maketrace_block *block, int64_t *now_ns)
{
	int rc = 0;

	for (const struct maketrace_step *s = block->steps; s && !rc; s = s->next) {
		int64_t start_ns = *now_ns, end_ns = start_ns;

		if (s->kind == STEP_MESSAGE)
			rc = send(g, s, now_ns);
		for (uint64_t i = 0; s->kind == STEP_REPEAT && i < s->times && !rc; i++)
			rc = run_block(g, s->blocks, now_ns);
		if (s->kind != STEP_PARALLEL)
			continue;
		for (const struct maketrace_block *b = s->blocks; b && !rc; b = b->next) {
			int64_t branch_ns = start_ns;

			rc = run_block(g, b, &branch_ns);
			end_ns = branch_ns > end_ns ? branch_ns : end_ns;
		}
		*now_ns = end_ns;
	}
	return rc;
}

static bool copy_before(const struct copy *a, const struct copy *b)
{
	return a->next_ns != b->next_ns ? a->next_ns < b->next_ns : a->number < b->number;
}

static void sift_down(struct generator *g, size_t at)
{
	for (;;) {
		size_t child = at * 2 + 1;
		struct copy swap = g->copies[at];

		if (child >= g->copy_cnt)
			return;
		if (child + 1 < g->copy_cnt &&
		    copy_before(&g->copies[child + 1], &g->copies[child]))
			child++;
		if (!copy_before(&g->copies[child], &g->copies[at]))
			return;
		g->copies[at] = g->copies[child];
		g->copies[child] = swap;
		at = child;
	}
}

static void make_copies(struct generator *g)
{
	size_t cap = 0;
	uint32_t tracelet_no = 0;

	for (const struct maketrace_tracelet *t = g->c->tracelets; t; t = t->next, tracelet_no++)
		for (uint64_t i = 0; i < t->copies; i++) {
			struct copy *c;

			g->copies = xgrow(g->copies, &cap, g->copy_cnt + 1, sizeof(*g->copies));
			c = &g->copies[g->copy_cnt];
			*c = (struct copy){ .tracelet = t,
					    .tracelet_no = tracelet_no,
					    .number = (uint32_t)g->copy_cnt };
			prng_init(&c->random, g->c->seed, g->copy_cnt++);
			c->next_ns = prng_between(&c->random, t->think_low_ns, t->think_high_ns);
		}
	for (size_t i = g->copy_cnt / 2; i-- > 0;)
		sift_down(g, i);
}

/* The order of time; messages of one instant stay as they were generated, but RETs come last. */
struct place {
	int64_t time_ns;
	uint32_t rank, at;
};

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_msgs(struct maketrace_result *r)
{
	struct place *places = xcalloc(r->cnt + 1, sizeof(*places));
	struct maketrace_msg *sorted = xcalloc(r->cnt + 1, sizeof(*sorted));
	uint32_t *now_at = xcalloc(r->cnt + 1, sizeof(*now_at));

	for (size_t i = 0; i < r->cnt; i++)
		places[i] =
			(struct place){ r->msgs[i].time_ns, r->msgs[i].op == MSG_RET, (uint32_t)i };
	qsort(places, r->cnt, sizeof(*places), place_cmp);
	for (size_t i = 0; i < r->cnt; i++)
		now_at[places[i].at] = (uint32_t)i;
	for (size_t i = 0; i < r->cnt; i++) {
		sorted[i] = r->msgs[places[i].at];
		if (sorted[i].cause != NIL)
			sorted[i].cause = now_at[sorted[i].cause];
	}
	free(r->msgs);
	r->msgs = sorted;
	free(now_at);
	free(places);
}

/* A capture that keeps rate messages a second and lets queue of them wait: what comes then is lost, and
 * goes on being lost as long as the burst lasts. Times scale with rate so that they are whole numbers. */
static void lose(const struct maketrace_config *c, struct maketrace_result *r)
{
	__int128 busy_until = INT64_MIN; /* when the queue will be empty, in units of 1/rate ns */

	for (size_t i = 0; i < r->cnt && c->rate; i++) {
		__int128 now = (__int128)r->msgs[i].time_ns * (int64_t)c->rate;

		if (busy_until < now)
			busy_until = now;
		if (busy_until - now > (__int128)c->queue * 1000000000) {
			r->msgs[i].lost = true;
			r->lost_cnt++;
		} else {
			busy_until += 1000000000;
		}
	}
}

int maketrace_run(const struct maketrace_config *c, struct maketrace_result *ret, struct err *err)
{
	struct generator g = { .c = c, .out = ret, .err = err };
	uint64_t instances = c->instances ? c->instances : DEFAULT_INSTANCES;
	int rc = 0;

	*ret = (struct maketrace_result){ 0 };
	make_copies(&g);
	g.got = xcalloc(c->nodes.cnt + 1, sizeof(*g.got));
	for (uint64_t i = 0; i < instances && g.copy_cnt && !rc; i++) {
		int64_t now_ns;

		g.at = &g.copies[0];
		g.instance = (uint32_t)i + 1;
		g.chosen_cnt = g.open_cnt = 0;
		now_ns = g.at->next_ns;
		rc = run_block(&g, &g.at->tracelet->body, &now_ns);
		if (now_ns > INT64_MAX / 4)
			rc = err_set(err, -ERANGE, "the trace would last over 70 years");
		/* at least 1 ns, so that time passes even in an empty tracelet */
		g.at->next_ns = now_ns + 1 +
				prng_between(&g.at->random, g.at->tracelet->think_low_ns,
					     g.at->tracelet->think_high_ns);
		sift_down(&g, 0);
	}
	sort_msgs(ret);
	lose(c, ret);
	free(g.copies);
	free(g.got);
	free(g.chosen);
	free(g.open);
	return rc;
}

int64_t maketrace_stamp_ns(const struct maketrace_config *c, const struct maketrace_msg *m)
{
	return m->time_ns + (m->sender < c->skew_cap ? c->skew_ns[m->sender] : 0);
}

uint32_t *maketrace_captured(const struct maketrace_config *c, const struct maketrace_result *r)
{
	struct place *places = xcalloc(r->cnt + 1, sizeof(*places));
	uint32_t *order = xcalloc(r->cnt + 1, sizeof(*order));
	size_t cnt = 0;

	for (size_t i = 0; i < r->cnt; i++)
		if (!r->msgs[i].lost)
			places[cnt++] = (struct place){ maketrace_stamp_ns(c, &r->msgs[i]),
							r->msgs[i].op == MSG_RET, (uint32_t)i };
	qsort(places, cnt, sizeof(*places), place_cmp);
	for (size_t i = 0; i < cnt; i++)
		order[i] = places[i].at;
	free(places);
	return order;
}

void maketrace_result_free(struct maketrace_result *r)
{
	free(r->msgs);
	*r = (struct maketrace_result){ 0 };
}
