/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scoreboard of the nesting algorithm (specs B.2): a histogram of delays for each kind of nesting, and
 * its smoothing. Histograms of few delays are kept as lists, so that ten thousand rare kinds cost little.
 *
 * Smoothing spreads a bin's mass over its neighbours as a Gaussian of smooth_bins. Under a window W for skewed
 * clocks delays may be near zero, where bins are far narrower than what they have to hold, and negative. Then a
 * score is the mass around the delay in linear time, weighed by a Gaussian of W/2 or of smooth_bins if that is
 * wider: bins of any width compare. (Specs B.2 spreads within bins, up to 60: peaks near zero lose by it.)
 *
 * Negative delays, which only a window admits, have bins of their own: -k-1 for the delay of bin k. */
#ifndef CP_USER_ANALYSIS_SCOREBOARD_H
#define CP_USER_ANALYSIS_SCOREBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/delaybins.h"
#include "user/base/index.h"

struct scoreboard_hist;

struct scoreboard {
	const struct delaybins *bins;
	double smooth_bins;
	int64_t window_ns;
	struct index index; /* hash of (from, to) */
	struct scoreboard_hist *hists;
	size_t cnt, cap;
};

void scoreboard_init(struct scoreboard *b, const struct delaybins *bins, double smooth_bins,
		     int64_t window_ns);
void scoreboard_fini(struct scoreboard *b);

/* The number of the histogram for (from, to), made if it is new. */
uint32_t scoreboard_hist(struct scoreboard *b, uint32_t from, uint32_t to);
void scoreboard_add(struct scoreboard *b, uint32_t hist, int64_t delay_ns, double mass);
/* After the last add, before the first score. O(bins * sigma) for each large histogram. */
void scoreboard_smooth(struct scoreboard *b);
double scoreboard_score(const struct scoreboard *b, uint32_t hist, int64_t delay_ns);
double scoreboard_mass(const struct scoreboard *b); /* of all histograms, as added */

#endif
