/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen that a user sees after a capture: where the threads' time went, the stacks that had most of it,
 * whether the numbers can be trusted, what was lost, what it cost. Fits 24 lines. */
#ifndef CP_USER_CMD_SUMMARY_H
#define CP_USER_CMD_SUMMARY_H

#include <stddef.h>

#include "user/base/buf.h"
#include "user/model/profile.h"

struct summary_opts {
	size_t width_cols; /* of a line; 0 = 96 */
	size_t top_cnt;	   /* stacks in each list; SUMMARY_TOP_DEFAULT = 4 */
};

enum {
	SUMMARY_TOP_DEFAULT = 4,
	SUMMARY_WIDTH_DEFAULT = 96,
};

/* Names are escaped for a terminal. Ends with a newline. Same profile and options, same bytes. */
void summary__put(const struct profile *p, const struct summary_opts *opts, struct buf *out);

/* The first line without its newline, e.g. "server (100): 100 ms, 6 threads"; also a picture's title. */
void summary__put_title(const struct profile *p, struct buf *out);

/* "loss" as one line: "nothing", or causes with events and time. Also for record --strict. */
void summary__put_loss(const struct profile *p, struct buf *out);

/* Columns of a terminal, or 0 when fd is none. */
size_t summary__terminal_cols(int fd);

#endif
