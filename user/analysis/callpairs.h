/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Request and reply become a call: step 1 of the nesting algorithm (Aguilera et al., SOSP 2003, FindCallPairs;
 * specs B.2). A RET from B to A ends the open call (A, B) with the same id. Without an id, or when several
 * open calls share it, it ends the oldest: right as long as replies come in the order of requests, and
 * wrong by one for the rest of the edge after a lost message, so ids are worth having.
 *
 * Where clocks disagree a RET may stand before its CALL: within a window it waits for the call with its id, which
 * then has length 0.
 *
 * A RET with an id that no open call has ends the oldest open call of the edge that has no id; a RET
 * without an id never ends a call with one. */
#ifndef CP_USER_ANALYSIS_CALLPAIRS_H
#define CP_USER_ANALYSIS_CALLPAIRS_H

#include <stdint.h>

#include "user/model/msgtrace.h"

struct callpairs_stats {
	uint64_t msg_cnt;
	uint64_t call_cnt;	 /* that were ended by a RET */
	uint64_t unreturned_cnt; /* CALLs without RET: in no path */
	uint64_t orphan_ret_cnt; /* RETs without CALL */
	uint64_t early_ret_cnt;	 /* RETs that stood before their CALL, within the window */
	uint64_t oneway_cnt;	 /* MSGs, which are no calls */
	uint64_t self_call_cnt;	 /* calls of a node to itself */
};

enum callpairs_flag {
	CALLPAIRS_DROP_MSGS = 1 << 0, /* give back the messages' memory on the way */
	CALLPAIRS_NUMBER = 1 << 1,    /* fill t->call_msg */
};

/* A message that was stamped at both ends (t->msg_heard_ns) gives its call the server's stamps as well.
 *
 * Sorts t's messages if they are not, and appends the calls they make to t->calls (sorted, parent
 * CALL_NONE, true parents from msg_truth). O(n + n log n if unsorted); memory: 56 bytes a call. */
void callpairs_find(struct msgtrace *t, unsigned int flags, int64_t window_ns,
		    struct callpairs_stats *stats);

#endif
