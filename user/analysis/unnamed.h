/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames without a name and stacks that do not reach their root, by reason: what a user looks at to find out
 * which debug symbols to install. */
#ifndef CP_USER_ANALYSIS_UNNAMED_H
#define CP_USER_ANALYSIS_UNNAMED_H

#include <stddef.h>
#include <stdint.h>

#include "user/model/profile.h"

/* Frames with one reason in one file, for which the same was tried; or a mark of one name, with file and reason 0. */
struct unnamed {
	uint32_t file_sid;  /* path of the mapping, else the frame's module; 0 = none */
	uint32_t mark_sid;  /* "[walk stopped: ...]" */
	uint32_t tried_sid; /* where names were looked for, a line each; 0 = not recorded */
	uint8_t reason;	    /* enum name_reason */
	uint64_t frame_cnt;
	uint64_t first_addr; /* the lowest of them, as an example */
	uint64_t ns;	     /* of stacks with at least one of them */
};

/* Most time first. *ret is owned by the caller; returns the count. O(sums * depth). */
size_t unnamed_list(const struct profile *p, struct unnamed **ret);

#endif
