/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences with a known truth: synthetic runs of a small program whose noise is larger than counting would
 * give, common to all frames of a run in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/diff.h"
#include "user/analysis/diff_report.h"
#include "user/analysis/stats.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

enum {
	FUNCTIONS = 120, /* f1 .. f120; the parent of fI is f(I / 3), f0 is main */
	CHANGED = 40,	 /* main;f1;f4;f13;f40: a leaf */
	SIDE_RUNS = 20,
};

static double uniform(struct prng *r)
{
	return (double)(prng_u64(r) >> 11) * 0x1p-53;
}

static double gauss(struct prng *r)
{
	double u = 1 - uniform(r), v = uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

static uint32_t stack_of(struct profile *p, int function)
{
	struct frame f = { .kind = FRAME_USER };
	uint32_t parent = function ? stack_of(p, function / 3) : 0;
	char name[16];

	snprintf(name, sizeof(name), function ? "f%d" : "main", function);
	f.name_sid = profile__string(p, name);
	return profile__add_stack(p, parent, profile__add_frame(p, &f));
}

/* Each function's own time: 1 ms times a factor of its own, 3 % noise of the whole run and 4 % of its own. */
static struct profile *make_run(struct prng *r, double factor)
{
	struct profile *p = profile__new();
	double common = 1 + 0.03 * gauss(r);

	p->header.unit_sid = profile__string(p, "ns");
	p->header.window_end_ns = 1000000000;
	for (int i = 1; i <= FUNCTIONS; i++) {
		double own = 1e6 * (1 + i % 7) * (i == CHANGED ? 20 * factor : 1);
		double ns = own * common * (1 + 0.04 * gauss(r));

		profile__add_sum(p, &(struct sum){ .stack = stack_of(p, i),
						   .kind = KIND_RUNNING,
						   .ns = (uint64_t)ns,
						   .cnt = (uint64_t)(ns / 1e6) + 1 });
	}
	return p;
}

static const struct diff_options defaults = {
	.alpha = 0.01, .min_share = 1e-4, .permutation_cnt = 1999, .seed = 1
};

struct two_sides {
	struct profile *runs[2 * SIDE_RUNS];
	unsigned int cnt;
	struct diff diff;
};

static void compare(struct two_sides *s, uint64_t seed, unsigned int cnt, double factor)
{
	struct prng r;
	const struct profile *const *runs = (const struct profile *const *)s->runs;

	prng_init(&r, seed, 0);
	s->cnt = cnt;
	for (unsigned int i = 0; i < 2 * cnt; i++)
		s->runs[i] = make_run(&r, i < cnt ? 1 : factor);
	assert_int_equal(diff__make(&s->diff, runs, cnt, runs + cnt, cnt, &defaults, NULL), 0);
}

static void release(struct two_sides *s)
{
	for (unsigned int i = 0; i < 2 * s->cnt; i++)
		profile__free(s->runs[i]);
	diff__fini(&s->diff);
}

static unsigned int colored(const struct diff *d)
{
	unsigned int cnt = 0;

	for (uint32_t i = 1; i < d->tree.cnt; i++)
		cnt += diff_node_self_changed(d, i) || diff_node_subtree_changed(d, i);
	return cnt;
}

static bool is_on_path(const char *name)
{
	static const char *const path[] = { "main", "f1", "f4", "f13", "f40" };

	for (size_t i = 0; i < ARRAY_CNT(path); i++)
		if (!strcmp(name, path[i]))
			return true;
	return false;
}

/* 10 % more work in one leaf: it is ranked first; of the others only its ancestors may be coloured, and those
 * in their subtree only. */
static void one_change_is_found(void **state)
{
	unsigned int ancestors = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct two_sides s;
		const struct diff *d = &s.diff;

		compare(&s, seed, SIDE_RUNS, 1.1);
		assert_int_equal(d->method, DIFF_PERMUTATION);
		assert_string_equal(strtab_get(&d->tree.names, d->functions[0].name), "f40");
		assert_true(diff_is_significant(d, d->functions[0].self_measure));
		for (uint32_t i = 1; i < d->tree.cnt; i++) {
			bool is_it = !strcmp(nametree_name(&d->tree, i), "f40");

			assert_true(is_it || !diff_node_self_changed(d, i));
			assert_true(is_on_path(nametree_name(&d->tree, i)) ||
				    !diff_node_subtree_changed(d, i));
		}
		ancestors += colored(d) - 1;
		release(&s);
	}
	assert_in_range(ancestors, 25,
			80); /* f13 always; those above drown in the noise at times */
}

