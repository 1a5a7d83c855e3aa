/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees, patterns and delays against sums by hand and by slow code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/analysis/delaybins.h"
#include "user/analysis/pathcompare.h"
#include "user/analysis/pathreport.h"
#include "user/analysis/paths.h"
#include "user/analysis/pathsimilar.h"
#include "user/analysis/pathtruth.h"
#include "user/analysis/pathwindows.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

static uint32_t add(struct msgtrace *t, const char *from_to, int64_t start, int64_t end,
		    uint32_t parent)
{
	struct call c = call_init(msgtrace__node(t, from_to, 2), msgtrace__node(t, from_to + 3, 2),
				  start, end);

	c.parent = parent;
	msgtrace__add_call(t, &c, NULL);
	return (uint32_t)t->call_cnt - 1;
}

static void test_bins(void **state)
{
	struct delaybins b;

	(void)state;
	for (int paper = 0; paper < 2; paper++) {
		double first = paper ? 1e6 : 1e3;

		delaybins_init(&b, paper ? 1000000 : 1000, paper ? 340 : 480);
		for (int64_t v = 0; v < (int64_t)4e13; v = v * 21 / 20 + 1) {
			int want = (double)v < first ?
					   0 :
					   (int)floor(log((double)v / first) / log(1.05));

			want = want >= b.cnt ? b.cnt - 1 : want;
			assert_int_equal(delaybins_of(&b, v), want);
		}
		for (int i = 1; i < b.cnt; i++) {
			assert_int_equal(delaybins_of(&b, b.edges_ns[i]), i);
			assert_int_equal(delaybins_of(&b, b.edges_ns[i] - 1), i - 1);
		}
		assert_int_equal(delaybins_of(&b, INT64_MAX - 1), b.cnt - 1);
		assert_int_equal(delaybins_of(&b, -5), 0);
	}
}

/* W1 calls A1 for 20..40 and D1 twice beside each other, 50..80 and 60..90, of 10..100: own 90 - 20 - 40. */
static void test_delays(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct paths *p;
	struct path_pos *pos;
	struct buf name = { 0 };
	size_t cnt;

	(void)state;
	for (int64_t i = 0; i < 2; i++) {
		int64_t at = i * 1000;
		uint32_t root = add(t, "C0 W1", at + 10, at + 100 + i * 10, CALL_NONE);

		add(t, "W1 A1", at + 20, at + 40, root);
		add(t, "W1 D1", at + 50, at + 80, root);
		add(t, "W1 D1", at + 60, at + 90, root);
	}
	p = paths__new(t, 0);
	assert_int_equal(p->pattern_cnt, 1);
	assert_int_equal(p->patterns[0].cnt, 2);
	assert_int_equal(p->patterns[0].total_ns, 90 + 100);
	paths__name(p, &p->patterns[0], &name);
	assert_string_equal(buf_str(&name), "C0 > W1(A1 D1 D1)");
	pos = paths__stats(p, &p->patterns[0], INT64_MIN, INT64_MAX, &cnt);
	assert_int_equal(cnt, 4);
	assert_true(pos[0].latency.mean_ns == 95);
	assert_true(pos[0].own.mean_ns == 35);
	assert_true(pos[2].delay.mean_ns == 40);
	assert_true(pos[3].delay.mean_ns == 50);
	assert_true(fabs(delay_stats_sd_ns(&pos[0].latency) - 7.0710678) < 1e-6);
	assert_int_equal(pos[0].latency.min_ns, 90);
	assert_int_equal(pos[0].latency.max_ns, 100);
	assert_int_equal(pathreport_slowest(pos, cnt), 0);
	free(pos);
	pos = paths__stats(p, &p->patterns[0], 1000, INT64_MAX, &cnt);
	assert_int_equal(pos[0].latency.cnt, 1);
	free(pos);
	buf_free(&name);
	paths__free(p);
	msgtrace__free(t);
}

/* Siblings that overlap come in any order: one pattern when asked; those after each other stay two. */
static void test_unordered(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct paths *p;

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 1000, apart = i < 2 ? 0 : 100;
		uint32_t root = add(t, "C0 W1", at, at + 500, CALL_NONE);

		add(t, i % 2 ? "W1 A1" : "W1 B1", at + 10, at + 50, root);
		add(t, i % 2 ? "W1 B1" : "W1 A1", at + 20 + apart, at + 60 + apart, root);
	}
	p = paths__new(t, 0);
	assert_int_equal(p->pattern_cnt, 2);
	paths__free(p);
	p = paths__new(t, PATHS_UNORDERED);
	assert_int_equal(p->pattern_cnt,
			 2); /* overlapping ones and the first of those apart agree */
	assert_int_equal(p->patterns[0].cnt, 3);
	paths__free(p);
	msgtrace__free(t);
}

/* Random forests: each call is in one instance, preorder has parents before children. */
static void test_every_call_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct msgtrace *t = msgtrace__new();
		struct prng r;
		struct paths *p;
		uint32_t *calls, *seen;
		size_t sum = 0;

		prng_init(&r, seed, 0);
		for (uint32_t i = 0; i < 500; i++) {
			char edge[] = "N0 N0";

			edge[1] = (char)('0' + prng_below(&r, 3));
			edge[4] = (char)('0' + prng_below(&r, 3));
			add(t, edge, i, i + 10,
			    i && prng_below(&r, 4) ? (uint32_t)prng_below(&r, i) : CALL_NONE);
		}
		p = paths__new(t, seed % 2 ? PATHS_UNORDERED : 0);
		calls = xcalloc(501, sizeof(*calls));
		seen = xcalloc(501, sizeof(*seen));
		for (size_t i = 0; i < p->root_cnt; i++) {
			size_t cnt = paths__instance(p, p->roots[i], calls, 501);

			sum += cnt;
			for (size_t k = 0; k < cnt; k++) {
				assert_int_equal(seen[calls[k]]++, 0);
				assert_true(!k || seen[t->calls[calls[k]].parent]);
			}
		}
		assert_int_equal(sum, t->call_cnt);
		free(calls);
		free(seen);
		paths__free(p);
		msgtrace__free(t);
	}
}

