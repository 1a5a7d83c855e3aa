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

/* What a unit of mass gives to a bin `away` bins from it. Close to 1 when summed over all bins. */
static double kernel(double sigma, int away)
{
	double z = away / sigma;

	if (z > KERNEL_REACH || z < -KERNEL_REACH)
		return 0;
	return exp(-z * z / 2) / (sigma * 2.5066282746310002);
}

static double time_of(const struct scoreboard *b, int bin)
{
	double ns = (double)delaybins_mid_ns(b->bins, bin < 0 ? -1 - bin : bin);

	return bin < 0 ? -ns : ns;
}

/* Under a window: what a unit of mass in bin `from` gives to bin `to`, both as times. */
static double window_kernel(const struct scoreboard *b, int from, int to)
{
	double at_ns = time_of(b, from), away_ns = time_of(b, to) - at_ns;
	double sigma_ns = b->smooth_bins * log(DELAYBINS_RATIO) * fabs(at_ns), z;

	if (sigma_ns < (double)b->window_ns / 2)
		sigma_ns = (double)b->window_ns / 2;
	z = away_ns / sigma_ns;
	return fabs(z) > KERNEL_REACH ? 0 : exp(-z * z / 2);
}

static void smooth_dense(const struct scoreboard *b, struct scoreboard_hist *h)
{
	int cnt = b->bins->cnt, reach = (int)(b->smooth_bins * KERNEL_REACH);

	h->smoothed = xcalloc((size_t)cnt * 2, sizeof(*h->smoothed));
	if (b->window_ns)
		reach = 2 * cnt;
	for (int i = 0; i < 2 * cnt; i++) {
		if (!(h->dense[i] > 0))
			continue;
		for (int j = i - reach < 0 ? 0 : i - reach; j <= i + reach && j < 2 * cnt; j++)
			h->smoothed[j] +=
				h->dense[i] * (b->window_ns ? window_kernel(b, i - cnt, j - cnt) :
							      kernel(b->smooth_bins, j - i));
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
			       (b->window_ns ? window_kernel(b, h->sparse[i].bin, bin) :
					       kernel(b->smooth_bins, bin - h->sparse[i].bin));
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
