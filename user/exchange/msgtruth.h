/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The truth of a synthetic trace, as "causeprof maketrace --truth" writes it: a line a message in order of true
 * time, lost ones included,
 *
 *	number instance parent-line tracelet operation sender receiver
 *
 * number: place of the message in the trace from 1, "-" if it was lost. parent-line: the line (not counting
 * comments, from 1) of the CALL or MSG that caused this one, for a RET its CALL; "-" for a root. */
#ifndef CP_USER_EXCHANGE_MSGTRUTH_H
#define CP_USER_EXCHANGE_MSGTRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/msgtrace.h"

struct msgtruth {
	struct msgtrace *t; /* the true calls; parent is the true one, times are line numbers */
	uint32_t
		*call_of_number; /* by number - 1: the call that this message began, or CALL_NONE */
	size_t number_cnt;
};

/* -EINVAL with "FILE:LINE: ..."; *truth may be freed in any case. O(n). */
int msgtruth_read(struct input *in, struct msgtruth *truth, struct err *err);
void msgtruth_free(struct msgtruth *truth);

#endif
