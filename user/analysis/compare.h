/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two populations of traces against each other (before and after a release, one machine type against
 * another), with confidence.
 *
 * Root durations: quantiles with distribution-free 95 % intervals from order statistics (the ranks n q +-
 * 1.96 sqrt(n q (1 - q))). Operations: mean exclusive time on the critical path per trace, traces without the
 * operation as 0; Welch's interval and test for the difference (normal approximation, meant for 30 traces or
 * more a side), and, as many operations are tested at once, Benjamini-Hochberg q values. Of grouped traces
 * only group means are known, so that intervals come out a little too narrow. */
#ifndef CP_USER_ANALYSIS_COMPARE_H
#define CP_USER_ANALYSIS_COMPARE_H

#include "user/analysis/ccct.h"

enum {
	COMPARE_QUANTILES = 4, /* 0.50, 0.90, 0.95, 0.99 */
};
extern const double compare_quantiles[COMPARE_QUANTILES];

struct compare_quantile {
	int64_t a_ns, a_low_ns, a_high_ns, b_ns, b_low_ns, b_high_ns;
};

struct compare_row {
	const char *service, *operation; /* borrowed from the ccct that has it */
	double a_ns, b_ns;		 /* means per trace */
	double change_ns, margin_ns;	 /* b - a, +- at 95 % */
	double q;			 /* below 0.05: hardly chance */
};

struct comparison {
	uint64_t a_cnt, b_cnt;
	struct compare_quantile quantiles[COMPARE_QUANTILES];
	struct compare_row *rows; /* by |change|, descending */
	size_t row_cnt;
};

/* Both finished; to be freed before them. */
void comparison__fill(struct comparison *x, const struct ccct *a, const struct ccct *b);
void comparison__free(struct comparison *x);

#endif
