/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transform against the sum that defines it, and its laws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/fft.h"
#include "user/base/mem.h"

static void fill(struct fft *f, double *copy, struct rng *r)
{
	for (size_t i = 0; i < fft_len(f); i++)
		copy[i] = fft_real(f)[i] = rng_unit(r) * 20 - 10;
}

static void test_direct_sum(void **state)
{
	struct rng r = { 1 };

	(void)state;
	for (size_t len = 1; len <= 65; len++) {
		struct fft *f = fft_new(len);
		double *x = xcalloc(len, sizeof(*x));
		double complex *got = xcalloc(fft_spectrum_cnt(f), sizeof(*got));

		fill(f, x, &r);
		fft_forward(f, got);
		for (size_t k = 0; k < fft_spectrum_cnt(f); k++) {
			double complex want = 0;

			for (size_t j = 0; j < len; j++)
				want += x[j] * cexp(-2 * M_PI * I * (double)(j * k) / (double)len);
			assert_true(cabs(want - got[k]) < 1e-9 * (double)len * 10);
		}
		fft_free(f);
		free(x);
		free(got);
	}
}

static void test_inverse_and_parseval(void **state)
{
	struct rng r = { 2 };

	(void)state;
	for (size_t len = 2; len <= 4096; len *= 2) {
		struct fft *f = fft_new(len);
		double *x = xcalloc(len, sizeof(*x));
		double complex *sp = xcalloc(fft_spectrum_cnt(f), sizeof(*sp));
		double time_energy = 0, freq_energy = 0;

		fill(f, x, &r);
		fft_forward(f, sp);
		for (size_t i = 0; i < len; i++)
			time_energy += x[i] * x[i];
		for (size_t k = 0; k < fft_spectrum_cnt(f); k++) {
			double both_halves = k == 0 || k == len / 2 ? 1 : 2;

			freq_energy += both_halves * creal(sp[k] * conj(sp[k])) / (double)len;
		}
		assert_true(fabs(time_energy - freq_energy) < 1e-9 * time_energy);
		fft_inverse(f, sp);
		for (size_t i = 0; i < len; i++)
			assert_true(fabs(fft_real(f)[i] - x[i]) < 1e-11);
		fft_free(f);
		free(x);
		free(sp);
	}
}

static void test_good_len(void **state)
{
	(void)state;
	assert_int_equal(fft_good_len(0), 1);
	assert_int_equal(fft_good_len(1), 1);
	assert_int_equal(fft_good_len(5), 8);
	assert_int_equal(fft_good_len(4096), 4096);
	assert_int_equal(fft_good_len(4097), 8192);
	fft_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct_sum),
		cmocka_unit_test(test_inverse_and_parseval),
		cmocka_unit_test(test_good_len),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
