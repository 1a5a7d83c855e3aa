/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Convolution on traces whose paths and delays are known (specs C.3). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/convolution.h"
#include "user/base/mem.h"

#define MS INT64_C(1000000)

static uint32_t node(struct msgtrace *t, const char *name)
{
	return msgtrace__node(t, name, strlen(name));
}

static void say(struct msgtrace *t, int64_t at_ns, const char *from, const char *to)
{
	struct msg m = {
		.time_ns = at_ns, .sender = node(t, from), .receiver = node(t, to), .op = MSG_ONEWAY
	};

	msgtrace__add_msg(t, &m, NULL);
}

/* Messages at random times over an edge. */
static void noise(struct msgtrace *t, struct rng *r, const char *from, const char *to, int cnt,
		  int64_t span_ns)
{
	for (int i = 0; i < cnt; i++)
		say(t, (int64_t)(rng_unit(r) * (double)span_ns), from, to);
}

static struct conv_result run(struct msgtrace *t, const struct conv_opts *o)
{
	struct conv_result r;
	struct err err = { 0 };

	msgtrace__sort_msgs(t);
	assert_int_equal(conv_run(t, o, &r, &err), 0);
	return r;
}

/* The path with exactly these nodes, or NULL. */
static const struct conv_path *find(const struct msgtrace *t, const struct conv_result *r,
				    const char *nodes)
{
	for (size_t i = 0; i < r->cnt; i++) {
		char name[512] = "";

		for (uint32_t k = 0; k <= r->paths[i].hops_cnt; k++) {
			strcat(name, k ? " " : "");
			strcat(name, msgtrace__node_name(t, r->paths[i].nodes[k]));
		}
		if (!strcmp(name, nodes))
			return &r->paths[i];
	}
	return NULL;
}

/* A > B > C with a delay at B, in noise. */
static struct msgtrace *relay(uint64_t seed, int cnt, int noise_cnt, int64_t delay_ns,
			      int64_t jitter_ns)
{
	struct msgtrace *t = msgtrace__new();
	struct rng r = { seed };
	int64_t span_ns = (int64_t)cnt * 200 * MS;

	for (int i = 0; i < cnt; i++) {
		int64_t at = (int64_t)(rng_unit(&r) * (double)span_ns);

		say(t, at, "A", "B");
		say(t, at + delay_ns + (int64_t)(rng_gauss(&r) * (double)jitter_ns), "B", "C");
	}
	noise(t, &r, "B", "C", noise_cnt, span_ns);
	return t;
}

static void test_relay(void **state)
{
	struct msgtrace *t = relay(1, 2000, 600, 73 * MS, MS); /* 30 % noise */
	struct conv_result r = run(t, &(struct conv_opts){ .quantum_ns = 10 * MS });
	const struct conv_path *p = find(t, &r, "A B C");

	(void)state;
	assert_int_equal(r.cnt, 1); /* exactly one spike */
	assert_non_null(p);
	assert_true(llabs(p->delay_ns[0] - 73 * MS) < MS / 2); /* far finer than the quantum */
	assert_true(llabs(p->deviation_ns[0] - MS) < MS / 2);
	assert_true(p->messages > 1900 && p->messages < 2100);
	conv_free(&r);
	msgtrace__free(t);
}

/* Moving what leaves by k quanta moves the spike by k quanta. */
static void test_shift(void **state)
{
	(void)state;
	for (int64_t k = 0; k < 20; k += 3) {
		struct msgtrace *t = relay(2, 1000, 300, 40 * MS + k * 10 * MS, 0);
		struct conv_result r = run(t, &(struct conv_opts){ .quantum_ns = 10 * MS });
		const struct conv_path *p = find(t, &r, "A B C");

		assert_non_null(p);
		assert_true(llabs(p->delay_ns[0] - 40 * MS - k * 10 * MS) < MS / 5);
		conv_free(&r);
		msgtrace__free(t);
	}
}

static void test_noise_has_no_path(void **state)
{
	int silent = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct msgtrace *t = msgtrace__new();
		struct rng r = { seed };
		struct conv_result res;
		bool quiet = true;

		noise(t, &r, "A", "B", 1500, 100000 * MS);
		noise(t, &r, "B", "C", 1500, 100000 * MS);
		noise(t, &r, "B", "D", 500, 100000 * MS);
		noise(t, &r, "C", "D", 1500, 100000 * MS);
		res = run(t, &(struct conv_opts){ .quantum_ns = 5 * MS });
		for (size_t i = 0; i < res.cnt; i++)
			quiet &= res.paths[i].hops_cnt == 1;
		silent += quiet;
		conv_free(&res);
		msgtrace__free(t);
	}
	assert_true(silent >= 95);
}

