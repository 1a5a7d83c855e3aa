/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nesting algorithm against a slow one that was written from its definition alone (specs B.2), and its
 * properties (specs B.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/analysis/callpairs.h"
#include "user/analysis/nesting.h"
#include "user/analysis/paths.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

/* ---- the slow one: candidates, scores and choices by definition, every pair looked at ---- */

static int slow_bin(const struct nesting_opts *o, int64_t delay_ns)
{
	double first = o->paper_bins ? 1e6 : 1e3;
	int last = (o->paper_bins ? 340 : 480) - 1, bin;
	double positive = fabs((double)delay_ns);

	bin = positive < first ? 0 : (int)floor(log(positive / first) / log(1.05));
	bin = bin > last ? last : bin;
	return delay_ns < 0 ? -1 - bin : bin;
}

/* The middle of a bin in whole nanoseconds, as the bins' edges are. */
static double slow_mid(const struct nesting_opts *o, int bin)
{
	int positive = bin < 0 ? -1 - bin : bin, last = (o->paper_bins ? 340 : 480) - 1;
	double first = o->paper_bins ? 1e6 : 1e3;
	double low = ceil(first * pow(1.05, positive)),
	       high = ceil(first * pow(1.05, positive + 1));
	double mid = positive == last ? low : low + floor((high - low) / 2);

	return bin < 0 ? -mid : mid;
}

static int slow_is_candidate(const struct nesting_opts *o, const struct call *calls, size_t parent,
			     size_t child)
{
	const struct call *p = &calls[parent], *c = &calls[child];

	if (parent == child || p->callee != c->caller)
		return 0;
	if (p->server_end_ns < c->client_end_ns - o->window_ns)
		return 0;
	if (o->window_ns)
		return p->server_start_ns <= c->client_start_ns + o->window_ns;
	return p->server_start_ns < c->client_start_ns ||
	       (p->server_start_ns == c->client_start_ns && parent < child);
}

/* Smoothed mass of scoreboard (A, B, C) at the delay from parent to child. */
static double slow_score(const struct nesting_opts *o, const struct call *calls, size_t cnt,
			 const int *candidate_cnt, size_t parent, size_t child)
{
	int bin = slow_bin(o, calls[child].client_start_ns - calls[parent].server_start_ns);
	double sum = 0;

	for (size_t c = 0; c < cnt; c++)
		for (size_t p = 0; p < cnt; p++) {
			double sigma = o->smooth_bins;
			int other, away;

			if (calls[p].caller != calls[parent].caller ||
			    calls[p].callee != calls[parent].callee ||
			    calls[c].callee != calls[child].callee ||
			    !slow_is_candidate(o, calls, p, c))
				continue;
			other = slow_bin(o, calls[c].client_start_ns - calls[p].server_start_ns);
			away = bin - other;
			if (sigma <= 0) {
				sum += away ? 0 : 1.0 / candidate_cnt[c];
				continue;
			}
			if (o->window_ns) {
				double from = slow_mid(o, other), to = slow_mid(o, bin);
				double wide = sigma * log(1.05) * fabs(from);

				wide = wide < (double)o->window_ns / 2 ? (double)o->window_ns / 2 :
									 wide;
				if (fabs(to - from) <= 4 * wide)
					sum += exp(-(to - from) * (to - from) / (2 * wide * wide)) /
					       candidate_cnt[c];
				continue;
			}
			if (fabs(away / sigma) <= 4)
				sum += exp(-(double)away * away / (2 * sigma * sigma)) /
				       (sigma * sqrt(2 * M_PI)) / candidate_cnt[c];
		}
	return sum;
}

static double slow_penalty(const struct nesting_opts *o, const struct call *calls, size_t cnt,
			   const uint32_t *parents, size_t parent, size_t child)
{
	double overlaps = 0, same = 0, all = 0;

	for (size_t k = 0; k < cnt; k++) {
		int64_t start, end;

		if (parents[k] != parent)
			continue;
		start = calls[k].client_start_ns > calls[child].client_start_ns ?
				calls[k].client_start_ns :
				calls[child].client_start_ns;
		end = calls[k].client_end_ns < calls[child].client_end_ns ?
			      calls[k].client_end_ns :
			      calls[child].client_end_ns;
		overlaps += start < end;
		same += calls[k].callee == calls[child].callee;
		all++;
	}
	return pow(1 + overlaps, -o->overlap_power) * pow(1 + same, -o->same_power) *
	       pow(1 + all, -o->child_power);
}

static int slow_is_below(const uint32_t *parents, size_t call, size_t above)
{
	while (call != CALL_NONE && call != above)
		call = parents[call];
	return call == above;
}

static void slow_choose(const struct nesting_opts *o, const struct call *calls, size_t cnt,
			const int *candidate_cnt, uint32_t *parents, size_t child)
{
	double best = -1;

	/* candidates in order of their starts */
	for (size_t p = 0; p < cnt; p++) {
		double score;

		if (!slow_is_candidate(o, calls, p, child) || slow_is_below(parents, p, child))
			continue;
		score = slow_score(o, calls, cnt, candidate_cnt, p, child) *
			slow_penalty(o, calls, cnt, parents, p, child);
		if (best < 0 || score > best * (1 + 1e-9)) {
			best = score;
			parents[child] = (uint32_t)p;
		}
	}
}

static void slow_nesting(const struct nesting_opts *o, const struct call *calls, size_t cnt,
			 uint32_t *parents)
{
	int *candidate_cnt = xcalloc(cnt + 1, sizeof(int));
	int *done = xcalloc(cnt + 1, sizeof(int));

	for (size_t c = 0; c < cnt; c++) {
		parents[c] = CALL_NONE;
		for (size_t p = 0; p < cnt; p++)
			candidate_cnt[c] += slow_is_candidate(o, calls, p, c);
	}
	/* nodes are decided one after the other, in the order of their numbers */
	for (uint32_t node = 1; node < 10; node++)
		for (size_t turn = 0; turn < cnt; turn++) {
			size_t next = cnt;

			for (size_t c = 0; c < cnt; c++) {
				if (done[c] || calls[c].caller != node)
					continue;
				if (next == cnt ||
				    (o->return_order &&
				     calls[c].client_end_ns <= calls[next].client_end_ns))
					next = c;
			}
			if (next == cnt)
				break;
			done[next] = 1;
			slow_choose(o, calls, cnt, candidate_cnt, parents, next);
		}
	free(candidate_cnt);
	free(done);
}

/* ---- traces ---- */

/* Calls at random times among four nodes; coarse clocks make equal stamps. */
static struct msgtrace *random_calls(struct prng *r, size_t cnt, int64_t tick_ns, int64_t ticks)
{
	struct msgtrace *t = msgtrace__new();
	static const char names[] = "ABCD";

	for (int i = 0; i < 4; i++)
		msgtrace__node(t, &names[i], 1);
	for (size_t i = 0; i < cnt; i++) {
		int64_t start = prng_between(r, 0, ticks) * tick_ns;
		int64_t end = start + prng_between(r, 0, ticks / 3) * tick_ns;
		struct call c = call_init((uint32_t)prng_between(r, 1, 4),
					  (uint32_t)prng_between(r, 1, 4), start, end);

		msgtrace__add_call(t, &c, NULL);
	}
	msgtrace__sort_calls(t);
	return t;
}

static void check_against_slow(struct msgtrace *t, const struct nesting_opts *o, uint64_t seed)
{
	uint32_t *want = xcalloc(t->call_cnt + 1, sizeof(*want));
	struct nesting_stats stats;

	slow_nesting(o, t->calls, t->call_cnt, want);
	nesting_infer(t, o, &stats);
	for (size_t i = 0; i < t->call_cnt; i++)
		if (t->calls[i].parent != want[i])
			fail_msg("seed %llu: call %zu: parent %d, by definition %d",
				 (unsigned long long)seed, i, (int)t->calls[i].parent,
				 (int)want[i]);
	assert_true(fabs(stats.score_mass - (double)stats.child_cnt) < 1e-6);
	free(want);
}

static void test_by_definition(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct nesting_opts o = seed % 2 ? nesting_opts_default() : nesting_opts_paper();
		struct prng r;
		struct msgtrace *t;

		prng_init(&r, seed, 0);
		t = random_calls(&r, (size_t)prng_between(&r, 0, seed % 3 ? 8 : 90),
				 seed % 3 == 1 ? 100 : 1234567, seed % 4 > 1 ? 1000 : 12);
		if (seed % 5 < 2)
			o.window_ns = prng_between(&r, 1, 100000000);
		if (seed % 7 == 0)
			o.child_power = 1;
		if (seed % 11 == 0)
			o.smooth_bins = 2;
		o.paper_bins = seed % 4 == 1;
		check_against_slow(t, &o, seed);
		msgtrace__free(t);
	}
}

