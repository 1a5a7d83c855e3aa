/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The critical path of a span tree: which span determined the latency at each moment.
 *
 * From the end of the root backwards: what a span did last was wait for the child that finished last before
 * that moment; before the child started, the span itself, or an earlier child. This gives sections (span,
 * from, to) that tile the root exactly. Children that overlap by less than a tolerance (1 ms or 1 % of the
 * parent, the smaller) are taken as one after the other, since clocks of two machines never agree; the
 * overlap is cut from the earlier one, so that nothing counts twice. Equal ends: the longer child, since it
 * kept the parent waiting longer. Where a child's start is known to have been released by another span (a
 * recorded wake-up), that span's branch is followed instead of the child that ended last.
 *
 * Source: CRISP (USENIX ATC 2022) section 4.2, with sections instead of span durations. O(n log n). */
#ifndef CP_USER_ANALYSIS_CRITPATH_H
#define CP_USER_ANALYSIS_CRITPATH_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/spantree.h"

enum critpath_rule {
	CRITPATH_SECTIONS = 0, /* as above */
	CRITPATH_EXACT,	       /* no tolerance */
	CRITPATH_JAEGER, /* as the Jaeger UI: no tolerance, ties to the earlier start, a child that
				  ends exactly where the next one starts is passed over */
	CRITPATH_CRISP2022, /* as CRISP was published: no sections; overlaps count twice */
};

struct section {
	uint32_t span;
	int64_t from_ns, to_ns;
};

/* A span on the path, parents before children. */
struct path_node {
	uint32_t span;
	uint32_t parent;      /* index of its parent's path_node; SPAN_NONE for the root */
	int64_t inclusive_ns; /* its time as far as it lies on the path */
	int64_t exclusive_ns; /* inclusive less that of its children on the path */
};

struct critpath {
	struct section *sections; /* latest first */
	size_t section_cnt, section_cap;
	struct path_node *nodes;
	size_t node_cnt, node_cap;
	struct walk_frame *stack;
	size_t stack_cap;
	uint32_t *order; /* children of the spans on the stack, sorted */
	size_t order_cap;
	int64_t *starts; /* CRISP's rule: sorted starts of a span's children */
	size_t starts_cap;
};

/* Fills *p (zero-initialised, or from before) for one analysed root of the tree. */
void critpath__find(struct critpath *p, struct spantree *t, uint32_t root, enum critpath_rule rule);
void critpath__free(struct critpath *p);

/* min(1 ms, 1 % of the parent); 0 for the rules without one. */
int64_t critpath_tolerance_ns(int64_t parent_ns, enum critpath_rule rule);

#endif
