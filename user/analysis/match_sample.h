/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks at random among the ways in which calls may be linked to requests, visiting each as often as it is
 * probable (Metropolis et al. 1953). Steps exchange one call, or everything from a call on, between two
 * requests. Learning delays from such samples instead of from the single best guess keeps the first guess's
 * errors from confirming themselves, and the share of samples that contain a link is its probability.
 * Only library code of the matching method uses this header. */
#ifndef CP_USER_ANALYSIS_MATCH_SAMPLE_H
#define CP_USER_ANALYSIS_MATCH_SAMPLE_H

#include "user/analysis/match_node.h"

struct match_sampler {
	struct match_node *n;
	double *score;	    /* by request, under the model at the last refresh */
	float *seen;	    /* by candidate: share of samples, the latest ones weigh most */
	double temperature; /* 1 = as probable; lower = prefers the better */
	double offer_any;   /* share of exchanges offered to any candidate, not to those seen */
	uint64_t random;    /* state of the generator */
	uint64_t tried_cnt, taken_cnt;
};

void match_sampler_init(struct match_sampler *s, struct match_node *n, uint64_t seed);
void match_sampler_free(struct match_sampler *s);
void match_sampler_refresh(struct match_sampler *s); /* after the model changed */
/* As many steps as there are calls. */
void match_sampler_sweep(struct match_sampler *s);
/* Counts the present links as a sample that has this share of all. */
void match_sampler_note(struct match_sampler *s, double share);

#endif
