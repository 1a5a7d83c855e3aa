/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What if an operation were faster: the root's duration when every span of it took less time.
 *
 * The order among siblings is kept as it was seen: a child starts when all siblings that had
 * ended before it have ended, and as long after that (or after its parent's start) as it did; a parent ends as long after its last child as it
 * did. So time gained off the critical path gains nothing, and gains on it end where another branch takes
 * over. Source: CRISP (USENIX ATC 2022) section 6. O(n log n). */
#ifndef CP_USER_ANALYSIS_WHATIF_H
#define CP_USER_ANALYSIS_WHATIF_H

#include "user/analysis/spantree.h"

struct whatif_change {
	const char *service, *operation; /* NULL = any */
	double factor;			 /* of the duration, 1 = unchanged */
	int64_t less_ns;		 /* subtracted after that; the result is at least 0 */
};

struct whatif {
	int64_t *duration_ns; /* by span: the new one */
	size_t cap;
	uint32_t *order, *kids, *by_end;
	size_t kids_cap;
};

/* The new duration of an analysed root. */
int64_t whatif__root_ns(struct whatif *w, const struct spantree *t, uint32_t root,
			const struct whatif_change *changes, size_t change_cnt);
void whatif__free(struct whatif *w);

#endif
