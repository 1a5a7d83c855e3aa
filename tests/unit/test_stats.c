/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions against published and directly summed values; the permutation test against enumeration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "user/analysis/stats.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

static double uniform(struct prng *r)
{
	return (double)(prng_u64(r) >> 11) * 0x1p-53;
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static void distributions(void **state)
{
	(void)state;
	near(stats_t_two_sided(12.7062047364, 1), 0.05, 1e-10); /* tables of Student's t */
	near(stats_t_two_sided(2.7044592674, 40), 0.01, 1e-10);
	near(stats_t_two_sided(0, 7), 1, 1e-12);
	near(stats_t_quantile(0.05, 10), 2.2281388520, 1e-8);
	near(stats_normal_two_sided(1.9599639845), 0.05, 1e-10);
	near(stats_beta_inc(0.5, 0.5, 0.25), 1.0 / 3, 1e-12); /* 2/pi asin sqrt x */
	near(stats_beta_inc(3, 1, 0.7), 0.343, 1e-12);	      /* x^a */
}

static void binomial_sums(void **state)
{
	(void)state;
	for (int n = 1; n < 40; n += 6)
		for (int k = 0; k <= n; k++) {
			double q = 0.3, upper = 0, lower = 0, want;

			for (int i = 0; i <= n; i++) {
				double term =
					exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
					    i * log(q) + (n - i) * log(1 - q));

				upper += i >= k ? term : 0;
				lower += i <= k ? term : 0;
			}
			want = 2 * fmin(upper, lower);
			near(stats_binomial_two_sided(k, n, q), fmin(want, 1), 1e-10);
		}
}

static void holm_steps_down(void **state)
{
	double p[] = { 0.04, 0.01, 0.02, 0.9 };

	(void)state;
	stats_holm(p, 4);
	near(p[1], 0.04, 1e-12);
	near(p[2], 0.06, 1e-12);
	near(p[0], 0.08, 1e-12);
	near(p[3], 0.9, 1e-12);
}

static void splits_are_counted(void **state)
{
	(void)state;
	assert_int_equal(stats_splits(3, 3, 1000), 20);
	assert_int_equal(stats_splits(20, 20, 1000), 1000);
	near(stats_permutation_p_min(3, 3, 9999), 0.1, 1e-12);
	near(stats_permutation_p_min(2, 4, 9999), 1.0 / 15, 1e-12);
	near(stats_permutation_p_min(20, 20, 9999), 1e-4, 1e-12);
}

/* Pooled t statistics of every split by the book, maxima over the frames that are left: Westfall and Young
 * without any of the shortcuts. */
static double pooled_t(const double *v, size_t frames, size_t f, unsigned int mask, int runs)
{
	double sum[2] = { 0 }, square = 0, mean[2];
	int cnt[2] = { 0 };

	for (int r = 0; r < runs; r++) {
		sum[mask >> r & 1] += v[(size_t)r * frames + f];
		cnt[mask >> r & 1]++;
	}
	mean[0] = sum[0] / cnt[0];
	mean[1] = sum[1] / cnt[1];
	for (int r = 0; r < runs; r++) {
		double d = v[(size_t)r * frames + f] - mean[mask >> r & 1];

		square += d * d;
	}
	return fabs(mean[1] - mean[0]) / sqrt(square / (runs - 2) * (1.0 / cnt[0] + 1.0 / cnt[1]));
}

