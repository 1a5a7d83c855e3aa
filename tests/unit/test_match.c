/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matching on services whose true links are known (specs D.4). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/match.h"
#include "user/analysis/match_model.h"
#include "user/base/mem.h"

#define US INT64_C(1000)

struct truth {
	struct msgtrace *t;
	uint32_t *parent; /* by call id: the id of the call that caused it */
	size_t cap;
};

static uint32_t node(struct msgtrace *t, const char *name)
{
	return msgtrace__node(t, name, strlen(name));
}

static uint32_t add(struct truth *x, const char *from, const char *to, int64_t a, int64_t b,
		    uint32_t parent)
{
	struct call c = call_init(node(x->t, from), node(x->t, to), a, b);

	c.id = (uint32_t)x->t->call_cnt + 1;
	c.side = strcmp(to, "S") ? CALL_CLIENT : CALL_SERVER;
	x->parent = xgrow(x->parent, &x->cap, c.id + 1, sizeof(*x->parent));
	x->parent[c.id] = parent;
	msgtrace__add_call(x->t, &c, NULL);
	return c.id;
}

static int64_t lognormal(struct rng *r, double median_us, double spread)
{
	return (int64_t)(median_us * exp(spread * rng_gauss(r))) * US;
}

/* Requests of a service that calls D1, then D2 (never, or several times, if so told). */
struct shape {
	double gap_us; /* between arrivals */
	int d1_max;    /* calls to D1: 1 .. d1_max */
	double d2_chance;
	int64_t offset_ns;
	const char *names[3]; /* client, D1, D2 */
};

static struct truth service(uint64_t seed, int cnt, const struct shape *s)
{
	struct truth x = { .t = msgtrace__new() };
	struct rng r = { seed };
	int64_t at = s->offset_ns;

	for (int i = 0; i < cnt; i++) {
		int64_t now = at, calls[8][2];
		int d1 = 1 + (int)rng_below(&r, (uint32_t)s->d1_max), n = 0;
		bool d2 = rng_unit(&r) < s->d2_chance;
		uint32_t id;

		for (; n < d1 + d2; n++) {
			calls[n][0] = now + lognormal(&r, n < d1 ? 200 : 350, 0.35);
			calls[n][1] = now = calls[n][0] + lognormal(&r, 3000, 0.5);
		}
		now += lognormal(&r, 150, 0.35);
		id = add(&x, s->names[0], "S", at, now, 0);
		for (int k = 0; k < n; k++)
			add(&x, "S", s->names[k < d1 ? 1 : 2], calls[k][0], calls[k][1], id);
		at += 1000 * US / 1000 + (int64_t)(rng_exp(&r, s->gap_us)) * US;
	}
	msgtrace__sort_calls(x.t);
	return x;
}

static const struct shape plain = { 3000, 1, 1, 0, { "C", "D1", "D2" } };

static void truth_free(struct truth *x)
{
	msgtrace__free(x->t);
	free(x->parent);
}

static struct match_link *match(const struct truth *x, struct match_stats *stats)
{
	struct match_link *links = xcalloc(x->t->call_cnt + 1, sizeof(*links));

	match_run(x->t, &(struct match_opts){ 0 }, links, stats);
	return links;
}

/* Id of the call that the result says caused call number i. */
static uint32_t parent_id(const struct truth *x, const struct match_link *links, size_t i)
{
	return links[i].parent == CALL_NONE ? 0 : x->t->calls[links[i].parent].id;
}

static double accuracy(const struct truth *x, const struct match_link *links)
{
	size_t right = 0, cnt = 0;

	for (size_t i = 0; i < x->t->call_cnt; i++) {
		if (x->t->calls[i].side != CALL_CLIENT)
			continue;
		cnt++;
		right += parent_id(x, links, i) == x->parent[x->t->calls[i].id];
	}
	return (double)right / (double)cnt;
}

