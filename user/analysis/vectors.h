/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces as vectors, for anomaly detection: one column a call path.
 *	SCPV  time of the path on the critical path, exclusive (CRISP's service critical path vector)
 *	STV   response time of the path anywhere in the trace (TraceAnomaly's service trace vector)
 * A path that occurs several times counts with the sum. The vocabulary is the set of paths seen in training;
 * a path that is not in it counts as unknown.
 * Sources: CRISP (USENIX ATC 2022) section 6; Liu et al., TraceAnomaly (ISSRE 2020). */
#ifndef CP_USER_ANALYSIS_VECTORS_H
#define CP_USER_ANALYSIS_VECTORS_H

#include "user/analysis/ccct.h"
#include "user/analysis/critpath.h"

enum vector_kind {
	VECTOR_SCPV = 0,
	VECTOR_STV = 1,
	VECTOR_KIND_MAX = 2,
};

enum {
	VECTOR_UNKNOWN_KEPT = 8
};

struct vector_cell {
	uint32_t column;
	float log_us; /* ln(1 + time in us) */
};

struct path_vector {
	struct vector_cell *cells; /* by column */
	size_t cnt, cap;
	uint32_t unknown_cnt;
	uint32_t unknown[VECTOR_UNKNOWN_KEPT]; /* spans with a path that training never saw */
};

struct vectorizer {
	struct ccct dict; /* its paths are the columns */
	enum vector_kind kind;
	int64_t *sums_ns; /* by column */
	size_t sums_cap;
	uint32_t *path_of; /* by span, or by node of the critical path */
	uint32_t *stack;
	size_t path_cap;
};

/* The vector of one analysed root. learn adds unknown paths to the vocabulary. */
void vectorizer__make(struct vectorizer *v, const struct spantree *t, const struct critpath *p,
		      bool learn, struct path_vector *ret);
void vectorizer__free(struct vectorizer *v);
void path_vector__free(struct path_vector *v);

/* Rows of a training set. */
struct vector_set {
	struct vector_cell *cells;
	size_t *row_off; /* row_cnt + 1 */
	size_t row_cnt, row_cap, cell_cnt, cell_cap;
};

void vector_set__add(struct vector_set *s, const struct path_vector *v);
void vector_set__free(struct vector_set *s);

#endif
