/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of convolution for people and for programs. Paths over the same nodes are shown as one, with the
 * delays found at each node, the most frequent first. */
#ifndef CP_USER_ANALYSIS_CONVREPORT_H
#define CP_USER_ANALYSIS_CONVREPORT_H

#include <stddef.h>

#include "user/analysis/convolution.h"
#include "user/base/buf.h"
#include "user/base/json.h"

/* At most top_cnt paths, 0 = all. */
void convreport_text(const struct msgtrace *t, const struct conv_opts *o,
		     const struct conv_result *r, size_t top_cnt, struct buf *out);
/* Members of the object that is open in j; every path by itself. */
void convreport_json(const struct msgtrace *t, const struct conv_opts *o,
		     const struct conv_result *r, struct json *j);
/* A graph for dot: a chain of vertices a path, delays and messages on its edges, as in the paper. */
void convreport_dot(const struct msgtrace *t, const struct conv_result *r, size_t top_cnt,
		    struct buf *out);

#endif