/* Every parent contains its child within the window; no cycle; at most one parent by construction. */
static void test_forest(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct nesting_opts o = nesting_opts_default();
		struct nesting_stats stats;
		struct msgtrace *t;
		struct prng r;

		prng_init(&r, seed, 1);
		o.window_ns = seed % 2 ? 50000000 : 0;
		t = random_calls(&r, 300, 1000000, 1000);
		nesting_infer(t, &o, &stats);
		for (size_t i = 0; i < t->call_cnt; i++) {
			uint32_t up = (uint32_t)i;
			size_t steps = 0;

			if (t->calls[i].parent != CALL_NONE)
				assert_true(slow_is_candidate(&o, t->calls, t->calls[i].parent, i));
			while (up != CALL_NONE && steps++ <= t->call_cnt)
				up = t->calls[up].parent;
			assert_true(steps <= t->call_cnt);
		}
		msgtrace__free(t);
	}
}

/* One request after the other: nothing to guess, all right. */
static void test_sequential_is_exact(void **state)
{
	struct nesting_opts o = nesting_opts_default();
	struct nesting_stats stats;
	struct msgtrace *t = msgtrace__new();
	struct paths *p;
	uint32_t n[5];
	int64_t at = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		n[i] = msgtrace__node(t, &"ABCDE"[i], 1);
	for (int i = 0; i < 100; i++, at += 1000) {
		struct call root = call_init(n[0], n[1], at, at + 900);
		struct call left = call_init(n[1], n[2], at + 100 + i, at + 300);
		struct call below = call_init(n[2], n[3], at + 210, at + 220);
		struct call right = call_init(n[1], n[4], at + 400, at + 600 + i);

		msgtrace__add_call(t, &root, NULL);
		msgtrace__add_call(t, &left, NULL);
		msgtrace__add_call(t, &below, NULL);
		msgtrace__add_call(t, &right, NULL);
	}
	nesting_infer(t, &o, &stats);
	assert_int_equal(stats.ambiguous_cnt, 0);
	p = paths__new(t, 0);
	assert_int_equal(p->pattern_cnt, 1);
	assert_int_equal(p->patterns[0].cnt, 100);
	paths__free(p);
	msgtrace__free(t);
}

