/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables and trees of causeprof report. All escape names for a terminal. */
#ifndef CP_USER_CMD_REPORT_H
#define CP_USER_CMD_REPORT_H

#include <stdbool.h>

#include "user/analysis/fold.h"
#include "user/base/buf.h"
#include "user/base/json.h"
#include "user/model/profile.h"

struct report_opts {
	size_t width_cols, top_cnt;
	double min_percent; /* of the whole: smaller parts of a tree are left out */
	struct fold_opts fold;
	bool tree;
};

/* One line a thread: its time by class beside the kernel's, what is left over, switches. Most running
 * first. */
void report__put_threads(const struct profile *p, const struct report_opts *o, struct buf *out);
/* Time by stack as an indented tree, most time first. */
void report__put_tree(const struct profile *p, const struct report_opts *o, struct buf *out);
/* Unnamed frames and unfinished stacks by reason and file, with what was tried. */
void report__put_unknown(const struct profile *p, const struct report_opts *o, struct buf *out);
/* One line a slice of time, the bar showing running time. */
void report__put_slices(const struct profile *p, struct buf *out);
/* A member "slices" of the object at hand. */
void report__json_slices(const struct profile *p, struct json *j);
/* Everything as one JSON object; the tree only if asked for. */
void report__put_json(const struct profile *p, const struct report_opts *o, struct buf *out);
/* A member "unnamed" of the object at hand. */
void report__json_unnamed(const struct profile *p, struct json *j);
/* A member "tree" of the object at hand. */
void report__json_tree(const struct profile *p, const struct report_opts *o, struct json *j);

#endif
