/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "user/base/phases.h"

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Nothing is lost between phases: their CPU times add up to the process's, from its start on. */
static void test_phases_add_up(void **state)
{
	const struct timespec nap = { 0, 3000000 };
	struct phases p = { 0 };
	uint64_t sum_ns = 0, before_ns, after_ns, spin_ns;

	(void)state;
	phases_begin(&p, "spin");
	for (spin_ns = cpu_ns(); cpu_ns() < spin_ns + 2000000;)
		;
	phases_begin(&p, "sleep");
	nanosleep(&nap, NULL);
	before_ns = cpu_ns();
	phases_end(&p);
	after_ns = cpu_ns();
	assert_int_equal(p.cnt, 2);
	assert_string_equal(p.items[0].name, "spin");
	assert_true(p.items[0].cpu_ns >= 2000000);
	assert_true(p.items[1].wall_ns >= 3000000);
	assert_true(p.items[1].cpu_ns < p.items[0].cpu_ns);
	for (size_t i = 0; i < p.cnt; i++)
		sum_ns += p.items[i].cpu_ns;
	assert_in_range(sum_ns, before_ns, after_ns);
}

static void test_helpers_go_to_the_open_phase(void **state)
{
	struct phases p = { 0 };
	struct buf out = { 0 };

	(void)state;
	phases_begin(&p, "one");
	phases_helpers(&p, 5000000);
	phases_begin(&p, "two");
	phases_helpers(&p, 4000000); /* less than before: a helper was replaced */
	phases_begin(&p, "three");
	phases_helpers(&p, 7000000);
	phases_end(&p);
	assert_int_equal(p.items[0].helper_cpu_ns, 5000000);
	assert_int_equal(p.items[1].helper_cpu_ns, 0);
	assert_int_equal(p.items[2].helper_cpu_ns, 2000000);
	phases_put(&p, &out);
	assert_non_null(strstr(buf_str(&out), "7.0 ms CPU of helpers"));
	buf_free(&out);
}

static void test_too_many_phases(void **state)
{
	struct phases p = { 0 };

	(void)state;
	for (int i = 0; i < 2 * PHASES_MAX; i++)
		phases_begin(&p, "more");
	phases_end(&p);
	assert_int_equal(p.cnt, PHASES_MAX);
	phases_begin(NULL, "nobody");
	phases_helpers(NULL, 1);
	phases_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases_add_up),
		cmocka_unit_test(test_helpers_go_to_the_open_phase),
		cmocka_unit_test(test_too_many_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
