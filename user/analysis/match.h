/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-request links from timing: which served request caused which call.
 *
 * Node by node: the requests that it served are given, and the calls that it made; a call lies inside the
 * request that caused it. The delays of a program (arrival to first call, return to next call, last return
 * to answer) are learned while the links are guessed, in turns (expectation maximisation with hard
 * assignments), and links are chosen for all open requests at once, by minimum-cost assignment, so that one
 * call never serves two and no request takes what fits another much better. Nothing but stamps, names and,
 * where the trace has them, threads is used.
 *
 * Calls must be sorted (msgtrace__sort_calls). The result is a pure function of the trace.
 * Model: match_model.h; numbers: match_settings.h. Tests: tests/unit/test_match.c. */
#ifndef CP_USER_ANALYSIS_MATCH_H
#define CP_USER_ANALYSIS_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/progress.h"
#include "user/model/msgtrace.h"

enum match_source {
	MATCH_SOURCE_NONE = 0,	 /* no parent: a root, or nothing was open */
	MATCH_SOURCE_TIMING = 1, /* inferred */
	MATCH_SOURCE_EXACT = 2,	 /* the kernel saw it */
};

struct match_link {
	uint32_t parent;  /* number of a call, or CALL_NONE */
	float posterior;  /* probability that parent is right; 0 without one */
	uint8_t source;	  /* enum match_source */
	uint8_t doubtful; /* posterior < MATCH_DOUBTFUL */
};

struct match_opts {
	int64_t skew_ns; /* W: how far a call may stick out of its request (clocks of two hosts) */
	const struct progress *progress; /* may be NULL */
};

struct match_stats {
	uint64_t calls_cnt; /* that some node made */
	uint64_t exact_cnt, timing_cnt, root_cnt;
	uint64_t doubtful_cnt;
	uint64_t cut_cnt; /* candidates that were not looked at because a call had too many */
};

/* Fills links[call_cnt]. O(m p) to O(m p log m) for m calls with p open requests each. */
void match_run(const struct msgtrace *t, const struct match_opts *opts, struct match_link *links,
	       struct match_stats *stats);

#endif
