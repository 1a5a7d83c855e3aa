/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nesting algorithm: which call was made on behalf of which (M. K. Aguilera, J. C. Mogul, J. L. Wiener,
 * P. Reynolds, A. Muthitacharoen, "Performance Debugging for Distributed Systems of Black Boxes", SOSP 2003,
 * section 4; specs B). B calls C while B serves A: the call (B, C) is nested in the call (A, B). Where B
 * serves several calls at once each is a candidate parent, and the whole trace decides which delays from
 * (A, B) to (B, C) are usual: the scoreboard counts delta(A, B, C) with weight 1/N for a child with N
 * candidates, and a child goes to the candidate with the highest score times penalty.
 *
 *	penalty = (1+o)^-x (1+s)^-y (1+g)^-z
 *
 * over the children that the candidate already has: o overlap this child in time, s go to the same node, g
 * are all. o and s look at a candidate's latest 64 children. A call's children are all made by its callee,
 * so each node is a problem of its own. Time and memory O(m p), m messages, p candidates a child. */
#ifndef CP_USER_ANALYSIS_NESTING_H
#define CP_USER_ANALYSIS_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/progress.h"
#include "user/model/msgtrace.h"

enum {
	NESTING_CHILDREN_MAX = 64,     /* looked at for o and s */
	NESTING_CANDIDATES_MAX = 1024, /* of a node at once; the oldest are given up, counted */
};

struct nesting_opts {
	double overlap_power, same_power, child_power; /* x, y, z */
	bool return_order;  /* children are decided by their ends, else by their starts */
	bool paper_bins;    /* 340 bins from 1 ms, else 480 from 1 us */
	double smooth_bins; /* standard deviation of the scoreboard's smoothing; 0 = none */
	int64_t window_ns;  /* W: by how much clocks may disagree */
	const struct progress *progress; /* may be NULL */
};

/* x=2 y=4 z=0, call order, 3 bins. */
struct nesting_opts nesting_opts_default(void);
/* The paper's: x=2 y=z=0, return order, no smoothing. */
struct nesting_opts nesting_opts_paper(void);

struct nesting_stats {
	uint64_t call_cnt;
	uint64_t child_cnt;	/* calls that have a candidate parent */
	uint64_t candidate_cnt; /* of all of them; / child_cnt = p, the paper's parallelism */
	uint64_t ambiguous_cnt; /* children with more than one */
	uint64_t outlive_cnt; /* calls made while their caller served, that outlived all it served:
				 * forwarded, early-answered or delayed work, which nesting cannot express */
	uint64_t cut_cnt;     /* open calls given up at NESTING_CANDIDATES_MAX */
	double score_mass;    /* on all scoreboards: equals child_cnt but for rounding */
};

/* Sets parent of each of t's calls (CALL_NONE for a root). t's calls must be sorted. */
void nesting_infer(struct msgtrace *t, const struct nesting_opts *opts,
		   struct nesting_stats *stats);

#endif
