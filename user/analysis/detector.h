/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anomaly detectors over trace vectors: learn what is normal, then give each trace a score, an alarm if the
 * score is above nearly all normal ones, and the call paths that made it high.
 *
 * robust	Per path: how often it occurs, and the median and spread (MAD) of its log time. Three
 *		opinions: how unlikely the paths are that are there and missing, plus a heavy-tailed term for
 *		each unusual time; what is left of the vector after projection to the main directions in which
 *		normal traces vary together (PCA); and the one most unusual time, since many faults touch one
 *		call only and drown in a sum over hundreds.
 * autoencoder	One hidden layer (min(64, d / 2), ReLU) that must reproduce the standardised log times
 *		(missing = -1, as TraceAnomaly does), trained with Adam; two opinions: the mean squared error, and
 *		the largest.
 * Each opinion is measured from its median over held-out normal traces in units of the distance to its 99.9th
 * percentile there; the largest counts. The threshold is the 99.9th percentile of the scores of held-out normal traces (one in ten).
 * Training is deterministic. */
#ifndef CP_USER_ANALYSIS_DETECTOR_H
#define CP_USER_ANALYSIS_DETECTOR_H

#include "user/analysis/vectors.h"
#include "user/base/err.h"
#include "user/base/wire.h"

enum detector_kind {
	DETECTOR_ROBUST = 0,
	DETECTOR_AUTOENCODER = 1,
	DETECTOR_KIND_MAX = 2,
};

enum {
	DETECTOR_COMPONENTS_MAX = 8,
	DETECTOR_HIDDEN_MAX = 64,
	DETECTOR_PARTS = 3, /* opinions; those that a kind lacks are 0 */
	DETECTOR_COLUMNS_MAX = 1 << 20,
	DETECTOR_TRAIN_MIN = 20, /* traces */
};

struct detector {
	enum detector_kind kind;
	uint32_t columns;
	float *presence, *center, *spread; /* by column; spread > 0 */
	double unknown_cost;		   /* of a path that training never saw */
	uint32_t components;
	float *component; /* components x columns */
	double part_center[DETECTOR_PARTS], part_spread[DETECTOR_PARTS];
	uint32_t hidden, padded;  /* columns, rounded up to whole vectors */
	float *w1, *b1, *w2, *b2; /* padded x hidden, hidden, hidden x padded, padded */
	double threshold;
	float *row; /* scratch: a dense vector */
};

/* Learns from the rows of a set; 0, or -EINVAL if there are too few. */
int detector__train(struct detector *d, enum detector_kind kind, uint32_t columns,
		    const struct vector_set *set, struct err *err);
void detector__free(struct detector *d);

/* Why a score is high. column = SPAN_NONE: paths that training never saw. */
struct detector_reason {
	uint32_t column;
	double amount; /* of the score, before scaling */
	bool present;
	double seen_us, expected_us;
};
enum {
	DETECTOR_REASONS = 5
};

/* The score of a trace; > threshold is an alarm. reasons (may be NULL): the largest ones, descending, at most
 * DETECTOR_REASONS; *reason_cnt of them. O(columns x hidden) or O(columns x components). */
double detector__score(struct detector *d, const struct path_vector *v,
		       struct detector_reason *reasons, size_t *reason_cnt);

void detector__put(const struct detector *d, struct buf *out);
void detector__get(struct detector *d, struct wire *w); /* w->bad if it is none */

#endif
