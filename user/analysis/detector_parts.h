/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two kinds of detectors, for detector.c. Private to detector*.c. */
#ifndef CP_USER_ANALYSIS_DETECTOR_PARTS_H
#define CP_USER_ANALYSIS_DETECTOR_PARTS_H

#include "user/analysis/detector.h"

/* Rows that are learned from; the others set the threshold. */
static inline bool detector_is_held_out(size_t row)
{
	return row % 10 == 9;
}

/* A row without the paths that training never saw, their number beside it. */
struct detector_row {
	const struct vector_cell *cells;
	size_t cnt;
	uint32_t unknown_cnt;
};

/* parts: the opinions, raw. amounts (may be NULL): by column, what each contributed. */
void robust_train(struct detector *d, const struct vector_set *set);
void robust_parts(struct detector *d, const struct detector_row *row, double *parts,
		  double *amounts);
void autoencoder_train(struct detector *d, const struct vector_set *set);
void autoencoder_parts(struct detector *d, const struct detector_row *row, double *parts,
		       double *amounts);

/* Spreads of paths that were seen seldom are hardly known (of one value: 0): each is mixed with the typical
 * one, as if that had been seen ten times more, widened for the uncertainty of the center, and kept above a
 * twentieth. counts: by column, how often it was seen. */
void detector_shrink_spreads(struct detector *d, const size_t *counts);

/* Median of values, which get reordered. */
double detector_median(double *values, size_t cnt);

#endif
