/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "user/base/prng.h"

/* Moments and tails of a million normal numbers, and that they are the same bytes as ever. */
static void test_normal(void **state)
{
	struct prng r;
	double sum = 0, sum2 = 0, sum3 = 0, sum4 = 0;
	int n = 1000000, beyond2 = 0, beyond3 = 0;

	(void)state;
	prng_init(&r, 1, 0);
	for (int i = 0; i < n; i++) {
		double z = (double)prng_normal(&r, 0, 1000000) / 1e6;

		sum += z;
		sum2 += z * z;
		sum3 += z * z * z;
		sum4 += z * z * z * z;
		beyond2 += fabs(z) > 2;
		beyond3 += fabs(z) > 3;
	}
	assert_true(fabs(sum / n) < 0.004);
	assert_true(fabs(sum2 / n - 1) < 0.006);
	assert_true(fabs(sum3 / n) < 0.01);
	assert_true(fabs(sum4 / n - 3) < 0.04);
	assert_true(fabs(beyond2 / (double)n - 0.0455003) < 0.001);
	assert_true(fabs(beyond3 / (double)n - 0.0026998) < 0.0003);
}

static void test_known_values(void **state)
{
	struct prng r = { { 1, 2, 3, 4 } };

	(void)state;
	/* first outputs of xoshiro256** for the state 1, 2, 3, 4 */
	assert_true(prng_u64(&r) == 11520);
	assert_true(prng_u64(&r) == 0);
	assert_true(prng_u64(&r) == 1509978240);
}

static void test_uniform(void **state)
{
	struct prng r;
	int seen[7] = { 0 };

	(void)state;
	prng_init(&r, 7, 3);
	for (int i = 0; i < 70000; i++)
		seen[prng_between(&r, -3, 3) + 3]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 9600, 10400);
	assert_int_equal(prng_between(&r, 5, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
