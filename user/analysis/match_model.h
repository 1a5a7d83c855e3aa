/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How likely it is that a request made just these calls at just these times: the probability model of the
 * matching method, for one node.
 *
 * A request comes in at a, makes calls, is answered at b. A call starts because something happened before:
 * the request came in, an earlier call of the same request returned, or an earlier call was just sent (a
 * loop that sends several). Which of these it is need not be known: the density of a call's start is a
 * mixture over
 *	LATEST	the delay since the latest of {a, ends of earlier calls},
 *	ARRIVAL	the delay since a,
 *	SENT	the delay since the latest start of an earlier call,
 * each with its own learned distribution, told apart by the kind of the earlier event and of the call.
 * The answer is one more such event. What a request does next, given the latest of {a, ends of earlier
 * calls}, is learned as well: programs make their calls in a certain order. So are the number of calls that
 * an endpoint gets from a request, and whether calls are made by the thread that took the request. Everything
 * is conditional on the class of the request (its caller and operation), with weight given to what all
 * classes share.
 *
 * Kind of a call: its endpoint (callee and operation) and whether it is the request's first, second, ...
 * call to it. Only library code of the matching method uses this header. */
#ifndef CP_USER_ANALYSIS_MATCH_MODEL_H
#define CP_USER_ANALYSIS_MATCH_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/gapdist.h"
#include "user/analysis/match_settings.h"

struct match_request { /* times in ticks */
	int64_t start, end;
	uint32_t cls;
	uint32_t tid;	  /* thread that took it, 0 = unknown */
	uint32_t call_no; /* in the trace */
};

struct match_out {
	int64_t start, end;
	uint32_t endpoint;
	uint32_t tid; /* thread that made it, 0 = unknown */
	uint32_t call_no;
};

enum {
	MATCH_TRIGGERS = 3,
	MATCH_COUNTS = 16
};

struct match_model {
	const struct gap_kernels *kernels;
	uint32_t classes, endpoints, kinds;
	uint32_t *dist_of_key; /* see key(); 0 = nothing learned */
	size_t keys_cnt;
	double *weights; /* by distribution and bin: sums of samples */
	double *density; /* by distribution and bin: per tick */
	uint32_t dists_cnt;
	size_t weights_cap, density_cap;
	uint32_t fitted_cnt;  /* those that the last fit knew */
	double *follow_sum;   /* by distribution: requests where this came after that */
	double *follow_share; /* the same, of what may come after that, as learned */
	size_t follow_sum_cap, follow_share_cap;
	double *follow_total,
		*follow_rest; /* by class and what came before: sums, what is left for others */
	double *mix;	      /* by class, kind (or END) and trigger: sums of samples */
	double *counts;	      /* by class, endpoint and number of calls: sums of samples */
	double *mix_share;    /* the same, as learned */
	double tid_chance[2]; /* candidates in another thread, in the same: what chance gives */
	double tid_sums[2];   /* links in another thread, in the same */
	double tid_log[2];    /* ln of how much more likely than chance; 0 = says nothing */
	double *count_log;    /* ln of a probability */
	uint32_t low_bin, top_bin; /* of the delays seen */
};

void match_model_init(struct match_model *m, const struct gap_kernels *kernels, uint32_t classes,
		      uint32_t endpoints);
void match_model_free(struct match_model *m);

/* ln p(these calls | request). kids: outs by start, at most MATCH_KIDS_MAX. O(kids + overlaps). */
double match_model_score(const struct match_model *m, const struct match_request *r,
			 const struct match_out *const *kids, uint32_t kids_cnt);

/* Learning: clear, add what is believed (weight = 1: a full sample), fit. */
void match_model_clear(struct match_model *m);
void match_model_add(struct match_model *m, const struct match_request *r,
		     const struct match_out *const *kids, uint32_t kids_cnt, double weight);
/* One uncertain link: the call is the request's only one. */
void match_model_add_pair(struct match_model *m, const struct match_request *r,
			  const struct match_out *kid, double weight);
/* Before anything is known: calls/requests of an endpoint. */
void match_model_guess_counts(struct match_model *m, uint32_t endpoint, double calls_per_request);
void match_model_fit(struct match_model *m);

#endif
