/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of a finished ccct: the times per call path over the fastest x % of traces (flame graphs and their
 * differences), operations over all entries (bottom-up), and quantiles per operation (heat map).
 *
 * Percentages refer to the traces of one entry, sorted by root duration: P(x) takes the first n x / 100 of
 * them, rounded half up. Where traces are grouped, a group is taken in part, in proportion.
 * Source: CRISP (USENIX ATC 2022) section 6. */
#ifndef CP_USER_ANALYSIS_CCCT_GRAPH_H
#define CP_USER_ANALYSIS_CCCT_GRAPH_H

#include "user/analysis/ccct.h"

struct ccct_times {
	int64_t inclusive_ns, exclusive_ns;
	uint64_t freq;
};

struct ccct_graph {
	struct ccct_times *paths; /* by path, path_cnt of them */
	size_t path_cnt;
	uint64_t trace_cnt;
	int64_t root_ns; /* sum */
};

/* Traces from from_pct (0..100) to to_pct of each entry, or of one. */
void ccct_graph__fill(struct ccct_graph *g, const struct ccct *c, uint32_t entry, double from_pct,
		      double to_pct);
void ccct_graph__free(struct ccct_graph *g);

/* The paths that have a time in one of the graphs (b may be NULL), in the order of their texts. Owned by the
 * caller. */
uint32_t *ccct_graph__order(const struct ccct *c, const struct ccct_graph *a,
			    const struct ccct_graph *b, size_t *cnt);
/* Scales a's time to b's total, as difffolded -n does; a's own time if either has none. */
int64_t ccct_graph__scaled_ns(const struct ccct_graph *a, const struct ccct_graph *b,
			      uint32_t path);

/* One operation over all entries. */
struct ccct_rank {
	uint32_t frame;
	int64_t inclusive_ns, exclusive_ns;
	uint64_t freq, trace_cnt;
	uint32_t entry_cnt; /* entries from which it is reached on a critical path */
};
/* By exclusive time, descending. Owned by the caller. */
struct ccct_rank *ccct_rank_all(const struct ccct *c, size_t *cnt);

/* The entries, by total root time, descending. Owned by the caller. */
struct ccct_entry {
	uint32_t path;
	uint64_t trace_cnt;
	int64_t root_ns;
	uint64_t span_cnt, path_span_cnt;
	int64_t p50_ns, p95_ns, p99_ns, max_ns; /* of root durations */
};
struct ccct_entry *ccct_entries(const struct ccct *c, size_t *cnt);

enum {
	HEATMAP_QUANTILES = 3
};

struct heatmap_row {
	uint32_t frame;	     /* SPAN_NONE: the root durations */
	uint64_t occurrence; /* traces where it has exclusive time */
	int64_t total_ns;    /* exclusive */
	double inclusive_ns[HEATMAP_QUANTILES], exclusive_ns[HEATMAP_QUANTILES];
};

/* rows[0] is the root; then operations by total exclusive time, descending. Quantiles (0.50, 0.95, 0.99) are
 * over the traces where the value is not zero, interpolated linearly. Columns are groups (traces) by root
 * duration, descending; cells hold exclusive ns, row by row. */
struct heatmap {
	uint64_t trace_cnt;
	struct heatmap_row *rows;
	size_t row_cnt;
	uint32_t *columns; /* indices of groups */
	size_t column_cnt;
	int64_t *cells_ns;
};
extern const double heatmap_quantiles[HEATMAP_QUANTILES];
void heatmap__fill(struct heatmap *h, const struct ccct *c, uint32_t entry, size_t max_columns);
void heatmap__free(struct heatmap *h);

#endif
