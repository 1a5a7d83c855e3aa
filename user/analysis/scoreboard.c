/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scoreboard of the nesting algorithm; see scoreboard.h. */
#include "user/analysis/scoreboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

enum {
	SPARSE_MAX_CNT = 32,
	KERNEL_REACH = 4, /* sigmas */
};

struct sparse {
	int bin;
	double mass;
};

struct scoreboard_hist {
	uint32_t from, to;
	struct sparse *sparse; /* while cnt <= SPARSE_MAX_CNT */
	size_t cnt, cap;
	double *dense; /* bins -cnt .. cnt-1 at [bin + cnt]; NULL while sparse */
	double *smoothed;
	double mass;
};

void scoreboard_init(struct scoreboard *b, const struct delaybins *bins, double smooth_bins,
		     int64_t window_ns)
{
	*b = (struct scoreboard){ .bins = bins,
				  .smooth_bins = smooth_bins,
				  .window_ns = window_ns };
}

void scoreboard_fini(struct scoreboard *b)
{
	for (size_t i = 0; i < b->cnt; i++) {
		free(b->hists[i].sparse);
		free(b->hists[i].dense);
		free(b->hists[i].smoothed);
	}
	free(b->hists);
	index_free(&b->index);
}

uint32_t scoreboard_hist(struct scoreboard *b, uint32_t from, uint32_t to)
{
	uint64_t hash = hash_pair(from, to);
	struct index_iter it = index_find(&b->index, hash);

	for (; index_hit(&b->index, &it); index_next(&b->index, &it))
		if (b->hists[it.elem].from == from && b->hists[it.elem].to == to)
			return it.elem;
	b->hists = xgrow(b->hists, &b->cap, b->cnt + 1, sizeof(*b->hists));
	b->hists[b->cnt] = (struct scoreboard_hist){ .from = from, .to = to };
	index_add(&b->index, hash, (uint32_t)b->cnt);
	return (uint32_t)b->cnt++;
}

static int signed_bin(const struct scoreboard *b, int64_t delay_ns)
{
	return delay_ns < 0 ? -1 - delaybins_of(b->bins, -delay_ns) :
			      delaybins_of(b->bins, delay_ns);
}

static void make_dense(const struct scoreboard *b, struct scoreboard_hist *h)
{
	h->dense = xcalloc((size_t)b->bins->cnt * 2, sizeof(*h->dense));
	for (size_t i = 0; i < h->cnt; i++)
		h->dense[h->sparse[i].bin + b->bins->cnt] = h->sparse[i].mass;
	free(h->sparse);
	h->sparse = NULL;
}

void scoreboard_add(struct scoreboard *b, uint32_t hist, int64_t delay_ns, double mass)
{
	struct scoreboard_hist *h = &b->hists[hist];
	int bin = signed_bin(b, delay_ns);

	h->mass += mass;
	if (!h->dense) {
		for (size_t i = 0; i < h->cnt; i++)
			if (h->sparse[i].bin == bin) {
				h->sparse[i].mass += mass;
				return;
			}
		if (h->cnt < SPARSE_MAX_CNT) {
			h->sparse = xgrow(h->sparse, &h->cap, h->cnt + 1, sizeof(*h->sparse));
			h->sparse[h->cnt++] = (struct sparse){ bin, mass };
			return;
		}
		make_dense(b, h);
	}
	h->dense[bin + b->bins->cnt] += mass;
}

/* The width of the Gaussian around a bin. */
static double sigma_of(const struct scoreboard *b, int bin)
{
	int64_t delay_ns = delaybins_mid_ns(b->bins, bin < 0 ? -1 - bin : bin);
	double skew_bins;

	if (!b->window_ns || !(b->smooth_bins > 0))
		return b->smooth_bins;
	skew_bins = (double)b->window_ns / 2 / ((double)delay_ns * log(DELAYBINS_RATIO));
	if (skew_bins > SCOREBOARD_SIGMA_MAX)
		skew_bins = SCOREBOARD_SIGMA_MAX;
	return skew_bins > b->smooth_bins ? skew_bins : b->smooth_bins;
}

/* What a unit of mass gives to a bin `away` bins from it. Close to 1 when summed over all bins. */
static double kernel(double sigma, int away)
{
	double z = away / sigma;

	if (z > KERNEL_REACH || z < -KERNEL_REACH)
		return 0;
	return exp(-z * z / 2) / (sigma * 2.5066282746310002);
}

static void smooth_dense(const struct scoreboard *b, struct scoreboard_hist *h)
{
	int cnt = b->bins->cnt;

	h->smoothed = xcalloc((size_t)cnt * 2, sizeof(*h->smoothed));
	for (int i = 0; i < 2 * cnt; i++) {
		double sigma = sigma_of(b, i - cnt);
		int reach = (int)(sigma * KERNEL_REACH);

		if (!(h->dense[i] > 0))
			continue;
		for (int j = i - reach < 0 ? 0 : i - reach; j <= i + reach && j < 2 * cnt; j++)
			h->smoothed[j] += h->dense[i] * kernel(sigma, j - i);
	}
}

void scoreboard_smooth(struct scoreboard *b)
{
	for (size_t i = 0; i < b->cnt && b->smooth_bins > 0; i++)
		if (b->hists[i].dense)
			smooth_dense(b, &b->hists[i]);
}

double scoreboard_score(const struct scoreboard *b, uint32_t hist, int64_t delay_ns)
{
	const struct scoreboard_hist *h = &b->hists[hist];
	int bin = signed_bin(b, delay_ns);
	double sum = 0;

	if (h->dense)
		return (h->smoothed ? h->smoothed : h->dense)[bin + b->bins->cnt];
	for (size_t i = 0; i < h->cnt; i++) {
		if (b->smooth_bins > 0)
			sum += h->sparse[i].mass *
			       kernel(sigma_of(b, h->sparse[i].bin), bin - h->sparse[i].bin);
		else if (h->sparse[i].bin == bin)
			return h->sparse[i].mass;
	}
	return sum;
}

double scoreboard_mass(const struct scoreboard *b)
{
	double sum = 0;

	for (size_t i = 0; i < b->cnt; i++)
		sum += b->hists[i].mass;
	return sum;
}
