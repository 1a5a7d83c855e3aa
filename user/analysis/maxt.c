/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Step-down max-T by permutation; see stats.h.
 *
 * A frame's values are centred and scaled to mean square 1 over all runs. Then its pooled t statistic is an
 * increasing function of |sum over one side|, the same function for every frame, because the sums over both
 * sides cancel and the total of squares is fixed. So permuting needs no divisions: a split of the runs costs
 * one addition a run and frame. Frames are worked through from the least to the most conspicuous: the largest
 * sum so far is what the step-down procedure compares with. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/stats.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

enum {
	BLOCK_FRAMES = 2048 /* sums of a block stay in the first-level cache */
};

uint64_t stats_splits(unsigned int before_cnt, unsigned int after_cnt, uint64_t limit)
{
	unsigned __int128 c = 1;

	for (unsigned int i = 1; i <= before_cnt; i++) {
		c = c * (after_cnt + i) / i;
		if (c > limit)
			return limit;
	}
	return (uint64_t)c;
}

double stats_permutation_p_min(unsigned int before_cnt, unsigned int after_cnt,
			       uint32_t permutation_cnt)
{
	uint64_t splits = stats_splits(before_cnt, after_cnt, permutation_cnt + UINT64_C(1));

	if (splits > permutation_cnt)
		return 1.0 / (permutation_cnt + 1.0);
	return (before_cnt == after_cnt ? 2.0 : 1.0) /
	       (double)splits; /* a split and its mirror tie */
}

struct max_t {
	size_t frame_cnt; /* that vary */
	unsigned int run_cnt, before_cnt;
	float *z; /* [run][rank]: standardised, from the least conspicuous frame on */
	size_t *frame_of;
	float *observed; /* by rank */
	uint32_t split_cnt;
	uint16_t *
		splits; /* [split][before_cnt] runs of the first side; split 0 is the observed one */
	float *largest;	  /* by split: of the ranks done so far */
	uint32_t *exceed; /* by rank: splits that reach the observed value */
};

struct conspicuous {
	double observed;
	size_t frame;
	double mean, scale;
};

