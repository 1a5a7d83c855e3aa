/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress as one line on stderr that is rewritten in place: only on a terminal, and only of work that takes
 * over two seconds. */
#ifndef CP_USER_CMD_PROGRESS_LINE_H
#define CP_USER_CMD_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/progress.h"

struct progress_line {
	struct progress progress; /* give this to the work */
	int64_t start_ns, drawn_ns;
	bool terminal, drawn;
};

void progress_line_init(struct progress_line *l);
void progress_line_end(struct progress_line *l); /* wipes the line */

#endif
