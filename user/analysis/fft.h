/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discrete Fourier transform of real sequences, double precision (FFTW).
 *
 * The plan is made without measuring the machine (FFTW_ESTIMATE) and runs on one thread, so that equal
 * input gives equal bytes. Tests: tests/unit/test_fft.c. */
#ifndef CP_USER_ANALYSIS_FFT_H
#define CP_USER_ANALYSIS_FFT_H

#include <complex.h>
#include <stddef.h>

struct fft;

/* A plan for sequences of len real numbers (len >= 1; powers of two are fastest). Owned by the caller.
 * Memory: 16 * len bytes. */
struct fft *fft_new(size_t len);
void fft_free(struct fft *f); /* NULL is fine */
size_t fft_len(const struct fft *f);
size_t fft_spectrum_cnt(const struct fft *f); /* len / 2 + 1 */

/* The plan's input and output field of len numbers; borrowed, lives as long as the plan. */
double *fft_real(struct fft *f);

/* X(k) = sum over j of x(j) e^(-2 pi i j k / len), k = 0 .. len/2; reads fft_real(), which it may
 * destroy. spectrum holds fft_spectrum_cnt() numbers. O(len log len). */
void fft_forward(struct fft *f, double complex *spectrum);

/* The inverse, divided by len, into fft_real(). spectrum is left as it is. */
void fft_inverse(struct fft *f, const double complex *spectrum);

/* The smallest power of two >= n (n <= 2^62). */
size_t fft_good_len(size_t n);

#endif