static void check_laws(const struct truth *x, const struct match_link *links,
		       const struct match_stats *st)
{
	for (size_t i = 0; i < x->t->call_cnt; i++) {
		const struct call *c = &x->t->calls[i], *p;

		if (links[i].parent == CALL_NONE) {
			assert_int_equal(links[i].source, MATCH_SOURCE_NONE);
			assert_true(links[i].posterior == 0);
			continue;
		}
		p = &x->t->calls[links[i].parent];
		assert_int_equal(p->callee, c->caller);
		assert_true(p->server_start_ns <= c->client_start_ns);
		assert_true(p->server_end_ns >= c->client_end_ns);
		assert_true(links[i].posterior >= 0 && links[i].posterior <= 1.0001f);
		assert_int_equal(links[i].doubtful, links[i].posterior < 0.6f);
	}
	assert_int_equal(st->calls_cnt, st->exact_cnt + st->timing_cnt + st->root_cnt);
}

static void test_one_at_a_time(void **state)
{
	struct shape s = { 1e6, 3, 0.5, 0, { "C", "D1", "D2" } };
	struct truth x = service(1, 300, &s);
	struct match_stats st;
	struct match_link *links = match(&x, &st);

	(void)state;
	assert_true(accuracy(&x, links) == 1);
	check_laws(&x, links, &st);
	assert_int_equal(st.doubtful_cnt, 0);
	free(links);
	truth_free(&x);
}

static void test_parallel(void **state)
{
	const struct {
		struct shape s;
		double least;
	} cases[] = {
		{ { 3000, 1, 1, 0, { "C", "D1", "D2" } }, 0.97 },
		{ { 1500, 1, 1, 0, { "C", "D1", "D2" } }, 0.93 },
		{ { 3000, 1, 0.5, 0, { "C", "D1", "D2" } }, 0.95 },
		{ { 6000, 3, 0.5, 0, { "C", "D1", "D2" } }, 0.90 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		struct truth x = service(7 + i, 1000, &cases[i].s);
		struct match_stats st;
		struct match_link *links = match(&x, &st);
		double expected = 0, got = accuracy(&x, links);

		check_laws(&x, links, &st);
		for (size_t k = 0; k < x.t->call_cnt; k++)
			expected += (double)links[k].posterior / (double)st.calls_cnt;
		print_message("case %zu: %.4f right, %.4f expected\n", i, got, expected);
		assert_true(got >= cases[i].least);
		assert_true(fabs(got - expected) < 0.05); /* probabilities mean what they say */
		free(links);
		truth_free(&x);
	}
}

/* By id; calls that start at one instant may change places. */
static void same_links(const struct truth *a, const struct match_link *la, const struct truth *b,
		       const struct match_link *lb)
{
	uint32_t *parent = xcalloc(a->t->call_cnt + 1, sizeof(*parent));
	size_t different = 0;

	for (size_t i = 0; i < a->t->call_cnt; i++)
		parent[a->t->calls[i].id] = parent_id(a, la, i);
	for (size_t i = 0; i < b->t->call_cnt; i++)
		different += parent[b->t->calls[i].id] != parent_id(b, lb, i);
	free(parent);
	assert_true(different <= 4);
}

/* Other names, another clock, another order of input: the same links. */
static void test_invariance(void **state)
{
	struct shape moved = { 3000, 1, 1, INT64_C(86400) * 1000000 * US, { "x", "z", "y" } };
	struct truth a = service(3, 500, &plain), b = service(3, 500, &moved);
	struct match_stats st;
	struct match_link *la = match(&a, &st), *lb = match(&b, &st), *lc;
	struct msgtrace *t = msgtrace__new();
	struct truth c = { .t = t };

	(void)state;
	same_links(&a, la, &b, lb);
	for (uint32_t n = 1; n < a.t->nodes.cnt; n++)
		node(t, msgtrace__node_name(a.t, n));
	for (size_t i = a.t->call_cnt; i-- > 0;)
		msgtrace__add_call(t, &a.t->calls[i], NULL);
	msgtrace__sort_calls(t);
	lc = match(&c, &st);
	same_links(&a, la, &c, lc);
	free(la);
	free(lb);
	free(lc);
	truth_free(&a);
	truth_free(&b);
	truth_free(&c);
}

/* One request far away in time takes nothing from the others. */
static void test_far_request(void **state)
{
	struct truth x = service(4, 300, &plain);
	struct match_stats st;
	struct match_link *links = match(&x, &st);
	double before = accuracy(&x, links);
	int64_t far = INT64_C(3600) * 1000000 * US;
	uint32_t id = add(&x, "C", "S", far, far + 5000 * US, 0);

	(void)state;
	free(links);
	add(&x, "S", "D1", far + 200 * US, far + 3000 * US, id);
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	assert_true(fabs(accuracy(&x, links) - before) < 0.01);
	for (size_t i = 0; i < x.t->call_cnt; i++)
		if (x.t->calls[i].client_start_ns > far)
			assert_int_equal(parent_id(&x, links, i), id);
	free(links);
	truth_free(&x);
}

/* One thread, a coarse clock: requests are served in their order, and must be seen to be. */
static void test_queue(void **state)
{
	struct truth x = { .t = msgtrace__new() };
	struct rng r = { 5 };
	int64_t arrival = 0, ms = 1000 * US, d1_free = 0, d2_free = 0, end_free = 0;
	struct match_stats st;
	struct match_link *links;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		int64_t a = arrival, b, c, d, e, f;
		uint32_t id;

		b = d1_free =
			(a > d1_free ? a : d1_free) + (int64_t)(rng_exp(&r, 0.9) * (double)ms);
		c = b + 5 * ms;
		d = d2_free =
			(c > d2_free ? c : d2_free) + (int64_t)(rng_exp(&r, 0.9) * (double)ms);
		e = d + 7 * ms;
		f = end_free =
			(e > end_free ? e : end_free) + (int64_t)(rng_exp(&r, 0.5) * (double)ms);
		id = add(&x, "C", "S", a / ms * ms, f / ms * ms, 0);
		add(&x, "S", "D1", b / ms * ms, c / ms * ms, id);
		add(&x, "S", "D2", d / ms * ms, e / ms * ms, id);
		arrival += (int64_t)(rng_exp(&r, 2) * (double)ms);
	}
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	assert_true(accuracy(&x, links) > 0.99);
	free(links);
	truth_free(&x);
}

