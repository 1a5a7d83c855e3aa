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

/* amounts (may be NULL): by column, what each contributed. */
void robust_train(struct detector *d, const struct vector_set *set);
double robust_score(struct detector *d, const struct vector_cell *cells, size_t cnt,
		    uint32_t unknown_cnt, double *amounts);
void autoencoder_train(struct detector *d, const struct vector_set *set);
double autoencoder_score(struct detector *d, const struct vector_cell *cells, size_t cnt,
			 uint32_t unknown_cnt, double *amounts);

/* Median of values, which get reordered. */
double detector_median(double *values, size_t cnt);

#endif
