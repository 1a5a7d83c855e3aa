/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters on stacks, for every verb that shows a profile: keep stacks with a frame, drop stacks with a frame,
 * cut what is above a frame, cut what is too deep. They rewrite the sums and intervals of a profile; what was
 * dropped is counted in its unit, so that a filtered picture can say what it leaves out.
 *
 * A frame is given by its name, exactly, or as "/REGEX/" (POSIX extended, found anywhere in the name). The
 * process name counts as a frame for only and without. */
#ifndef CP_USER_ANALYSIS_STACKFILTER_H
#define CP_USER_ANALYSIS_STACKFILTER_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/model/profile.h"

struct stackfilter {
	const char *const *only; /* keep stacks that have one of these; cnt 0 = all */
	size_t only_cnt;
	const char *const *without; /* drop stacks that have one of these */
	size_t without_cnt;
	const char
		*base; /* NULL, or the frame that becomes the root; stacks without it are dropped */
	uint32_t max_depth; /* 0 = any; deeper frames fold into the last one that is kept */
};

struct stackfilter_report {
	uint64_t kept, dropped; /* in the profile's unit; of the sums */
	uint64_t dropped_interval_cnt;
};

/* 0, or -EINVAL for a regular expression that is none: of one frame before there is a profile. */
int stackfilter_check(const char *frame, struct err *err);
/* The same of all of them, or they are applied. O(stacks + sums + intervals). */
int stackfilter_apply(struct profile *p, const struct stackfilter *f,
		      struct stackfilter_report *ret, struct err *err);

#endif