/* Nothing changed: 40 runs, 100 random halves. At a family-wise error of 0.01 one alarm is expected. */
static void no_change_stays_grey(void **state)
{
	struct two_sides s;
	struct profile *mixed[2 * SIDE_RUNS];
	const struct profile *const *runs = (const struct profile *const *)mixed;
	struct prng r;
	int alarms = 0;

	(void)state;
	compare(&s, 4711, SIDE_RUNS, 1);
	memcpy(mixed, s.runs, sizeof(mixed));
	prng_init(&r, 5, 0);
	for (int half = 0; half < 100; half++) {
		struct diff d;

		for (uint32_t i = 2 * SIDE_RUNS - 1; i > 0; i--) {
			uint32_t j = (uint32_t)prng_below(&r, i + 1);
			struct profile *t = mixed[i];

			mixed[i] = mixed[j];
			mixed[j] = t;
		}
		assert_int_equal(diff__make(&d, runs, SIDE_RUNS, runs + SIDE_RUNS, SIDE_RUNS,
					    &defaults, NULL),
				 0);
		alarms += colored(&d) > 0;
		diff__fini(&d);
	}
	assert_in_range(alarms, 0, 5);
	release(&s);
}

static void few_runs_use_student(void **state)
{
	struct two_sides s;

	(void)state;
	compare(&s, 3, 3, 4);
	assert_int_equal(s.diff.method, DIFF_STUDENT);
	assert_string_equal(strtab_get(&s.diff.tree.names, s.diff.functions[0].name), "f40");
	assert_true(diff_is_significant(&s.diff, s.diff.functions[0].self_measure));
	release(&s);
}

static struct profile *from_counts(const char *const *names, const uint64_t *counts, size_t cnt,
				   bool with_counts)
{
	struct profile *p = profile__new();

	p->header.unit_sid = profile__string(p, "samples");
	for (size_t i = 0; i < cnt; i++) {
		struct frame f = { .name_sid = profile__string(p, names[i]) };
		uint32_t stack = profile__add_stack(p, 0, profile__add_frame(p, &f));

		profile__add_sum(p, &(struct sum){ .stack = stack,
						   .ns = counts[i],
						   .cnt = with_counts ? counts[i] : 0 });
	}
	return p;
}

static void one_run_knows_counting(void **state)
{
	const char *const names[] = { "same", "gone", "few" };
	struct profile *a = from_counts(names, (const uint64_t[]){ 1000, 40, 1 }, 3, true);
	struct profile *b = from_counts(names, (const uint64_t[]){ 1010, 0, 2 }, 3, true);
	const struct profile *pa = a, *pb = b;
	struct diff d;

	(void)state;
	assert_int_equal(diff__make(&d, &pa, 1, &pb, 1, &defaults, NULL), 0);
	assert_int_equal(d.method, DIFF_COUNTS);
	assert_string_equal(strtab_get(&d.tree.names, d.functions[0].name), "gone");
	assert_true(diff_is_significant(&d, d.functions[0].self_measure));
	assert_false(diff_is_significant(&d, d.functions[1].self_measure));
	assert_false(diff_is_significant(&d, d.functions[2].self_measure));
	diff__fini(&d);
	profile__free(a);
	profile__free(b);
}

static void one_run_without_counts_says_nothing(void **state)
{
	const char *const names[] = { "f" };
	struct profile *a = from_counts(names, (const uint64_t[]){ 1 }, 1, false);
	struct profile *b = from_counts(names, (const uint64_t[]){ 1000000 }, 1, false);
	const struct profile *pa = a, *pb = b;
	struct diff_gate g;
	struct diff d;
	struct err err = { 0 };
	uint32_t worst;

	(void)state;
	assert_int_equal(diff__make(&d, &pa, 1, &pb, 1, &defaults, NULL), 0);
	assert_int_equal(d.method, DIFF_NO_TEST);
	assert_false(diff_is_significant(&d, d.functions[0].self_measure));
	assert_int_equal(diff_gate_parse("regression > 5%", 0.01, &g, NULL), 0);
	assert_true(diff_gate_check(&d, &g, &worst, &err) < 0);
	diff__fini(&d);
	profile__free(a);
	profile__free(b);
}