static int compare_conspicuous(const void *a, const void *b)
{
	const struct conspicuous *x = a, *y = b;

	if (x->observed != y->observed)
		return x->observed < y->observed ? -1 : 1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* false: the frame does not vary. */
static bool standardise(const double *values, size_t frame_cnt, const struct max_t *m, size_t frame,
			struct conspicuous *ret)
{
	struct stats_moments all = stats_moments(values, frame_cnt, frame, 0, m->run_cnt);
	double sum = 0;

	if (!(all.variance > 0) || sqrt(all.variance) < fabs(all.mean) * 1e-12)
		return false;
	ret->frame = frame;
	ret->mean = all.mean;
	ret->scale = 1 / sqrt(all.variance * (m->run_cnt - 1) / m->run_cnt);
	for (unsigned int r = 0; r < m->before_cnt; r++)
		sum += (float)((values[r * frame_cnt + frame] - ret->mean) * ret->scale);
	ret->observed = fabs(sum);
	return true;
}

static void rank_frames(struct max_t *m, const double *values, size_t frame_cnt)
{
	struct conspicuous *c = xcalloc(frame_cnt + 1, sizeof(*c));

	for (size_t i = 0; i < frame_cnt; i++)
		if (standardise(values, frame_cnt, m, i, &c[m->frame_cnt]))
			m->frame_cnt++;
	qsort(c, m->frame_cnt, sizeof(*c), compare_conspicuous);
	m->z = xcalloc(m->run_cnt * m->frame_cnt + 1, sizeof(*m->z));
	m->frame_of = xcalloc(m->frame_cnt + 1, sizeof(*m->frame_of));
	m->observed = xcalloc(m->frame_cnt + 1, sizeof(*m->observed));
	for (size_t i = 0; i < m->frame_cnt; i++) {
		m->frame_of[i] = c[i].frame;
		for (unsigned int r = 0; r < m->run_cnt; r++)
			m->z[r * m->frame_cnt + i] =
				(float)((values[r * frame_cnt + c[i].frame] - c[i].mean) *
					c[i].scale);
	}
	free(c);
}

/* The next combination in lexicographic order. */
static void next_combination(uint16_t *runs, unsigned int cnt, unsigned int run_cnt)
{
	unsigned int i = cnt;

	while (i && runs[i - 1] == run_cnt - cnt + i - 1)
		i--;
	if (!i)
		return;
	runs[i - 1]++;
	for (; i < cnt; i++)
		runs[i] = (uint16_t)(runs[i - 1] + 1);
}

static void make_splits(struct max_t *m, uint32_t permutation_cnt, uint64_t seed)
{
	unsigned int k = m->before_cnt;
	uint64_t all = stats_splits(k, m->run_cnt - k, permutation_cnt + UINT64_C(1));
	struct prng random;
	uint16_t *deck = xcalloc(m->run_cnt, sizeof(*deck));

	m->split_cnt = all > permutation_cnt ? permutation_cnt + 1 : (uint32_t)all;
	m->splits = xcalloc((size_t)m->split_cnt * k, sizeof(*m->splits));
	for (unsigned int i = 0; i < m->run_cnt; i++)
		deck[i] = (uint16_t)i;
	memcpy(m->splits, deck,
	       k * sizeof(*deck)); /* the observed one, and the first combination */
	prng_init(&random, seed, 0);
	for (uint32_t s = 1; s < m->split_cnt; s++) {
		uint16_t *split = m->splits + (size_t)s * k;

		if (all <= permutation_cnt) {
			memcpy(split, split - k, k * sizeof(*split));
			next_combination(split, k, m->run_cnt);
			continue;
		}
		for (unsigned int i = 0; i < k; i++) { /* Fisher and Yates, as far as needed */
			unsigned int j = i + (unsigned int)prng_below(&random, m->run_cnt - i);
			uint16_t t = deck[i];

			deck[i] = deck[j];
			deck[j] = t;
		}
		memcpy(split, deck, k * sizeof(*split));
	}
	free(deck);
}

static void sum_block(const struct max_t *m, const uint16_t *split, size_t first, size_t cnt,
		      float *sums)
{
	memset(sums, 0, cnt * sizeof(*sums));
	for (unsigned int i = 0; i < m->before_cnt; i++) {
		const float *z = m->z + (size_t)split[i] * m->frame_cnt + first;

		for (size_t f = 0; f < cnt; f++)
			sums[f] += z[f];
	}
}

/* A tie must count as reached although sums were added in another order. */
static float with_slack(float observed)
{
	return observed - 1e-4F * (1 + observed);
}

static void count_block(struct max_t *m, size_t first, size_t cnt)
{
	float sums[BLOCK_FRAMES];

	for (uint32_t s = 0; s < m->split_cnt; s++) {
		float largest = m->largest[s];

		sum_block(m, m->splits + (size_t)s * m->before_cnt, first, cnt, sums);
		for (size_t f = 0; f < cnt; f++) {
			float v = fabsf(sums[f]);

			if (!s)
				m->observed[first + f] = with_slack(v);
			largest = v > largest ? v : largest;
			m->exceed[first + f] += largest >= m->observed[first + f];
		}
		m->largest[s] = largest;
	}
}

void stats_max_t(const double *values, size_t frame_cnt, unsigned int before_cnt,
		 unsigned int after_cnt, uint32_t permutation_cnt, uint64_t seed, double *p)
{
	struct max_t m = { .run_cnt = before_cnt + after_cnt, .before_cnt = before_cnt };
	double largest = 0;

	rank_frames(&m, values, frame_cnt);
	make_splits(&m, permutation_cnt, seed);
	m.largest = xcalloc(m.split_cnt, sizeof(*m.largest));
	m.exceed = xcalloc(m.frame_cnt + 1, sizeof(*m.exceed));
	for (size_t f = 0; f < m.frame_cnt; f += BLOCK_FRAMES)
		count_block(&m, f, m.frame_cnt - f < BLOCK_FRAMES ? m.frame_cnt - f : BLOCK_FRAMES);
	for (size_t i = 0; i < frame_cnt; i++)
		p[i] = 1;
	for (size_t i = m.frame_cnt;
	     i-- > 0;) { /* the more conspicuous frame's p is never larger */
		double own = (double)m.exceed[i] / m.split_cnt;

		largest = own > largest ? own : largest;
		p[m.frame_of[i]] = largest;
	}
	free(m.z);
	free(m.frame_of);
	free(m.observed);
	free(m.splits);
	free(m.largest);
	free(m.exceed);
}