static void names_of(const struct msgtrace *t, struct buf *out)
{
	struct paths *p = paths__new(t, 0);

	for (size_t i = 0; i < p->pattern_cnt; i++) {
		paths__name(p, &p->patterns[i], out);
		buf_printf(out, " %u\n", p->patterns[i].cnt);
	}
	paths__free(p);
}

/* Shifting all times changes nothing; renaming nodes renames patterns. */
static void test_shift_and_rename(void **state)
{
	struct nesting_opts o = nesting_opts_default();
	struct nesting_stats stats;
	struct buf before = { 0 }, after = { 0 };
	struct msgtrace *t, *moved = msgtrace__new();
	struct prng r;

	(void)state;
	prng_init(&r, 99, 0);
	t = random_calls(&r, 400, 1000000, 1000);
	/* the same names, interned in another order, so that nodes have other numbers */
	for (int i = 3; i >= 0; i--)
		msgtrace__node(moved, &"ABCD"[i], 1);
	for (size_t i = 0; i < t->call_cnt; i++) {
		const struct call *c = &t->calls[i];
		struct call m =
			call_init(5 - c->caller, 5 - c->callee, c->client_start_ns + 987654321,
				  c->client_end_ns + 987654321);

		msgtrace__add_call(moved, &m, NULL);
	}
	nesting_infer(t, &o, &stats);
	nesting_infer(moved, &o, &stats);
	names_of(t, &before);
	names_of(moved, &after);
	assert_string_equal(buf_str(&before), buf_str(&after));
	buf_free(&before);
	buf_free(&after);
	msgtrace__free(t);
	msgtrace__free(moved);
}

