/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays in bins of growing width; see delaybins.h. */
#include "user/analysis/delaybins.h"

#include <assert.h>

static int64_t round_up(double v)
{
	int64_t whole;

	if (v >= 9e18)
		return INT64_MAX;
	whole = (int64_t)v;
	return (double)whole < v ? whole + 1 : whole;
}

/* The bin of the smallest delay that has this index into lookup. */
static uint16_t first_bin(const struct delaybins *b, int index)
{
	int high = index / 8, bin = 0;
	int64_t smallest = high < 3 || high > 62 ? 0 : (int64_t)(8 + index % 8) << (high - 3);

	while (bin + 1 < b->cnt && smallest >= b->edges_ns[bin + 1])
		bin++;
	return (uint16_t)bin;
}

void delaybins_init(struct delaybins *b, int64_t first_ns, int cnt)
{
	double edge = (double)first_ns;

	assert(first_ns >= 1 && cnt >= 1 && cnt <= DELAYBINS_MAX_CNT);
	b->cnt = cnt;
	for (int i = 0; i < cnt; i++, edge *= DELAYBINS_RATIO)
		b->edges_ns[i] = round_up(edge);
	b->edges_ns[cnt] = INT64_MAX;
	for (int i = 0; i < DELAYBINS_LOOKUP_CNT; i++)
		b->lookup[i] = first_bin(b, i);
}

int64_t delaybins_mid_ns(const struct delaybins *b, int bin)
{
	int64_t low = b->edges_ns[bin];

	return bin + 1 >= b->cnt ? low : low + (b->edges_ns[bin + 1] - low) / 2;
}
