/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/gapdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	EXACT_BINS = 32, /* one tick each */
	SUB_BINS_LOG2 = 4,
	FIRST_OCTAVE = 5, /* 2^5 = EXACT_BINS */
	REACH_MAX = 64,	  /* bins to each side that a kernel may reach */
};

/* Standard deviations to choose from, in ln(1 + ticks). The first one is next to no smoothing. */
static const double widths[] = { 0.02, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4 };

enum {
	WIDTHS_CNT = sizeof(widths) / sizeof(widths[0])
};

struct gap_kernels {
	/* share of a sample in bin b that goes to bin b - reach + j, by width */
	float share[WIDTHS_CNT][GAP_BINS][2 * REACH_MAX + 1];
	int reach[WIDTHS_CNT];
};

static uint32_t magnitude_bin(uint64_t ticks, uint32_t cap)
{
	uint32_t octave, bin;

	if (ticks < EXACT_BINS)
		return ticks < cap ? (uint32_t)ticks : cap - 1;
	octave = 63 - (uint32_t)__builtin_clzll(ticks);
	bin = EXACT_BINS + ((octave - FIRST_OCTAVE) << SUB_BINS_LOG2) +
	      (uint32_t)((ticks >> (octave - SUB_BINS_LOG2)) & ((1u << SUB_BINS_LOG2) - 1));
	return bin < cap ? bin : cap - 1;
}

uint32_t gap_bin(int64_t ticks)
{
	if (ticks >= 0)
		return GAP_NEG_BINS + magnitude_bin((uint64_t)ticks, GAP_HALF_BINS);
	return GAP_NEG_BINS - 1 - magnitude_bin((uint64_t) - (ticks + 1), GAP_NEG_BINS);
}

/* First tick of a bin of one half, and how many there are. */
static double half_low(uint32_t bin, double *width)
{
	uint32_t octave;

	*width = 1;
	if (bin < EXACT_BINS)
		return bin;
	octave = FIRST_OCTAVE + ((bin - EXACT_BINS) >> SUB_BINS_LOG2);
	*width = ldexp(1, (int)octave - SUB_BINS_LOG2);
	return ldexp(1, (int)octave) + *width * ((bin - EXACT_BINS) & ((1u << SUB_BINS_LOG2) - 1));
}

double gap_bin_width(uint32_t bin)
{
	double width;

	half_low(bin >= GAP_NEG_BINS ? bin - GAP_NEG_BINS : GAP_NEG_BINS - 1 - bin, &width);
	return width;
}

/* Where a bin's middle lies in ln(1 + ticks), mirrored for negative delays; *size: its extent there. */
static double log_place(uint32_t bin, double *size)
{
	bool negative = bin < GAP_NEG_BINS;
	double width,
		low = half_low(negative ? GAP_NEG_BINS - 1 - bin : bin - GAP_NEG_BINS, &width);
	double at = log(1 + low + (width - 1) / 2);

	*size = width > 1 ? width / (1 + low + (width - 1) / 2) : 1 / (1 + low);
	return negative ? -at - M_LN2 : at;
}

static void fill_row(float *row, int reach, const double *at, const double *size, uint32_t bin,
		     double width)
{
	double sum = 0;

	for (int j = -reach; j <= reach; j++) {
		int to = (int)bin + j;
		double d, v;

		if (to < 0 || to >= GAP_BINS)
			continue;
		d = (at[to] - at[bin]) / width;
		v = exp(-d * d / 2) * size[to];
		row[REACH_MAX + j] = (float)v;
		sum += v;
	}
	for (int j = -reach; j <= reach; j++)
		row[REACH_MAX + j] = (float)(row[REACH_MAX + j] / sum);
}

struct gap_kernels *gap_kernels_new(void)
{
	struct gap_kernels *k = xzalloc(sizeof(*k));
	double at[GAP_BINS], size[GAP_BINS];

	for (uint32_t b = 0; b < GAP_BINS; b++)
		at[b] = log_place(b, &size[b]);
	for (int w = 0; w < WIDTHS_CNT; w++) {
		k->reach[w] = (int)ceil(widths[w] * 3.5 / 0.0303);
		if (k->reach[w] > REACH_MAX)
			k->reach[w] = REACH_MAX;
		for (uint32_t b = 0; b < GAP_BINS; b++)
			fill_row(k->share[w][b], k->reach[w], at, size, b, widths[w]);
	}
	return k;
}

void gap_kernels_free(struct gap_kernels *k)
{
	free(k);
}

struct range {
	int from, to; /* bins with weight lie in [from, to) */
	double total;
};

static struct range range_of(const double *weights)
{
	struct range r = { .from = GAP_BINS };

	for (int b = 0; b < GAP_BINS; b++) {
		if (!(weights[b] > 0))
			continue;
		r.total += weights[b];
		r.from = b < r.from ? b : r.from;
		r.to = b + 1;
	}
	return r;
}

static void spread(const struct gap_kernels *k, int w, const double *weights, const struct range *r,
		   double *out)
{
	int reach = k->reach[w];

	memset(out, 0, GAP_BINS * sizeof(*out));
	for (int b = r->from; b < r->to; b++) {
		int lo = b - reach < 0 ? 0 : b - reach;
		int hi = b + reach + 1 > GAP_BINS ? GAP_BINS : b + reach + 1;
		const float *row = k->share[w][b] + REACH_MAX - b;

		if (!(weights[b] > 0))
			continue;
		for (int to = lo; to < hi; to++)
			out[to] += weights[b] * (double)row[to];
	}
}

/* How likely the samples are when each is predicted from the others. */
static double left_out(const struct gap_kernels *k, int w, const double *weights,
		       const struct range *r, const double *smooth)
{
	double ll = 0;

	for (int b = r->from; b < r->to; b++) {
		double own, rest;

		if (!(weights[b] > 0))
			continue;
		own = (weights[b] < 1 ? weights[b] : 1) * (double)k->share[w][b][REACH_MAX];
		rest = smooth[b] - own;
		ll += weights[b] * log((rest > 0 ? rest : 0) + 1e-4);
	}
	return ll;
}

void gap_smooth(const struct gap_kernels *k, const double *weights, double *probs)
{
	struct range r = range_of(weights);
	double best = -INFINITY, smooth[GAP_BINS];

	memset(probs, 0, GAP_BINS * sizeof(*probs));
	if (!(r.total > 0))
		return;
	for (int w = 0; w < WIDTHS_CNT; w++) {
		double ll;

		spread(k, w, weights, &r, smooth);
		ll = left_out(k, w, weights, &r, smooth);
		if (ll <= best)
			continue;
		best = ll;
		for (int b = 0; b < GAP_BINS; b++)
			probs[b] = smooth[b] / r.total;
	}
}

void gap_any(uint32_t low, uint32_t top, double *probs)
{
	double sum = 0, size;

	memset(probs, 0, GAP_BINS * sizeof(*probs));
	for (uint32_t b = low; b <= top && b < GAP_BINS; b++) {
		log_place(b, &size);
		probs[b] = size;
		sum += size;
	}
	for (uint32_t b = low; b <= top && b < GAP_BINS; b++)
		probs[b] /= sum;
}