static void test_edges(void **state)
{
	struct truth x = { .t = msgtrace__new() };
	struct match_stats st;
	struct match_link *links = match(&x, &st);
	uint32_t id;

	(void)state;
	assert_int_equal(st.calls_cnt, 0);
	free(links);
	id = add(&x, "C", "S", 0, 100 * US, 0);
	add(&x, "S", "D1", 10 * US, 20 * US, id);
	add(&x, "S", "D1", 200 * US, 220 * US, 0); /* nothing was open */
	add(&x, "S", "D2", 90 * US, 120 * US, id); /* outlives it */
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	assert_true(accuracy(&x, links) == 1);
	assert_int_equal(st.root_cnt, 1);
	free(links);
	/* with W, the other one may belong to it as well */
	links = xcalloc(x.t->call_cnt + 1, sizeof(*links));
	match_run(x.t, &(struct match_opts){ .skew_ns = 100 * US }, links, &st);
	assert_int_equal(st.root_cnt, 0);
	free(links);
	truth_free(&x);
}

/* Every tenth answer is stamped a little before the last call returns; all overlap. */
static void test_late(void **state)
{
	struct truth x = { .t = msgtrace__new() };
	struct rng r = { 31 };
	struct match_stats st;
	struct match_link *links;

	(void)state;
	for (int i = 0; i < 600; i++) {
		int64_t at = i * INT64_C(4000) * US + lognormal(&r, 500, 1);
		int64_t call = at + lognormal(&r, 200, 0.3);
		int64_t back = call + lognormal(&r, 3000, 0.5);
		int64_t end = rng_below(&r, 10) ? back + lognormal(&r, 150, 0.3) :
						  back - lognormal(&r, 20, 0.3);

		add(&x, "S", "D1", call, back, add(&x, "C", "S", at, end, 0));
	}
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	assert_true(accuracy(&x, links) > 0.98);
	assert_true(st.root_cnt < 3);
	free(links);
	truth_free(&x);
}

