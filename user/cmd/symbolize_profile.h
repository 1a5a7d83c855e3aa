/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for a profile whose addresses could not be named when it was recorded: from files that are found at
 * their paths now, and only if their build-ids are those of then. */
#ifndef CP_USER_CMD_SYMBOLIZE_PROFILE_H
#define CP_USER_CMD_SYMBOLIZE_PROFILE_H

#include <stddef.h>

#include "symbolize/symbolizer.h"
#include "user/base/buf.h"
#include "user/model/profile.h"

struct symbolize_counts {
	size_t frame_cnt;		 /* of programs, with a mapping */
	size_t unnamed_cnt;		 /* before */
	size_t named_cnt;		 /* of these now have a name */
	size_t lined_cnt;		 /* now have a source line or inlined functions */
	size_t left_cnt[SYM_REASON_MAX]; /* unnamed, by reason */
};

/* Changes frames and stacks of p. With lines, named frames are looked up too. why (NULL = not wanted) gets
 * what was tried for each frame that stays unnamed. */
void symbolize_profile(struct profile *p, struct symbolizer *s, bool lines,
		       struct symbolize_counts *counts, struct buf *why);

#endif
