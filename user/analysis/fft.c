/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/fft.h"

#include <stdlib.h>
#include <string.h>

#include <fftw3.h>

#include "user/base/mem.h"

struct fft {
	size_t len;
	double *real;
	fftw_complex *spectrum; /* both transforms run between these two fields, as planned */
	fftw_plan forward;
	fftw_plan inverse;
};

struct fft *fft_new(size_t len)
{
	struct fft *f = xzalloc(sizeof(*f));

	f->len = len;
	f->real = fftw_alloc_real(len);
	f->spectrum = fftw_alloc_complex(len / 2 + 1);
	f->forward = fftw_plan_dft_r2c_1d((int)len, f->real, f->spectrum, FFTW_ESTIMATE);
	f->inverse = fftw_plan_dft_c2r_1d((int)len, f->spectrum, f->real, FFTW_ESTIMATE);
	memset(f->real, 0, len * sizeof(*f->real));
	return f;
}

void fft_free(struct fft *f)
{
	if (!f)
		return;
	fftw_destroy_plan(f->forward);
	fftw_destroy_plan(f->inverse);
	fftw_free(f->real);
	fftw_free(f->spectrum);
	free(f);
}

size_t fft_len(const struct fft *f)
{
	return f->len;
}

size_t fft_spectrum_cnt(const struct fft *f)
{
	return f->len / 2 + 1;
}

double *fft_real(struct fft *f)
{
	return f->real;
}

void fft_forward(struct fft *f, double complex *spectrum)
{
	fftw_execute(f->forward);
	memcpy(spectrum, f->spectrum, fft_spectrum_cnt(f) * sizeof(*spectrum));
}

void fft_inverse(struct fft *f, const double complex *spectrum)
{
	double scale = 1.0 / (double)f->len;

	memcpy(f->spectrum, spectrum, fft_spectrum_cnt(f) * sizeof(*spectrum));
	fftw_execute(f->inverse);
	for (size_t j = 0; j < f->len; j++)
		f->real[j] *= scale;
}

size_t fft_good_len(size_t n)
{
	size_t len = 1;

	while (len < n)
		len *= 2;
	return len;
}