/* What a service does by itself, also when nothing is asked of it, is no request's. */
static void test_background(void **state)
{
	struct truth x = { .t = msgtrace__new() };
	struct rng r = { 32 };
	struct match_stats st;
	struct match_link *links;
	size_t wrong = 0;

	(void)state;
	for (int i = 0; i < 600; i++) {
		int64_t at = i * INT64_C(10000) * US;
		int64_t call = at + lognormal(&r, 200, 0.3);
		int64_t back = call + lognormal(&r, 2000, 0.3);
		uint32_t id = add(&x, "C", "S", at, back + 100 * US, 0);

		add(&x, "S", "D1", call, back, id);
		at += lognormal(&r, 4000, 1.0);
		add(&x, "S", "B", at, at + 30000 * US, 0);
	}
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	for (size_t i = 0; i < x.t->call_cnt; i++)
		wrong += x.t->calls[i].side == CALL_CLIENT &&
			 parent_id(&x, links, i) != x.parent[x.t->calls[i].id];
	assert_true(wrong < 12);
	free(links);
	truth_free(&x);
}

/* How much better than one that also calls D2 a request is that answers after D1, if so many did either; all
 * of it takes the same time. */
static double lead(const struct gap_kernels *kernels, double brief_cnt, double full_cnt)
{
	const struct match_out d1 = { .start = 10, .end = 20, .endpoint = 0 };
	const struct match_out d2 = { .start = 25, .end = 35, .endpoint = 1 };
	const struct match_out *kids[] = { &d1, &d2 };
	const struct match_request brief = { .end = 25 }, full = { .end = 40 };
	struct match_model m;
	double ll;

	match_model_init(&m, kernels, 1, 2);
	match_model_clear(&m);
	match_model_add(&m, &brief, kids, 1, brief_cnt);
	match_model_add(&m, &full, kids, 2, full_cnt);
	match_model_fit(&m);
	ll = match_model_score(&m, &brief, kids, 1) - match_model_score(&m, &full, kids, 2);
	match_model_free(&m);
	return ll;
}

/* What requests do next counts: once as the number of calls to D2, once as what comes after D1. */
static void test_next(void **state)
{
	struct gap_kernels *kernels = gap_kernels_new();
	double by_count = lead(kernels, 9000, 1000) - lead(kernels, 5000, 5000);

	(void)state;
	/* that much, but for what the mixture of triggers makes of it; either alone gives half */
	assert_true(fabs(by_count - 2 * log(9)) < 0.5);
	gap_kernels_free(kernels);
}

static void test_witness(void **state)
{
	struct truth x = { .t = msgtrace__new() };
	struct rng r = { 6 };
	struct match_stats st;
	struct match_link *links;

	(void)state;
	/* pairs of requests at the same instant: only the kernel can tell whose call is whose */
	for (int i = 0; i < 200; i++) {
		int64_t at = i * INT64_C(100000) * US;
		uint32_t swap = rng_below(&r, 2);

		for (uint32_t k = 0; k < 2; k++) {
			struct call c =
				call_init(node(x.t, "C"), node(x.t, "S"), at, at + 900 * US);
			struct call o = call_init(node(x.t, "S"), node(x.t, "D"), at + 100 * US,
						  at + 500 * US);
			struct witness wc = { .receiver_tid = 10 + k };
			struct witness wo = { .sender_tid = 10 + (k ^ swap) };

			c.id = (uint32_t)(4 * i) + k + 1;
			o.id = (uint32_t)(4 * i) + 2 + k + 1;
			c.side = CALL_SERVER;
			o.side = CALL_CLIENT;
			if (i % 2) {
				wo.cause_kind = CAUSE_CALL;
				wo.cause = (uint32_t)(4 * i) + (k ^ swap) + 1;
			}
			msgtrace__add_call(x.t, &c, &wc);
			msgtrace__add_call(x.t, &o, &wo);
			x.parent = xgrow(x.parent, &x.cap, 4 * 200 + 2, sizeof(*x.parent));
			x.parent[o.id] = (uint32_t)(4 * i) + (k ^ swap) + 1;
		}
	}
	msgtrace__sort_calls(x.t);
	links = match(&x, &st);
	assert_true(accuracy(&x, links) == 1);
	assert_int_equal(st.exact_cnt, 200);
	free(links);
	truth_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_time), cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_invariance),    cmocka_unit_test(test_far_request),
		cmocka_unit_test(test_queue),	      cmocka_unit_test(test_edges),
		cmocka_unit_test(test_witness),	      cmocka_unit_test(test_late),
		cmocka_unit_test(test_background),    cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
