/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two ends of calls: putting together what each end recorded by itself, and taking apart a call into what the
 * nodes did and what the network between them did. */
#ifndef CP_USER_ANALYSIS_CALLENDS_H
#define CP_USER_ANALYSIS_CALLENDS_H

#include <stddef.h>
#include <stdint.h>

#include "user/model/msgtrace.h"

/* Joins calls of side CALL_CLIENT with calls of side CALL_SERVER on the same edge: a client's call gets the first
 * server's call, by start, that no other has and that it contains (within window_ns). Both become one of side
 * CALL_BOTH with four stamps and the client's id; what finds no other end stays. Calls are sorted after it; parents
 * are lost. Returns how many were joined. O(n log n + n p), p calls open at once on an edge. */
size_t callends_join(struct msgtrace *t, int64_t window_ns);

/* Makes the network between two nodes a node of its own, named "A~B": each call between them (either way) with
 * stamps of both ends becomes a call of A to A~B with the client's stamps and one of A~B to B, its child, with the
 * server's; its children follow it. SOSP 2003, section 2, models slow links so. Returns how many were split; parents
 * stand before and after. */
size_t callends_split_network(struct msgtrace *t, uint32_t a, uint32_t b);

#endif
