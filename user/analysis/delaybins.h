/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays in bins of growing width: bin k holds [first * 1.05^k, first * 1.05^(k+1)), so that microseconds and
 * hours fit into one histogram at 5 % resolution (SOSP 2003 has 340 bins from 1 ms; specs B.2). Edges come
 * from repeated multiplication, not from log(), so that a delay falls into the same bin on every machine. */
#ifndef CP_USER_ANALYSIS_DELAYBINS_H
#define CP_USER_ANALYSIS_DELAYBINS_H

#include <stdint.h>

enum {
	DELAYBINS_MAX_CNT = 480,
	DELAYBINS_LOOKUP_CNT = 64 * 8,
};

#define DELAYBINS_RATIO 1.05

struct delaybins {
	int cnt;
	int64_t edges_ns[DELAYBINS_MAX_CNT +
			 1]; /* lower edges, rounded up; the last one is INT64_MAX */
	uint16_t lookup[DELAYBINS_LOOKUP_CNT]; /* first bin of an eighth of a power of two */
};

/* first_ns >= 1, 1 <= cnt <= DELAYBINS_MAX_CNT. 480 bins from 1 us reach 4 hours. */
void delaybins_init(struct delaybins *b, int64_t first_ns, int cnt);

/* Below the first edge is bin 0, above the last the last one. O(1). */
static inline int delaybins_of(const struct delaybins *b, int64_t delay_ns)
{
	int high, bin;

	if (delay_ns < 8)
		delay_ns = delay_ns < 0 ? 0 : delay_ns;
	if (delay_ns < 8) {
		bin = 0;
	} else {
		high = 63 - __builtin_clzll((unsigned long long)delay_ns);
		bin = b->lookup[high * 8 + (int)(delay_ns >> (high - 3) & 7)];
	}
	while (delay_ns >= b->edges_ns[bin + 1])
		bin++;
	return bin;
}

/* The middle of a bin (geometric mean of its edges would differ by 0.03 %). */
int64_t delaybins_mid_ns(const struct delaybins *b, int bin);

#endif
