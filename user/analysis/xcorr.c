/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/xcorr.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/fft.h"
#include "user/base/mem.h"

/* One pair of the direct sum costs about as much as this many butterflies (measured). */
#define PAIR_COST 0.35
/* A piece of the transform is at least this many quanta, and at least four times the lags. */
#define PIECE_MIN ((size_t)1 << 15)

struct signal signal_make(const int64_t *times_ns, size_t cnt, int64_t origin_ns,
			  int64_t quantum_ns)
{
	struct signal s = {
		.quanta = xcalloc(cnt + 1, sizeof(*s.quanta)),
		.values = xcalloc(cnt + 1, sizeof(*s.values)),
	};

	for (size_t i = 0; i < cnt; i++) {
		int64_t t = times_ns[i] - origin_ns;
		int64_t q = t / quantum_ns - (t % quantum_ns < 0);

		if (!s.cnt || s.quanta[s.cnt - 1] != q)
			s.quanta[s.cnt++] = q;
		s.values[s.cnt - 1] += 1;
	}
	for (size_t i = 0; i < s.cnt; i++)
		s.values[i] = sqrt(s.values[i]);
	return s;
}

void signal_free(struct signal *s)
{
	free(s->quanta);
	free(s->values);
	*s = (struct signal){ 0 };
}

static size_t first_at_least(const struct signal *s, size_t from, int64_t q)
{
	while (from < s->cnt && s->quanta[from] < q)
		from++;
	return from;
}

/* How many pairs of values lie within the lags. O(a + b). */
static double pairs_within(const struct signal *a, const struct signal *b, int64_t lag_min,
			   size_t lags_cnt)
{
	size_t lo = 0, hi = 0;
	double pairs = 0;

	for (size_t i = 0; i < a->cnt; i++) {
		lo = first_at_least(b, lo, a->quanta[i] + lag_min);
		hi = first_at_least(b, hi, a->quanta[i] + lag_min + (int64_t)lags_cnt);
		pairs += (double)(hi - lo);
	}
	return pairs;
}

static void correlate_direct(const struct signal *a, const struct signal *b, int64_t lag_min,
			     size_t lags_cnt, double *c)
{
	size_t lo = 0;

	for (size_t i = 0; i < a->cnt; i++) {
		int64_t base = a->quanta[i] + lag_min;

		lo = first_at_least(b, lo, base);
		for (size_t j = lo; j < b->cnt && b->quanta[j] - base < (int64_t)lags_cnt; j++)
			c[b->quanta[j] - base] += a->values[i] * b->values[j];
	}
}

/* Copies the values in [from, from + len) to the start of the field, the rest is zero; at is where the
 * last piece began. Returns whether there was any. */
static bool load_piece(const struct signal *s, size_t *at, int64_t from, size_t len, struct fft *f)
{
	double *x = fft_real(f);

	memset(x, 0, fft_len(f) * sizeof(*x));
	*at = first_at_least(s, *at, from);
	for (size_t i = *at; i < s->cnt && s->quanta[i] - from < (int64_t)len; i++)
		x[s->quanta[i] - from] = s->values[i];
	return *at < s->cnt && s->quanta[*at] - from < (int64_t)len;
}

struct pieces {
	struct fft *fft;
	size_t spectrum_cnt;
	size_t piece_quanta; /* of a; b's window is longer by the lags */
	double complex *a;
	double complex *b;
	double complex *sums; /* one row for each b */
	size_t *at;	      /* one for each b */
};

/* Adds conj(A) * B of one piece. Spectra add up, so one inverse transform at the end is enough. */
static void add_piece(struct pieces *p, const struct signal *b, size_t b_cnt, int64_t from,
		      size_t window)
{
	for (size_t n = 0; n < b_cnt; n++) {
		double complex *sum = p->sums + n * p->spectrum_cnt;

		if (!load_piece(&b[n], &p->at[n], from, window, p->fft))
			continue;
		fft_forward(p->fft, p->b);
		for (size_t k = 0; k < p->spectrum_cnt; k++)
			sum[k] += conj(p->a[k]) * p->b[k];
	}
}

