/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference as a flame graph: one union tree, red grew, blue shrank, grey is what noise explains. */
#ifndef CP_USER_CMD_DIFF_PICTURE_H
#define CP_USER_CMD_DIFF_PICTURE_H

#include "flamegraph/picture.h"
#include "user/analysis/diff.h"
#include "user/base/outfile.h"

struct diff_picture_options {
	int width_by; /* enum flame_width_by */
	const char *title;
	bool negate, inverted;
};

extern const char *const diff_picture_widths[]; /* "after", "before", "union"; NULL-terminated */

int diff_picture__save(const struct diff *d, const struct diff_picture_options *opts,
		       const char *path, enum outfile_mode mode, struct err *err);

#endif