static void max_t_equals_enumeration(void **state)
{
	enum {
		FRAMES = 5,
		RUNS = 8,
		BEFORE = 3
	};
	double v[RUNS * FRAMES], p[FRAMES], t[FRAMES], previous = 0;
	struct prng random;
	bool done[FRAMES] = { false };

	(void)state;
	prng_init(&random, 7, 0);
	for (int i = 0; i < RUNS * FRAMES; i++)
		v[i] = uniform(&random) + (i % FRAMES == 2 && i / FRAMES >= BEFORE ? 0.9 : 0);
	stats_max_t(v, FRAMES, BEFORE, RUNS - BEFORE, 9999, 1, p);
	for (size_t f = 0; f < FRAMES; f++)
		t[f] = pooled_t(v, FRAMES, f, ~0U << BEFORE, RUNS);
	for (int step = 0; step < FRAMES; step++) {
		size_t best = FRAMES;
		int reach = 0, all = 0;

		for (size_t f = 0; f < FRAMES; f++)
			if (!done[f] && (best == FRAMES || t[f] > t[best]))
				best = f;
		for (unsigned int mask = 0; mask < 1U << RUNS; mask++) {
			double largest = 0;

			if (__builtin_popcount(mask) != RUNS - BEFORE)
				continue;
			for (size_t f = 0; f < FRAMES; f++)
				if (!done[f])
					largest = fmax(largest, pooled_t(v, FRAMES, f, mask, RUNS));
			reach += largest >= t[best] - 1e-9;
			all++;
		}
		previous = fmax(previous, (double)reach / all);
		near(p[best], previous, 1e-12);
		done[best] = true;
	}
}

/* Nothing changed, 300 dependent frames: anything is called a change in at most about alpha of the trials. */
static void max_t_keeps_alpha(void **state)
{
	enum {
		FRAMES = 300,
		RUNS = 12,
		TRIALS = 200
	};
	double *v = xcalloc(RUNS * FRAMES, sizeof(*v)), *p = xcalloc(FRAMES, sizeof(*p));
	struct prng random;
	int false_alarms = 0;

	(void)state;
	prng_init(&random, 99, 0);
	for (int trial = 0; trial < TRIALS; trial++) {
		double lowest = 1;

		for (int r = 0; r < RUNS; r++) {
			double common = uniform(&random);

			for (int f = 0; f < FRAMES; f++)
				v[r * FRAMES + f] = common + uniform(&random);
		}
		stats_max_t(v, FRAMES, RUNS / 2, RUNS / 2, 499, (uint64_t)trial, p);
		for (int f = 0; f < FRAMES; f++)
			lowest = fmin(lowest, p[f]);
		false_alarms += lowest <= 0.05;
	}
	assert_in_range(false_alarms, 2, 20); /* 10 expected; P(outside) < 0.003 */
	free(v);
	free(p);
}

static void frames_without_variance(void **state)
{
	double v[] = { 1, 5, 1, 5, 1, 6, 1, 6 }, p[2]; /* frame 0 is constant */

	(void)state;
	stats_max_t(v, 2, 2, 2, 99, 1, p);
	near(p[0], 1, 0);
	near(p[1], 2.0 / 6, 1e-12);
}

static void welch(void **state)
{
	struct stats_means w =
		stats_welch((struct stats_moments){ 10, 4 }, 8, (struct stats_moments){ 13, 9 }, 6);

	(void)state;
	near(w.delta, 3, 1e-12);
	near(w.se, sqrt(0.5 + 1.5), 1e-12);
	near(w.df, 4 / (0.25 / 7 + 2.25 / 5), 1e-9);
	w = stats_welch((struct stats_moments){ 10, 0 }, 1, (struct stats_moments){ 13, 9 }, 6);
	near(w.se, sqrt(9 * (1 + 1.0 / 6)), 1e-12);
	near(w.df, 5, 0);
	w = stats_pooled((struct stats_moments){ 10, 4 }, 8, (struct stats_moments){ 13, 9 }, 6);
	near(w.se, sqrt((7 * 4 + 5 * 9) / 12.0 * (1.0 / 8 + 1.0 / 6)), 1e-12);
	near(w.df, 12, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributions),
		cmocka_unit_test(binomial_sums),
		cmocka_unit_test(holm_steps_down),
		cmocka_unit_test(splits_are_counted),
		cmocka_unit_test(max_t_equals_enumeration),
		cmocka_unit_test(max_t_keeps_alpha),
		cmocka_unit_test(frames_without_variance),
		cmocka_unit_test(welch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