static void test_two_delays(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct conv_result r;
	struct rng g = { 3 };
	bool near = false, far = false;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		int64_t at = (int64_t)(rng_unit(&g) * 500000 * (double)MS);

		say(t, at, "A", "B");
		say(t, at + (i % 4 ? 0 : 500 * MS) + 20 * MS, "B", "C");
	}
	r = run(t, &(struct conv_opts){ .quantum_ns = 20 * MS });
	for (size_t i = 0; i < r.cnt; i++) {
		near |= r.paths[i].messages > 1400 &&
			llabs(r.paths[i].delay_ns[0] - 20 * MS) < 2 * MS;
		far |= llabs((long long)r.paths[i].messages - 500) < 60 &&
		       llabs(r.paths[i].delay_ns[0] - 520 * MS) < 2 * MS;
	}
	assert_true(near && far);
	conv_free(&r);
	msgtrace__free(t);
}

static void test_negative_delay(void **state)
{
	struct msgtrace *t = relay(4, 1000, 100, -30 * MS, 0);
	struct conv_result r = run(t, &(struct conv_opts){ .quantum_ns = 5 * MS });
	const struct conv_path *p;

	(void)state;
	assert_null(find(t, &r, "A B C"));
	conv_free(&r);
	r = run(t, &(struct conv_opts){ .quantum_ns = 5 * MS, .skew_ns = 50 * MS });
	p = find(t, &r, "A B C");
	assert_non_null(p);
	assert_true(llabs(p->delay_ns[0] + 30 * MS) < MS);
	conv_free(&r);
	msgtrace__free(t);
}

/* A call and its nested call: the reply's short cut is an echo of the whole. */
static struct msgtrace *calls(uint64_t seed)
{
	struct msgtrace *t = msgtrace__new();
	struct rng g = { seed };

	for (int i = 0; i < 1500; i++) {
		int64_t at = (int64_t)(rng_unit(&g) * 300000 * (double)MS);

		say(t, at, "A", "B");
		say(t, at + 20 * MS, "B", "C");
		say(t, at + 50 * MS, "C", "B");
		say(t, at + 90 * MS, "B", "A");
	}
	return t;
}

static void test_echo(void **state)
{
	struct msgtrace *t = calls(5);
	uint32_t root = node(t, "A");
	struct conv_opts o = { .quantum_ns = 5 * MS, .roots = &root, .roots_cnt = 1 };
	struct conv_result r = run(t, &o);

	(void)state;
	assert_non_null(find(t, &r, "A B C B A"));
	assert_non_null(find(t, &r, "A B A"));
	conv_free(&r);
	o.no_echo = true;
	r = run(t, &o);
	assert_non_null(find(t, &r, "A B C B A"));
	assert_null(find(t, &r, "A B A"));
	assert_true(r.stats.echo_cnt > 0);
	conv_free(&r);
	msgtrace__free(t);
}

static void test_anchor_root(void **state)
{
	struct msgtrace *t = calls(6);
	uint32_t root = node(t, "A");
	struct conv_result r = run(t, &(struct conv_opts){ .quantum_ns = 5 * MS,
							   .roots = &root,
							   .roots_cnt = 1,
							   .anchor_root = true });
	const struct conv_path *p = find(t, &r, "A B C B A");

	(void)state;
	assert_non_null(p);
	assert_true(llabs(p->delay_ns[0] - 20 * MS) < MS);
	assert_true(llabs(p->delay_ns[1] - 30 * MS) < MS);
	assert_true(llabs(p->delay_ns[2] - 40 * MS) < MS);
	conv_free(&r);
	msgtrace__free(t);
}

/* Both engines, the order of input and the names of nodes make no difference. */
static void test_invariance(void **state)
{
	struct msgtrace *t = relay(7, 1000, 300, 60 * MS, 2 * MS), *back = msgtrace__new();
	struct conv_opts o = { .quantum_ns = 10 * MS, .engine = XCORR_DIRECT };
	struct conv_result a = run(t, &o), b;

	(void)state;
	o.engine = XCORR_FFT;
	b = run(t, &o);
	assert_int_equal(a.cnt, b.cnt);
	for (size_t i = 0; i < a.cnt; i++)
		assert_true(a.paths[i].messages == b.paths[i].messages &&
			    a.paths[i].delay_ns[0] == b.paths[i].delay_ns[0]);
	conv_free(&b);
	for (size_t i = t->msg_cnt; i-- > 0;) {
		const struct msg *m = msgtrace__msg(t, i);
		char from[16], to[16];

		snprintf(from, sizeof(from), "x%s", msgtrace__node_name(t, m->sender));
		snprintf(to, sizeof(to), "x%s", msgtrace__node_name(t, m->receiver));
		say(back, m->time_ns + 12345 * 10 * MS, from, to);
	}
	b = run(back, &o);
	assert_int_equal(a.cnt, b.cnt);
	assert_non_null(find(back, &b, "xA xB xC"));
	assert_true(a.paths[0].messages == b.paths[0].messages &&
		    a.paths[0].delay_ns[0] == b.paths[0].delay_ns[0]);
	conv_free(&a);
	conv_free(&b);
	msgtrace__free(t);
	msgtrace__free(back);
}

