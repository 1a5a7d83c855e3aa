/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message trace from whatever a file holds, told by its content: text (msgtext.h), a span table, traces of
 * spans (Jaeger or OTLP), or a packet capture. Text and captures give messages, the others calls. */
#ifndef CP_USER_EXCHANGE_MSGINPUT_H
#define CP_USER_EXCHANGE_MSGINPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/base/progress.h"
#include "user/model/msgtrace.h"
#include "user/model/nodemap.h"

struct msginput_opts {
	bool skip_bad;
	bool ports;		   /* servers in captures are ADDRESS:PORT */
	const struct nodemap *map; /* renames nodes; may be NULL */
	const struct progress *progress;
};

/* Appends the contents of files to t; captures are merged with each other. What was lost or left out on the way
 * is appended to notes, a line each. Neither messages nor calls are in order after it. 0, or a negative errno. */
int msginput_load(char *const *paths, size_t cnt, const struct msginput_opts *opts,
		  struct msgtrace *t, struct buf *notes, struct err *err);

#endif
