/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bins tile all delays; smoothed densities sum to one and come near those the samples were drawn from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/gapdist.h"

static void test_bins_tile(void **state)
{
	uint32_t last = gap_bin(-100000);
	double held = 0;

	(void)state;
	for (int64_t t = -100000; t < 200000; t++) {
		uint32_t b = gap_bin(t);

		assert_true(b == last || b == last + 1);
		if (b != last &&
		    last > gap_bin(-100000)) /* a bin that was walked from end to end */
			assert_true(held == gap_bin_width(last));
		held = b == last ? held + 1 : 1;
		last = b;
	}
	assert_true(gap_bin(INT64_MAX) < GAP_BINS);
	assert_true(gap_bin(INT64_MIN) < GAP_BINS);
	for (int64_t t = -32; t < 32; t++)
		assert_true(gap_bin_width(gap_bin(t)) == 1);
}

static void test_sum_is_one(void **state)
{
	struct gap_kernels *k = gap_kernels_new();
	double w[GAP_BINS] = { 0 }, p[GAP_BINS], sum = 0;
	struct rng r = { 1 };

	(void)state;
	for (int i = 0; i < 500; i++)
		w[gap_bin((int64_t)rng_exp(&r, 3000))] += rng_unit(&r);
	gap_smooth(k, w, p);
	for (int b = 0; b < GAP_BINS; b++)
		sum += p[b];
	assert_true(fabs(sum - 1) < 1e-6);
	sum = 0;
	gap_any(gap_bin(0), gap_bin(1000000), p);
	for (int b = 0; b < GAP_BINS; b++)
		sum += p[b];
	assert_true(fabs(sum - 1) < 1e-9);
	for (int b = 0; b < GAP_BINS; b++)
		w[b] = 0;
	gap_smooth(k, w, p);
	for (int b = 0; b < GAP_BINS; b++)
		assert_true(p[b] == 0);
	gap_kernels_free(k);
}

/* Few samples of a smooth density: smoothing must beat the raw histogram on fresh samples by far. */
static void test_smooth_predicts(void **state)
{
	struct gap_kernels *k = gap_kernels_new();
	double w[GAP_BINS] = { 0 }, p[GAP_BINS], smooth = 0, raw = 0;
	struct rng r = { 2 };

	(void)state;
	for (int i = 0; i < 300; i++)
		w[gap_bin((int64_t)(500 * exp(0.5 * rng_gauss(&r))))] += 1;
	gap_smooth(k, w, p);
	for (int i = 0; i < 2000; i++) {
		uint32_t b = gap_bin((int64_t)(500 * exp(0.5 * rng_gauss(&r))));

		smooth += log(p[b] + 1e-9);
		raw += log(w[b] / 300 + 1e-9);
	}
	assert_true(smooth > raw + 100);
	gap_kernels_free(k);
}

/* Two ticks of a coarse clock must stay apart, whatever the number of samples. */
static void test_ticks_stay_apart(void **state)
{
	struct gap_kernels *k = gap_kernels_new();
	double w[GAP_BINS] = { 0 }, p[GAP_BINS];

	(void)state;
	w[gap_bin(1)] = 500;
	w[gap_bin(3)] = 500;
	gap_smooth(k, w, p);
	assert_true(p[gap_bin(1)] > 0.45 && p[gap_bin(3)] > 0.45 && p[gap_bin(2)] < 0.05);
	gap_kernels_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bins_tile),
		cmocka_unit_test(test_sum_is_one),
		cmocka_unit_test(test_smooth_predicts),
		cmocka_unit_test(test_ticks_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