/* Two systems that have nothing to do with each other: whose calls come first at equal stamps changes nothing. */
static void test_independent_order(void **state)
{
	struct nesting_opts o = nesting_opts_default();
	struct nesting_stats stats;
	struct buf names[2] = { { 0 }, { 0 } };

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct msgtrace *both = msgtrace__new(), *parts[2];
		struct prng r;

		for (int i = 0; i < 8; i++)
			msgtrace__node(both, &"ABCDEFGH"[i], 1);
		for (int i = 0; i < 2; i++) {
			prng_init(&r, 77, (uint64_t)i);
			parts[i] = random_calls(&r, 200, 1000000, 60);
		}
		for (int i = 0; i < 2; i++) {
			const struct msgtrace *part = parts[i ^ swap];
			uint32_t add = (i ^ swap) ? 4 : 0;

			for (size_t k = 0; k < part->call_cnt; k++) {
				struct call c = part->calls[k];

				c.caller += add;
				c.callee += add;
				msgtrace__add_call(both, &c, NULL);
			}
		}
		msgtrace__sort_calls(both);
		nesting_infer(both, &o, &stats);
		names_of(both, &names[swap]);
		msgtrace__free(both);
		msgtrace__free(parts[0]);
		msgtrace__free(parts[1]);
	}
	assert_int_equal(names[0].len_bytes, names[1].len_bytes);
	/* the lines may change places: ties of counts are ordered by first instance */
	for (const char *line = buf_str(&names[0]); *line; line = strchr(line, '\n') + 1) {
		char *one = strndup(line, (size_t)(strchr(line, '\n') - line));

		assert_non_null(strstr(buf_str(&names[1]), one));
		free(one);
	}
	buf_free(&names[0]);
	buf_free(&names[1]);
}

/* A long root with very many children takes no quadratic time: this would not end within the test's patience. */
static void test_wide_root(void **state)
{
	struct nesting_opts o = nesting_opts_default();
	struct nesting_stats stats;
	struct msgtrace *t = msgtrace__new();
	uint32_t a = msgtrace__node(t, "A", 1), b = msgtrace__node(t, "B", 1);
	int64_t cnt = 200000;
	struct call root = call_init(a, b, 0, cnt * 10 + 10);

	(void)state;
	msgtrace__add_call(t, &root, NULL);
	for (int64_t i = 1; i <= cnt; i++) {
		struct call c = call_init(b, a, i * 10, i * 10 + 100000);

		c.client_end_ns = c.server_end_ns =
			c.client_end_ns > cnt * 10 ? cnt * 10 : c.client_end_ns;
		msgtrace__add_call(t, &c, NULL);
	}
	nesting_infer(t, &o, &stats);
	for (size_t i = 1; i < t->call_cnt; i++)
		assert_int_equal(t->calls[i].parent, 0);
	msgtrace__free(t);
}

/* A trace without calls, and one whose only call is to itself. */
static void test_edges(void **state)
{
	struct nesting_opts o = nesting_opts_default();
	struct nesting_stats stats;
	struct msgtrace *t = msgtrace__new();
	uint32_t a = msgtrace__node(t, "A", 1);
	struct call self = call_init(a, a, 5, 9);

	(void)state;
	nesting_infer(t, &o, &stats);
	assert_int_equal(stats.child_cnt, 0);
	msgtrace__add_call(t, &self, NULL);
	nesting_infer(t, &o, &stats);
	assert_int_equal(t->calls[0].parent, CALL_NONE);
	assert_int_equal(stats.outlive_cnt, 0);
	msgtrace__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_definition),	    cmocka_unit_test(test_forest),
		cmocka_unit_test(test_sequential_is_exact), cmocka_unit_test(test_shift_and_rename),
		cmocka_unit_test(test_wide_root),	    cmocka_unit_test(test_edges),
		cmocka_unit_test(test_independent_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