static struct msgtrace *two_servers(int64_t extra, uint32_t cnt)
{
	struct msgtrace *t = msgtrace__new();
	struct prng r;

	prng_init(&r, 5, (uint64_t)extra);
	for (uint32_t i = 0; i < cnt; i++) {
		int64_t at = (int64_t)i * 1000000, more = i % 2 ? extra : 0;
		uint32_t root =
			add(t, i % 2 ? "C0 W1" : "C0 W2", at, at + 100000 + more, CALL_NONE);
		int64_t call = at + 20000 + more + prng_between(&r, -500, 500);

		add(t, i % 2 ? "W1 D1" : "W2 D1", call, call + 50000, root);
	}
	return t;
}

static void test_compare_and_similar(void **state)
{
	struct msgtrace *a = two_servers(0, 400), *b = two_servers(7000, 400);
	struct paths *pa = paths__new(a, 0), *pb = paths__new(b, 0);
	struct pathcompare c;
	struct pathsimilar s;

	(void)state;
	pathcompare(pa, pb, 10, &c);
	assert_int_equal(c.both_cnt, 2);
	assert_true(fabs(c.rows[0].mean_b_ns - c.rows[0].mean_a_ns - 7000) < 200);
	for (size_t i = 0; i < c.row_cnt; i++) {
		double change = c.rows[i].mean_b_ns - c.rows[i].mean_a_ns;

		/* only the pattern of W1 changed, and there W1's own delay and the delay to its call */
		assert_true(fabs(change) < 4 * c.rows[i].error_ns + 1 || c.rows[i].effect_ns > 1e6);
	}
	pathcompare_free(&c);
	pathsimilar_find(pa, &s);
	assert_int_equal(s.group_cnt, 1);
	assert_int_equal(s.groups[0].cnt, 2);
	assert_string_equal(strtab_get(&s.names, s.groups[0].name_sid), "C0 > W*(D1)");
	pathsimilar_free(&s);
	paths__free(pa);
	paths__free(pb);
	msgtrace__free(a);
	msgtrace__free(b);
}

static void test_windows(void **state)
{
	struct msgtrace *t = two_servers(0, 100);
	struct paths *p = paths__new(t, 0);
	struct pathwindow_entry *e;
	size_t cnt;
	int64_t start;
	uint64_t sum = 0;

	(void)state;
	e = pathwindows_count(p, 10000000, &cnt, &start);
	assert_int_equal(cnt, 20); /* ten windows, two patterns each */
	for (size_t i = 0; i < cnt; i++) {
		sum += e[i].cnt;
		assert_int_equal(e[i].cnt, 5);
		assert_int_equal(e[i].window, i / 2);
		assert_true(fabs(pathwindow_burst(p, &e[i], 10) - 1) < 1e-9);
	}
	assert_int_equal(sum, 100);
	free(e);
	paths__free(p);
	msgtrace__free(t);
}

/* Two true patterns of 3 and 2; one instance of the second has lost its child. */
static void test_judge(void **state)
{
	struct msgtrace *truth = msgtrace__new(), *got = msgtrace__new();
	uint32_t same[16];
	struct pathtruth r;
	struct paths *pt, *pg;

	(void)state;
	for (int64_t i = 0; i < 5; i++) {
		uint32_t root = add(truth, "C0 W1", i * 100, i * 100 + 90, CALL_NONE);

		add(truth, i < 3 ? "W1 A1" : "W1 B1", i * 100 + 10, i * 100 + 20, root);
		root = add(got, "C0 W1", i * 100, i * 100 + 90, CALL_NONE);
		add(got, i < 3 ? "W1 A1" : "W1 B1", i * 100 + 10, i * 100 + 20,
		    i == 4 ? CALL_NONE : root);
	}
	for (uint32_t i = 0; i < 10; i++)
		same[i] = i;
	pt = paths__new(truth, 0);
	pg = paths__new(got, 0);
	pathtruth_judge(pg, pt, same, &r);
	assert_int_equal(r.patterns.true_cnt, 2);
	assert_int_equal(r.patterns.inferred_cnt, 4);
	assert_int_equal(r.patterns.right_cnt, 2);
	assert_int_equal(r.instances.true_cnt, 5);
	assert_int_equal(r.instances.right_cnt, 4);
	assert_int_equal(r.links.true_cnt, 5);
	assert_int_equal(r.links.inferred_cnt, 4);
	assert_int_equal(r.links.right_cnt, 4);
	assert_true(r.miss[0][0] == 0);
	assert_true(r.miss[1][0] == 0); /* a count of 1 ties with the second place */
	assert_int_equal(r.false_rank_cnt, 2);
	paths__free(pt);
	paths__free(pg);
	msgtrace__free(truth);
	msgtrace__free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_unordered),
		cmocka_unit_test(test_every_call_once),
		cmocka_unit_test(test_compare_and_similar),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
