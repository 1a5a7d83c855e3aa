/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The matching problem of one node: requests that it served, calls that it made, who caused which.
 * Only library code of the matching method uses this header. */
#ifndef CP_USER_ANALYSIS_MATCH_NODE_H
#define CP_USER_ANALYSIS_MATCH_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/match_model.h"
#include "user/model/msgtrace.h"

#define MATCH_NOBODY UINT32_MAX

/* The calls of a request are a list in the order of their starts, through next. */
struct match_node {
	struct match_request *reqs; /* by start */
	uint32_t reqs_cnt;
	struct match_out *outs; /* by start */
	uint32_t outs_cnt;
	uint32_t classes, endpoints;
	size_t *cand_start; /* by out: its candidates are cands[cand_start[o] .. cand_start[o + 1]) */
	uint32_t *cands;    /* requests, ascending */
	uint32_t *req_of;   /* by out, or MATCH_NOBODY */
	uint32_t *first;    /* by request: its first call, or MATCH_NOBODY */
	uint32_t *next;	    /* by out */
	bool *fixed;	    /* by out: the kernel saw who caused it */
	float *posterior;   /* by out */
	bool *late;	    /* by out: outlives all requests that were open when it started */
	int64_t *
		slack; /* by endpoint: ticks by which a call may outlive its request, beyond skew */
	double *none_cost; /* by endpoint: nats that it costs to say of a late call that nobody caused it */
	uint64_t cut_cnt; /* candidates left out by MATCH_CANDIDATES_MAX */
	int64_t tick;	  /* ns */
	int64_t skew;	  /* ticks */
	struct match_model model;
};

/* Calls whose kind is in the set are taken from their requests; those that came from one request stay
 * together and are given, as a group, to the requests where they fit best, all at once (assignment).
 * Groups of calls without a request join if their endpoint is alone_endpoint. */
struct match_block {
	const bool *kinds; /* by kind */
	uint32_t
		alone_endpoint; /* calls to it that nobody caused join, one group each; or MATCH_NOBODY */
	bool blind;		/* score each group as if the request made no other call */
};

/* Returns how many calls changed hands. */
size_t match_block_solve(struct match_node *n, const struct match_block *b);

/* Kind of each call as things are. kinds: by out; calls of nobody get ordinal 0. */
void match_node_kinds(const struct match_node *n, uint32_t *kinds);
/* Place of each kind in the order in which requests usually make them; MATCH_NOBODY if it does not occur. */
void match_node_rank_kinds(const struct match_node *n, uint32_t *rank);
/* Learns from the links as they are; returns ln p(all calls | requests), with MATCH_NONE_COST for each call
 * of nobody. */
double match_node_relearn(struct match_node *n);
/* What it costs, in nats, to say that nobody caused call out. */
double match_node_none_cost(const struct match_node *n, uint32_t out);
/* Puts links in the order of a queue if that describes the trace better (match_order.c); true if so. */
bool match_node_try_order(struct match_node *n);
/* Moves a call; req may be MATCH_NOBODY. O(calls of the two requests). */
void match_node_move(struct match_node *n, uint32_t out, uint32_t req);

/* Finds the candidates (match_candidates.c); reqs, outs and skew are filled in. */
void match_node_prepare(struct match_node *n);
/* Whether request r may have caused call out. */
bool match_node_fits(const struct match_node *n, uint32_t out, uint32_t r);
/* Fixes the links that the trace is certain about (match_witness.c); after prepare. */
void match_node_witness(struct match_node *n, const struct msgtrace *t);
/* The parts of match_node_run: learns from all calls, or from MATCH_LEARN_CALLS of them. */
void match_node_learn(struct match_node *n, const struct gap_kernels *kernels);
void match_node_learn_slices(struct match_node *n, const struct gap_kernels *kernels);
/* Learns and matches. kernels are borrowed. */
void match_node_run(struct match_node *n, const struct gap_kernels *kernels);
void match_node_free(struct match_node *n);

#endif
