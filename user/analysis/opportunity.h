/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the spans beside the critical path say: how far each could shrink (drag) or grow (slack) before the
 * path changes, and patterns that are often worth a look: calls made one after the other that might run at
 * once, one call repeated many times (N+1), calls whose time is mostly the way there and back, reads of a
 * store. These are hints: whether two calls share data no trace can tell.
 *
 * Drag of a span on the path: its duration, at most the gap to the next earlier end among its siblings.
 * Slack of a span off the path: until the next sibling on the path starts (or the last one ends); below a
 * span off the path, its slack and the time to the last sibling's end. */
#ifndef CP_USER_ANALYSIS_OPPORTUNITY_H
#define CP_USER_ANALYSIS_OPPORTUNITY_H

#include "user/analysis/ccct.h"

enum {
	REPEATED_CALLS_MIN = 5,
	CLOCK_BUCKETS_PER_OCTAVE = 8,
};

struct opportunity {
	uint32_t *path;	   /* by span: its call path */
	int64_t *slack_ns; /* by span; -1 = on the critical path */
	size_t cap;
	uint32_t *stack, *kids;
	size_t stack_cap, kids_cap;
	int64_t *starts;
	size_t starts_cap;
};

/* Adds facts about the tree below one analysed root, whose path p is. O(n log n). */
void opportunity__add(struct opportunity *o, struct ccct *c, const struct spantree *t,
		      const struct critpath *p);
/* The clock offsets that the tree recorded. */
void opportunity__add_clocks(struct ccct *c, const struct spantree *t);
void opportunity__free(struct opportunity *o);

/* A hint about one call path of an entry, for the report. share: of the entry's root time. */
enum hint_kind {
	HINT_DOMINANT,	/* one operation makes most of the fast half already */
	HINT_SERIAL,	/* path, then other: might run at once */
	HINT_REPEATED,	/* N+1 */
	HINT_TRANSPORT, /* mostly the way there and back */
	HINT_STORE,	/* a read of a store: could be cached */
	HINT_KIND_MAX,
};

struct hint {
	enum hint_kind kind;
	uint32_t path, other;
	double share; /* of the root time that it concerns, 0..1 */
	uint64_t cnt, more_cnt;
};
/* Sorted by share, descending; owned by the caller. */
struct hint *opportunity_hints(const struct ccct *c, size_t *cnt);

/* What is known about the clocks of two hosts. */
struct clock_offset {
	uint32_t client, server; /* frames: (host or service, "") */
	uint64_t cnt, shifted_cnt;
	int64_t median_ns;
};
struct clock_offset *opportunity_clocks(const struct ccct *c, size_t *cnt);

#endif
