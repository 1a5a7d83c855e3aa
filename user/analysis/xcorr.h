/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cross-correlation of message signals and the spikes in it (Aguilera et al., SOSP 2003, section 5).
 *
 * Time is cut into quanta; a signal is the square root of the number of messages in each quantum (the
 * root, because x messages that cause x messages would otherwise count x * x). Nearly all quanta are
 * empty, so a signal is held as its non-zero values: memory is O(messages) however fine the quantum.
 *
 *	C(d) = sum over k of a(k) * b(k + d)
 *
 * A spike at d says that messages of b follow messages of a after d quanta.
 * Two engines compute the same sums: directly over pairs of non-zero values that lie within the lags, or
 * piece by piece through the Fourier transform; the cheaper one is chosen by counting the pairs first.
 * Tests: tests/unit/test_xcorr.c. */
#ifndef CP_USER_ANALYSIS_XCORR_H
#define CP_USER_ANALYSIS_XCORR_H

#include <stddef.h>
#include <stdint.h>

struct signal {
	int64_t *quanta; /* ascending, distinct */
	double *values;	 /* > 0, the same number */
	size_t cnt;
};

/* Quantum of time t is floor((t - origin) / quantum). times ascending; quantum_ns > 0.
 * The signal is owned by the caller. */
struct signal signal_make(const int64_t *times_ns, size_t cnt, int64_t origin_ns,
			  int64_t quantum_ns);
void signal_free(struct signal *s);

enum xcorr_engine {
	XCORR_AUTO,
	XCORR_DIRECT,
	XCORR_FFT
};

/* lags_cnt values from lag_min upwards. Each b[n] gives the row c + n * lags_cnt. The transform of a is
 * shared by all b. O(S log L) time through the transform, where S is the quanta from a's first to its
 * last value, never more than O(pairs) with XCORR_AUTO; memory O(lags_cnt * b_cnt), independent of S.
 * Results of the engines agree within 1e-9 of the largest value. lags_cnt <= XCORR_LAGS_MAX. */
#define XCORR_LAGS_MAX ((size_t)1 << 26)
void xcorr(const struct signal *a, const struct signal *b, size_t b_cnt, int64_t lag_min,
	   size_t lags_cnt, enum xcorr_engine engine, double *c);

struct spike {
	size_t at; /* index into c: the centre of the run of equal maxima */
	double height;
};

struct xcorr_stats {
	double mean;
	double sigma;
};

struct xcorr_stats xcorr_stats(const double *c, size_t cnt);

/* Spikes of c: local maxima of at least mean + n * sigma, with a value of at most mean + s * sigma
 * between any two. sigma = 0 has no spike. Writes at most cap of them, by position; returns how many. */
size_t xcorr_spikes(const double *c, size_t cnt, const struct xcorr_stats *stats, double n,
		    double s, struct spike *ret, size_t cap);

/* The threshold N at which cnt values of pure noise show a spike with probability <= chance (normal
 * tail), but at least n_min. */
double xcorr_threshold(size_t cnt, double chance, double n_min);

#endif
