/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that were captured at both ends stand twice in a merged trace (specs A.1). */
#ifndef CP_USER_ANALYSIS_MSGDEDUP_H
#define CP_USER_ANALYSIS_MSGDEDUP_H

#include <stdint.h>

#include "user/model/msgtrace.h"

/* Drops each message that equals another in operation, sender, receiver and id and comes within window_ns after
 * it; the second stamp is the receiver's and is kept in t->msg_heard_ns, so that calls get the stamps of both
 * ends. One copy makes up for one message, so that equal messages that were both seen twice stay two. t must be in
 * order. Without ids two quick messages and one seen twice look the same. Returns how many went. O(n). */
uint64_t msgdedup(struct msgtrace *t, int64_t window_ns);

#endif
