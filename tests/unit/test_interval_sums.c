/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by slices of time: cut at the borders to the nanosecond, and together what they are without slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/capture/events.h"

static struct cp_event_interval wait_of(uint64_t start_ns, uint64_t end_ns)
{
	return (struct cp_event_interval){ .kind = 4,
					   .tid = 7,
					   .stack = 3,
					   .process = 1,
					   .start_ns = start_ns,
					   .end_ns = end_ns };
}

static struct cp_sum total_of(const struct interval_sums *s, uint32_t slice, uint32_t kind)
{
	const struct sum_table *sums = interval_sums__table(s);
	struct cp_sum total = { 0 };

	for (size_t i = 0; i < sums->cnt; i++) {
		struct cp_sum_key key;
		struct cp_sum value = sum_table_get(sums, i, &key);

		if (key.slice == slice && key.kind == kind) {
			total.ns += value.ns;
			total.cnt += value.cnt;
		}
	}
	return total;
}

static void expect(const struct interval_sums *s, uint32_t slice, uint32_t kind, uint64_t ns,
		   uint64_t cnt)
{
	struct cp_sum sum = total_of(s, slice, kind);

	assert_int_equal(sum.ns, ns);
	assert_int_equal(sum.cnt, cnt);
}

static void a_wait_is_cut(void **state)
{
	struct interval_sums *s = interval_sums__new(false);
	struct cp_event_interval e = wait_of(1050, 1350);

	(void)state;
	interval_sums__slice(s, 1000, 100);
	interval_sums__add(s, &e);
	expect(s, 1, 4, 50, 1);
	expect(s, 2, 4, 100, 0);
	expect(s, 3, 4, 100, 0);
	expect(s, 4, 4, 50, 0);
	e = wait_of(1100, 1200); /* exactly one */
	interval_sums__add(s, &e);
	expect(s, 2, 4, 200, 1);
	expect(s, 3, 4, 100, 0);
	interval_sums__free(s);
}

/* What waits for a sample lies in the slice in which it was used, on the stack of the sample. */
static void running_time_stays_in_its_slice(void **state)
{
	struct interval_sums *s = interval_sums__new(false);
	struct cp_event_interval e = wait_of(1010, 1030);

	(void)state;
	interval_sums__slice(s, 1000, 100);
	e.kind = 1;
	e.stack = 0;
	interval_sums__add(s, &e);
	expect(s, 1, 1, 0, 0);
	e.start_ns = 1290;
	e.end_ns = 1310;
	e.stack = 5;
	e.sampled = CP_SAMPLED;
	e.charged_ns = 40;
	interval_sums__add(s, &e);
	expect(s, 1, 1, 20, 0);
	expect(s, 3, 1, 10, 0);
	expect(s, 4, 1, 10, 1);
	interval_sums__free(s);
}

static void charge(struct interval_sums *s, uint64_t start_ns, uint64_t end_ns,
		   enum cp_sampled sampled, uint64_t charged_ns)
{
	struct cp_event_interval e = wait_of(start_ns, end_ns);

	e.kind = 1;
	e.sampled = sampled;
	e.charged_ns = charged_ns;
	interval_sums__add(s, &e);
}

static void run(struct interval_sums *s, uint64_t start_ns, uint64_t end_ns)
{
	charge(s, start_ns, end_ns, CP_NOT_SAMPLED, 0);
}

/* A sample that interrupts a flush stands for its own piece, and its event comes before that of the flush. */
static void a_flush_comes_late(void **state)
{
	struct interval_sums *s = interval_sums__new(false);

	(void)state;
	interval_sums__slice(s, 1000, 100);
	run(s, 1010, 1110); /* 90 in slice 1, 10 in 2 */
	charge(s, 1110, 1150, CP_SAMPLED, 40);
	expect(s, 1, 1, 40, 1);
	charge(s, 0, 0, CP_FLUSHED, 100);
	expect(s, 1, 1, 90, 1);
	expect(s, 2, 1, 50, 0);
	/* and one whose piece comes after it */
	charge(s, 0, 0, CP_FLUSHED, 30);
	expect(s, 2, 1, 80, 0);
	run(s, 1200, 1250);
	charge(s, 0, 0, CP_FLUSHED, 20);
	expect(s, 2, 1, 80, 0);
	expect(s, 3, 1, 20, 0);
	run(s, 1300, 1310);
	charge(s, 0, 0, CP_FLUSHED, 10);
	expect(s, 4, 1, 10, 0);
	interval_sums__free(s);
}

static void slices_add_up(void **state)
{
	struct interval_sums *whole = interval_sums__new(false),
			     *sliced = interval_sums__new(false);
	struct rng r = { 42 };
	uint64_t at = 5000, unsampled_ns = 0;

	(void)state;
	interval_sums__slice(sliced, 5000, 333);
	for (int i = 0; i < 5000; i++) {
		struct cp_event_interval e = wait_of(at, at + rng_below(&r, 1000));

		at = e.end_ns;
		e.kind = rng_below(&r, 3) ? 4 : 1;
		e.sampled = e.kind == 1 && rng_below(&r, 2) ? CP_SAMPLED : CP_NOT_SAMPLED;
		if (e.kind == 1)
			unsampled_ns += e.end_ns - e.start_ns;
		if (e.sampled == CP_SAMPLED) {
			e.charged_ns = unsampled_ns;
			unsampled_ns = 0;
		}
		interval_sums__add(whole, &e);
		interval_sums__add(sliced, &e);
	}
	for (uint32_t kind = 1; kind <= 4; kind += 3) {
		struct cp_sum want = total_of(whole, 0, kind), have = { 0 };

		for (uint32_t slice = 1; slice <= (at - 5000) / 333 + 1; slice++) {
			struct cp_sum one = total_of(sliced, slice, kind);

			assert_true(kind == 4 ? one.ns <= 333 : 1);
			have.ns += one.ns;
			have.cnt += one.cnt;
		}
		assert_int_equal(have.ns, want.ns);
		assert_int_equal(have.cnt, want.cnt);
		assert_true(want.ns > 0);
	}
	interval_sums__free(whole);
	interval_sums__free(sliced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_cut),
		cmocka_unit_test(running_time_stays_in_its_slice),
		cmocka_unit_test(a_flush_comes_late),
		cmocka_unit_test(slices_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
