/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From addresses and sums to a profile with names. */
#ifndef CP_USER_CAPTURE_RESULT_H
#define CP_USER_CAPTURE_RESULT_H

#include "symbolize/symbolizer.h"
#include "user/capture/events.h"
#include "user/capture/python_names.h"
#include "user/capture/spaces.h"
#include "user/model/profile.h"

struct result_input {
	const struct events *events;
	struct symbolizer *symbolizer;
	const struct spaces *spaces; /* which processes have a Python interpreter */
	const struct python_names *python_names;
	const struct sum_table *sums;
	struct cp_loss losses[LOSS_CAUSE_MAX];
};

/* Of a sum or an interval with these flags: its stack is not wanted, or not known. */
static inline bool result_without_stack(uint32_t flags)
{
	return flags & (PART_FILTERED | PART_NOT_SAMPLED);
}

/* Fills all tables of p but the header. O(stacks * depth + sums). */
int result_build(const struct result_input *in, struct profile *p, struct err *err);

/* The kernel's sums and those made of intervals must be equal to the nanosecond: 0, or -EINVAL with the
 * first difference. Only meaningful when nothing was lost. */
int result_compare(const struct sum_table *kernel, const struct sum_table *intervals,
		   struct err *err);

#endif
