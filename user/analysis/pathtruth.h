/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How right inferred paths are (SOSP 2003, section 6.2; specs B.4): false negatives and positives in patterns,
 * instances and links, and the top-N rule: of the N truly most frequent patterns, which share is not among the
 * N most frequent inferred ones? With a tolerance t a true pattern also counts as found if its inferred count
 * is at least (1 - t) of the N-th inferred count, which forgives near ties. */
#ifndef CP_USER_ANALYSIS_PATHTRUTH_H
#define CP_USER_ANALYSIS_PATHTRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/paths.h"
#include "user/base/buf.h"
#include "user/base/json.h"

enum {
	PATHTRUTH_TOP_MAX = 64,
	PATHTRUTH_TOLERANCES = 3, /* 0, 2 %, 6 % */
};

struct pathtruth_count {
	uint64_t true_cnt, inferred_cnt, right_cnt;
};

struct pathtruth {
	struct pathtruth_count patterns, instances, links;
	size_t top_cnt; /* entries of miss: min(PATHTRUTH_TOP_MAX, true patterns) */
	double miss[PATHTRUTH_TOP_MAX][PATHTRUTH_TOLERANCES];
	uint64_t false_ranks
		[PATHTRUTH_TOP_MAX]; /* ranks (from 1) of inferred patterns that are not true */
	size_t false_rank_cnt;
};

/* true_of_call: by inferred call its number among the true calls, or CALL_NONE. Links are parents of calls
 * that have one. O(n log n). */
void pathtruth_judge(const struct paths *inferred, const struct paths *truth,
		     const uint32_t *true_of_call, struct pathtruth *ret);

void pathtruth_text(const struct pathtruth *r, struct buf *out);
void pathtruth_json(const struct pathtruth *r, struct json *j); /* members of the open object */

#endif
