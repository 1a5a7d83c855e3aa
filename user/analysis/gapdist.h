/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions of delays, learned from weighted samples.
 *
 * Delays of computers spread over many orders of magnitude and have long tails, so a density is kept as a
 * histogram whose bins grow with the delay (16 in each octave, 3 to 6 % wide) and smoothed by a Gaussian in
 * the logarithm. Below 32 clock ticks a bin is exactly one tick, so a coarse clock loses nothing. The
 * width of the Gaussian is the one under which left-out samples are most likely (cross-validation).
 * Densities are per clock tick, so that different delays of the same clock compare.
 * Tests: tests/unit/test_gapdist.c. */
#ifndef CP_USER_ANALYSIS_GAPDIST_H
#define CP_USER_ANALYSIS_GAPDIST_H

#include <stddef.h>
#include <stdint.h>

enum {
	GAP_HALF_BINS = 544, /* of delays >= 0, the last one up to 2^36 ticks and more */
	GAP_NEG_BINS = 160,  /* of delays < 0 (clock skew), mirrored */
	GAP_BINS = GAP_HALF_BINS + GAP_NEG_BINS,
};

/* The bin of a delay in ticks. O(1). */
uint32_t gap_bin(int64_t ticks);
/* How many ticks a bin holds. */
double gap_bin_width(uint32_t bin);

/* Kernels of all widths; made once, shared. Owned by the caller. */
struct gap_kernels;
struct gap_kernels *gap_kernels_new(void);
void gap_kernels_free(struct gap_kernels *k);

/* Turns sample weights by bin into a probability by bin (sums to 1), smoothed as said above.
 * Without any weight the result is all zero. O(bins in use * bandwidth). */
void gap_smooth(const struct gap_kernels *k, const double *weights, double *probs);

/* The probability by bin of "any delay": uniform in the logarithm over bins low..top. */
void gap_any(uint32_t low, uint32_t top, double *probs);

#endif