static void recursion_counts_once(void **state)
{
	struct profile *p = profile__new();
	const struct profile *pp = p;
	struct diff d;
	uint32_t stack = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct frame f = { .name_sid = profile__string(p, "r") };

		stack = profile__add_stack(p, stack, profile__add_frame(p, &f));
		profile__add_sum(p, &(struct sum){ .stack = stack, .ns = 10, .cnt = 10 });
	}
	assert_int_equal(diff__make(&d, &pp, 1, &pp, 1, &defaults, NULL), 0);
	assert_int_equal(d.function_cnt, 1);
	assert_true(d.functions[0].subtree[0] == 30 && d.functions[0].self[0] == 30);
	diff__fini(&d);
	profile__free(p);
}

static void normalisation(void **state)
{
	const char *const names[] = { "f", "g" };
	struct profile *a = from_counts(names, (const uint64_t[]){ 100, 300 }, 2, true);
	struct profile *b = from_counts(names, (const uint64_t[]){ 200, 600 }, 2, true);
	const struct profile *pa = a, *pb = b;
	struct diff_options opts = defaults;
	struct err err = { 0 };
	struct diff d;

	(void)state;
	opts.normalize = DIFF_NORMALIZE_TOTAL;
	assert_int_equal(diff__make(&d, &pa, 1, &pb, 1, &opts, NULL), 0);
	for (size_t i = 0; i < d.function_cnt; i++)
		assert_true(d.functions[i].self[0] == d.functions[i].self[1]);
	diff__fini(&d);
	opts.normalize = DIFF_NORMALIZE_WALL; /* imported counts have no window */
	assert_int_equal(diff__make(&d, &pa, 1, &pb, 1, &opts, &err), -ENODATA);
	assert_non_null(strstr(err.msg, "window"));
	diff__fini(&d);
	profile__free(a);
	profile__free(b);
}

static void gates_parse(void **state)
{
	struct diff_gate g;

	(void)state;
	assert_int_equal(diff_gate_parse("regression > 5% at p < 0.01", 0.05, &g, NULL), 0);
	assert_true(g.direction == 1 && g.percent == 5 && g.p == 0.01 && !*g.subject);
	assert_int_equal(diff_gate_parse("'do work' change > 2.5% of total", 0.05, &g, NULL), 0);
	assert_string_equal(g.subject, "do work");
	assert_true(g.of_total && g.p == 0.05 && g.direction == 0);
	assert_int_equal(diff_gate_parse("total improvement > 1%", 0.05, &g, NULL), 0);
	assert_int_equal(g.direction, -1);
	assert_int_equal(diff_gate_parse("regression > 5", 0.05, &g, NULL), -EINVAL);
	assert_int_equal(diff_gate_parse("regression >5%", 0.05, &g, NULL), -EINVAL);
	assert_int_equal(diff_gate_parse("regression > 5% at p < 0.01 please", 0.05, &g, NULL),
			 -EINVAL);
	assert_int_equal(diff_gate_parse("", 0.05, &g, NULL), -EINVAL);
}

static void units_must_agree(void **state)
{
	const char *const names[] = { "f" };
	struct profile *a = from_counts(names, (const uint64_t[]){ 1 }, 1, true);
	struct profile *b = from_counts(names, (const uint64_t[]){ 1 }, 1, true);
	const struct profile *pa = a, *pb = b;
	struct diff d;

	(void)state;
	b->header.unit_sid = profile__string(b, "ns");
	assert_int_equal(diff__make(&d, &pa, 1, &pb, 1, &defaults, NULL), -EINVAL);
	diff__fini(&d);
	profile__free(a);
	profile__free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_change_is_found),
		cmocka_unit_test(no_change_stays_grey),
		cmocka_unit_test(few_runs_use_student),
		cmocka_unit_test(one_run_knows_counting),
		cmocka_unit_test(one_run_without_counts_says_nothing),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(normalisation),
		cmocka_unit_test(gates_parse),
		cmocka_unit_test(units_must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
