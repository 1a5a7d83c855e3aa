/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Correlation: both engines against a dense double sum; spikes on drawn curves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/xcorr.h"
#include "user/base/mem.h"

#define QUANTA 2000

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static struct signal random_signal(struct rng *r, size_t cnt, int64_t span_ns)
{
	int64_t *t = xcalloc(cnt, sizeof(*t));
	struct signal s;

	for (size_t i = 0; i < cnt; i++)
		t[i] = (int64_t)(rng_unit(r) * (double)span_ns);
	qsort(t, cnt, sizeof(*t), by_time);
	s = signal_make(t, cnt, 0, 10);
	free(t);
	return s;
}

static void dense(const struct signal *s, double *x)
{
	memset(x, 0, QUANTA * sizeof(*x));
	for (size_t i = 0; i < s->cnt; i++)
		x[s->quanta[i]] = s->values[i];
}

static void slow_xcorr(const struct signal *a, const struct signal *b, int64_t lag_min, size_t lags,
		       double *c)
{
	static double x[QUANTA], y[QUANTA];

	dense(a, x);
	dense(b, y);
	for (size_t l = 0; l < lags; l++) {
		c[l] = 0;
		for (int64_t k = 0; k < QUANTA; k++) {
			int64_t to = k + lag_min + (int64_t)l;

			if (to >= 0 && to < QUANTA)
				c[l] += x[k] * y[to];
		}
	}
}

static void test_engines_agree_with_the_sum(void **state)
{
	struct rng r = { 3 };
	size_t lags = 300;
	double *c = xcalloc(2 * lags, sizeof(*c)), *want = xcalloc(lags, sizeof(*want));

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct signal a = random_signal(&r, 50 + rng_below(&r, 2000), QUANTA * 10);
		struct signal b[2] = { random_signal(&r, 50 + rng_below(&r, 2000), QUANTA * 10),
				       random_signal(&r, 1 + rng_below(&r, 20), QUANTA * 10) };
		int64_t lag_min = -(int64_t)rng_below(&r, 100);

		for (int engine = XCORR_AUTO; engine <= XCORR_FFT; engine++) {
			xcorr(&a, b, 2, lag_min, lags, (enum xcorr_engine)engine, c);
			for (int n = 0; n < 2; n++) {
				double max = 1;

				slow_xcorr(&a, &b[n], lag_min, lags, want);
				for (size_t l = 0; l < lags; l++)
					max = fmax(max, want[l]);
				for (size_t l = 0; l < lags; l++)
					assert_true(fabs(c[(size_t)n * lags + l] - want[l]) <=
						    1e-9 * max);
			}
		}
		signal_free(&a);
		signal_free(&b[0]);
		signal_free(&b[1]);
	}
	free(c);
	free(want);
}

/* A signal far longer than a piece, with silent stretches. */
static void test_pieces(void **state)
{
	struct rng r = { 4 };
	struct signal a = random_signal(&r, 3000, 40000000);
	struct signal b = random_signal(&r, 3000, 40000000);
	double direct[512], pieces[512], max = 0;

	(void)state;
	xcorr(&a, &b, 1, -100, 512, XCORR_DIRECT, direct);
	xcorr(&a, &b, 1, -100, 512, XCORR_FFT, pieces);
	for (int i = 0; i < 512; i++)
		max = fmax(max, direct[i]);
	assert_true(max > 0);
	for (int i = 0; i < 512; i++)
		assert_true(fabs(direct[i] - pieces[i]) <= 1e-9 * max);
	signal_free(&a);
	signal_free(&b);
}

static void test_signal(void **state)
{
	const int64_t t[] = { -11, -10, -1, 0, 9, 10, 10, 10, 10 };
	struct signal s = signal_make(t, 9, 0, 10);

	(void)state;
	assert_int_equal(s.cnt, 4);
	assert_int_equal(s.quanta[0], -2);
	assert_int_equal(s.quanta[1], -1);
	assert_int_equal(s.quanta[2], 0);
	assert_int_equal(s.quanta[3], 1);
	assert_true(s.values[0] == 1 && s.values[3] == 2);
	assert_true(fabs(s.values[1] - sqrt(2)) < 1e-15);
	signal_free(&s);
	s = signal_make(t, 0, 0, 10);
	assert_int_equal(s.cnt, 0);
	signal_free(&s);
}

/* Scaling all counts by c^2 scales the signal by c and the correlation by c^2. */
static void test_scaling(void **state)
{
	struct rng r = { 5 };
	int64_t once[200], four[800];
	double c1[50], c4[50];
	struct signal a, b;

	(void)state;
	for (int i = 0; i < 200; i++)
		once[i] = (int64_t)rng_below(&r, 5000);
	qsort(once, 200, sizeof(*once), by_time);
	for (int i = 0; i < 800; i++)
		four[i] = once[i / 4];
	a = signal_make(once, 200, 0, 10);
	b = signal_make(four, 800, 0, 10);
	xcorr(&a, &a, 1, 0, 50, XCORR_DIRECT, c1);
	xcorr(&b, &b, 1, 0, 50, XCORR_DIRECT, c4);
	for (int i = 0; i < 50; i++)
		assert_true(fabs(c4[i] - 4 * c1[i]) < 1e-9);
	signal_free(&a);
	signal_free(&b);
}

static size_t spikes_of(const double *c, size_t cnt, struct spike *ret)
{
	struct xcorr_stats st = { .mean = 10, .sigma = 1 }; /* spikes >= 14, valleys <= 13 */

	return xcorr_spikes(c, cnt, &st, 4, 3, ret, 8);
}

static void test_spikes(void **state)
{
	const double two[] = { 10, 15, 12, 16, 10 }, merged[] = { 10, 15, 13.5, 16, 10 },
		     plateau[] = { 10, 15, 15, 15, 10 }, low[] = { 10, 13.9, 10 },
		     edge[] = { 20, 10, 20 };
	struct spike s[8];

	(void)state;
	assert_int_equal(spikes_of(two, 5, s), 2);
	assert_int_equal(s[0].at, 1);
	assert_int_equal(s[1].at, 3);
	assert_int_equal(spikes_of(merged, 5, s), 1);
	assert_int_equal(s[0].at, 3);
	assert_int_equal(spikes_of(plateau, 5, s), 1);
	assert_int_equal(s[0].at, 2);
	assert_int_equal(spikes_of(low, 3, s), 0);
	assert_int_equal(spikes_of(edge, 3, s), 2);
	assert_int_equal(spikes_of(edge, 0, s), 0);
}

static void test_no_spread_no_spike(void **state)
{
	double flat[100];
	struct xcorr_stats st;
	struct spike s[4];

	(void)state;
	for (int i = 0; i < 100; i++)
		flat[i] = 0.1;
	st = xcorr_stats(flat, 100);
	assert_int_equal(xcorr_spikes(flat, 100, &st, 4, 3, s, 4), 0);
}

static void test_threshold(void **state)
{
	(void)state;
	assert_true(fabs(xcorr_threshold(10000, 0.01, 4) - 4.75) < 0.01);
	assert_true(xcorr_threshold(1, 0.01, 4) == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engines_agree_with_the_sum),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_spikes),
		cmocka_unit_test(test_no_spread_no_spike),
		cmocka_unit_test(test_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