static void test_refusals(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct conv_result r;
	struct err err = { 0 };

	(void)state;
	r = run(t, &(struct conv_opts){ 0 }); /* an empty trace has no paths */
	assert_int_equal(r.cnt, 0);
	conv_free(&r);
	assert_true(conv_run(t, &(struct conv_opts){ .quantum_ns = 10, .max_lag_ns = 5 }, &r,
			     &err) < 0);
	assert_non_null(strstr(err.msg, "--quantum"));
	err = (struct err){ 0 };
	assert_true(conv_run(t, &(struct conv_opts){ .quantum_ns = 1, .max_lag_ns = 1000 * MS }, &r,
			     &err) < 0);
	msgtrace__free(t);
}

/* A long trace is searched in pieces: a delay that holds throughout is one path with all messages (less the
 * estimate of what is chance), one that changes half-way is two. */
static void test_pieces(void **state)
{
	const int cnt = 300000; /* 600,000 messages: over two pieces */
	const struct conv_opts o = { .quantum_ns = 10 * MS };
	struct msgtrace *t = msgtrace__new();
	struct rng r = { 12 };
	struct conv_result found;
	uint64_t half[2] = { 0 };

	(void)state;
	for (int i = 0; i < cnt; i++) {
		int64_t at = i * 200 * MS + (int64_t)(rng_unit(&r) * 200 * (double)MS);

		say(t, at, "A", "B");
		say(t, at + 73 * MS, "B", "C");
		say(t, at, "A", "D");
		say(t, at + (i < cnt / 2 ? 31 : 92) * MS, "D", "E");
	}
	found = run(t, &o);
	assert_int_equal(found.cnt, 3);
	assert_non_null(find(t, &found, "A B C"));
	for (size_t i = 0; i < found.cnt; i++) {
		const struct conv_path *p = &found.paths[i];
		bool steady = p->nodes[1] == node(t, "B");
		int64_t expect = steady ? 73 * MS : p->delay_ns[0] < 60 * MS ? 31 * MS : 92 * MS;

		assert_true(llabs(p->delay_ns[0] - expect) < MS / 10);
		if (steady)
			assert_true(llabs((int64_t)p->messages - cnt) < cnt / 80);
		else
			half[expect == 92 * MS] += p->messages;
	}
	assert_true(llabs((int64_t)half[0] - cnt / 2) < cnt / 80);
	assert_true(llabs((int64_t)half[1] - cnt / 2) < cnt / 80);
	conv_free(&found);
	msgtrace__free(t);
}

/* Through the transform time grows as S log S: r^2 of the fit over four lengths. */
static double seconds(size_t quanta)
{
	int64_t *at = xcalloc(quanta / 4, sizeof(*at));
	struct signal a;
	struct timespec t0, t1;
	double c[500], best = 1e9;

	for (size_t i = 0; i < quanta / 4; i++)
		at[i] = (int64_t)i * 4;
	a = signal_make(at, quanta / 4, 0, 1);
	for (int round = 0; round < 5; round++) {
		double s;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
		xcorr(&a, &a, 1, 0, 500, XCORR_FFT, c);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
		s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
		best = s < best ? s : best;
	}
	signal_free(&a);
	free(at);
	return best;
}

static void test_growth(void **state)
{
	double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, n = 0, r2;

	(void)state;
	for (size_t quanta = 1 << 17; quanta <= 1 << 23; quanta *= 4, n++) {
		double x = (double)quanta * log((double)quanta), y = seconds(quanta);

		sx += x;
		sy += y;
		sxx += x * x;
		syy += y * y;
		sxy += x * y;
	}
	r2 = pow(n * sxy - sx * sy, 2) / ((n * sxx - sx * sx) * (n * syy - sy * sy));
	assert_true(r2 > 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_noise_has_no_path),
		cmocka_unit_test(test_two_delays),
		cmocka_unit_test(test_negative_delay),
		cmocka_unit_test(test_echo),
		cmocka_unit_test(test_anchor_root),
		cmocka_unit_test(test_invariance),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