static void correlate_pieces(const struct signal *a, const struct signal *b, size_t b_cnt,
			     int64_t lag_min, size_t lags_cnt, double *c)
{
	size_t len = fft_good_len(lags_cnt * 4 > PIECE_MIN ? lags_cnt * 4 : PIECE_MIN);
	struct pieces p = {
		.fft = fft_new(len),
		.spectrum_cnt = len / 2 + 1,
		.piece_quanta = len - lags_cnt,
	};
	size_t at = 0;

	p.a = xcalloc(p.spectrum_cnt, sizeof(*p.a));
	p.b = xcalloc(p.spectrum_cnt, sizeof(*p.b));
	p.sums = xcalloc(b_cnt * p.spectrum_cnt, sizeof(*p.sums));
	p.at = xcalloc(b_cnt + 1, sizeof(*p.at));
	while (at < a->cnt) {
		/* pieces begin at a value: stretches in which a is silent cost nothing */
		int64_t from = a->quanta[at];

		load_piece(a, &at, from, p.piece_quanta, p.fft);
		fft_forward(p.fft, p.a);
		add_piece(&p, b, b_cnt, from + lag_min, len);
		at = first_at_least(a, at, from + (int64_t)p.piece_quanta);
	}
	for (size_t n = 0; n < b_cnt; n++) {
		fft_inverse(p.fft, p.sums + n * p.spectrum_cnt);
		memcpy(c + n * lags_cnt, fft_real(p.fft), lags_cnt * sizeof(*c));
	}
	fft_free(p.fft);
	free(p.a);
	free(p.b);
	free(p.sums);
	free(p.at);
}

/* Estimated cost of the transforms in butterflies. */
static double pieces_cost(const struct signal *a, size_t b_cnt, size_t lags_cnt)
{
	double len = (double)fft_good_len(lags_cnt * 4 > PIECE_MIN ? lags_cnt * 4 : PIECE_MIN);
	double quanta = a->cnt ? (double)(a->quanta[a->cnt - 1] - a->quanta[0] + 1) : 0;
	double pieces = ceil(quanta / (len - (double)lags_cnt));

	if (pieces > (double)a->cnt)
		pieces = (double)a->cnt;
	return (pieces * (double)(b_cnt + 1) + (double)b_cnt) * len * log2(len);
}

void xcorr(const struct signal *a, const struct signal *b, size_t b_cnt, int64_t lag_min,
	   size_t lags_cnt, enum xcorr_engine engine, double *c)
{
	memset(c, 0, b_cnt * lags_cnt * sizeof(*c));
	if (!a->cnt || !lags_cnt)
		return;
	if (engine == XCORR_AUTO) {
		double pairs = 0;

		for (size_t n = 0; n < b_cnt; n++)
			pairs += pairs_within(a, &b[n], lag_min, lags_cnt);
		engine = pairs * PAIR_COST <= pieces_cost(a, b_cnt, lags_cnt) ? XCORR_DIRECT :
										XCORR_FFT;
	}
	if (engine == XCORR_FFT) {
		correlate_pieces(a, b, b_cnt, lag_min, lags_cnt, c);
		return;
	}
	for (size_t n = 0; n < b_cnt; n++)
		correlate_direct(a, &b[n], lag_min, lags_cnt, c + n * lags_cnt);
}

struct xcorr_stats xcorr_stats(const double *c, size_t cnt)
{
	struct xcorr_stats st = { 0 };
	double dev = 0;

	for (size_t i = 0; i < cnt; i++)
		st.mean += c[i];
	st.mean /= cnt ? (double)cnt : 1;
	for (size_t i = 0; i < cnt; i++)
		dev += (c[i] - st.mean) * (c[i] - st.mean);
	st.sigma = cnt ? sqrt(dev / (double)cnt) : 0;
	return st;
}

/* The highest value of c[from..to) and the middle of its first run. Values of the transform that should be
 * equal differ in the last digits, hence the tolerance. */
static struct spike highest(const double *c, size_t from, size_t to)
{
	struct spike top = { .at = from, .height = c[from] };
	size_t last;

	for (size_t i = from + 1; i < to; i++)
		if (c[i] > top.height * (1 + 1e-9))
			top = (struct spike){ .at = i, .height = c[i] };
	for (last = top.at; last + 1 < to && c[last + 1] >= top.height * (1 - 1e-9);)
		last++;
	top.at += (last - top.at) / 2;
	return top;
}

size_t xcorr_spikes(const double *c, size_t cnt, const struct xcorr_stats *stats, double n,
		    double s, struct spike *ret, size_t cap)
{
	double floor_level = stats->mean + s * stats->sigma;
	double spike_level = stats->mean + n * stats->sigma;
	size_t found = 0;

	if (!(stats->sigma > 1e-12 * fabs(stats->mean)))
		return 0;
	for (size_t i = 0; i < cnt && found < cap;) {
		size_t to = i;
		struct spike top;

		while (to < cnt && c[to] > floor_level)
			to++;
		if (to == i) {
			i++;
			continue;
		}
		top = highest(c, i, to);
		if (top.height >= spike_level)
			ret[found++] = top;
		i = to;
	}
	return found;
}

double xcorr_threshold(size_t cnt, double chance, double n_min)
{
	double lo = n_min, hi = 40;

	if ((double)cnt * 0.5 * erfc(lo / M_SQRT2) <= chance)
		return n_min;
	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if ((double)cnt * 0.5 * erfc(mid / M_SQRT2) <= chance)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}
