/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical calling context trees: critical paths of many traces, added up by call path.
 *
 * A frame is (service, operation), a call path a chain of frames from the root of a trace; an entry is a call
 * path of length one. Each trace gives a group of cells (call path, times on its critical path). Up to
 * CCCT_EXACT_CELLS cells the groups are single traces; beyond, traces of one entry and one root duration
 * (within 1/64 of a power of two) become one group, so that memory does not grow with the number of traces.
 * Whether that happens depends only on what was added altogether: adding and merging in any order and any
 * grouping gives the same tree. Sums are integers.
 *
 * Source: CRISP (USENIX ATC 2022) section 5. Adding a trace is O(its path); merging O(size). */
#ifndef CP_USER_ANALYSIS_CCCT_H
#define CP_USER_ANALYSIS_CCCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/ccct_facts.h"
#include "user/analysis/critpath.h"
#include "user/base/buf.h"
#include "user/base/index.h"
#include "user/base/strtab.h"

enum {
	CCCT_EXACT_CELLS = 1 << 18,
	CCCT_EXAMPLES = 3,
};

struct ccct_frame {
	uint32_t service_sid, operation_sid;
	uint64_t trace_cnt; /* traces with the frame on their critical path */
};

struct ccct_example {
	uint32_t trace_sid, span_sid; /* 0 = none */
	int64_t ns;
};

struct ccct_path {
	uint32_t parent; /* SPAN_NONE = an entry */
	uint32_t frame;
	struct ccct_example inclusive;		      /* the worst */
	struct ccct_example exclusive[CCCT_EXAMPLES]; /* the worst, descending */
};

struct ccct_cell {
	uint32_t path;
	uint32_t trace_cnt; /* traces of the group with this path */
	uint64_t freq;	    /* spans */
	int64_t inclusive_ns, exclusive_ns;
};

/* Traces of one entry: cells[first_cell .. first_cell + cell_cnt). */
struct ccct_group {
	uint32_t entry;	    /* path */
	uint32_t trace_sid; /* the trace, 0 if there are several */
	uint64_t trace_cnt;
	int64_t root_ns; /* sum over the traces */
	uint64_t span_cnt, path_span_cnt;
	size_t first_cell;
	uint32_t cell_cnt;
};

struct ccct {
	struct strtab strings;
	struct ccct_totals totals;
	struct ccct_frame *frames;
	size_t frame_cnt, frame_cap;
	struct index frame_index;
	struct ccct_path *paths;
	size_t path_cnt, path_cap;
	struct index path_index;
	uint32_t *
		path_rank; /* by ccct__rank: places in the order of texts, while path_cnt = ranked_cnt */
	size_t ranked_cnt;
	struct ccct_group *groups;
	size_t group_cnt, group_cap;
	struct ccct_cell *cells;
	size_t cell_cnt, cell_cap;
	struct ccct_fact *facts;
	size_t fact_cnt, fact_cap;
	struct index fact_index;
	uint64_t cells_added; /* ever, here and in what was merged: decides on grouping */
	size_t grouped_cells; /* after the last grouping */
	uint64_t trace_cnt;   /* analysed roots */
	struct ccct_seen {    /* per path (and frame): where the group under work has it */
		uint64_t serial;
		uint32_t cell;
	} * path_seen, *frame_seen;
	size_t path_seen_cap, frame_seen_cap;
	uint64_t serial;
};

/* All start zero-initialised. */
void ccct__free(struct ccct *c);
uint32_t ccct__frame(struct ccct *c, const char *service, const char *operation);
uint32_t ccct__path(struct ccct *c, uint32_t parent, uint32_t frame);
/* The path of this frame below parent, SPAN_NONE if there is none. */
uint32_t ccct__find_path(const struct ccct *c, uint32_t parent, const char *service,
			 const char *operation);
/* Adds the critical path of one root of a tree. */
void ccct__add(struct ccct *c, const struct spantree *t, const struct critpath *p);
/* Counts what reading and building a tree had to say about a trace. */
void ccct__count(struct ccct *c, const struct spantree *t);
/* Adds to the fact with this kind, path, other and bucket. */
void ccct__add_fact(struct ccct *c, const struct ccct_fact *f);
const struct ccct_fact *ccct__find_fact(const struct ccct *c, const struct ccct_fact *key);
void ccct__merge(struct ccct *c, const struct ccct *other);
/* Groups if need be, and sorts groups by (entry, mean root duration, trace id), cells by call path: after
 * this equal contents are equal in order too. To be called before reading. */
void ccct__finish(struct ccct *c);

/* For reading back: begins a group; adds to the group begun last. */
void ccct__begin_group(struct ccct *c, const struct ccct_group *g);
void ccct__add_cell(struct ccct *c, const struct ccct_cell *cell);
void ccct__keep_examples(struct ccct *c, uint32_t path, const struct ccct_example *inclusive,
			 const struct ccct_example *exclusive);

/* "[service] operation" appended; with separators of folded text (';') replaced by '_' when asked. */
void ccct__put_frame(const struct ccct *c, uint32_t frame, bool folded, struct buf *out);
void ccct__put_path(const struct ccct *c, uint32_t path, const char *separator, struct buf *out);
/* Orders paths by their frames' texts from the root; parents before children. Ranks make a comparison O(1),
 * without them it is O(depth); ccct__finish ranks. */
void ccct__rank(struct ccct *c);
int ccct__compare_paths(const struct ccct *c, uint32_t a, uint32_t b);
int ccct__compare_frames(const struct ccct *c, uint32_t a, uint32_t b);
/* The entry of each path. Owned by the caller; path_cnt of them. O(paths). */
uint32_t *ccct__entries_of(const struct ccct *c);

#endif
