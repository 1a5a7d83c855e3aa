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

struct msginput_opts {
	bool skip_bad;
	const struct progress *progress;
};

enum msginput_kind {
	MSGINPUT_TEXT,
	MSGINPUT_SPAN_TABLE,
	MSGINPUT_SPANS,
	MSGINPUT_PCAP,
};

/* Appends a file's content to t. What was lost or left out on the way is appended to notes, a line each.
 * 0 with *kind, or a negative errno. */
int msginput_load(const char *path, const struct msginput_opts *opts, struct msgtrace *t,
		  enum msginput_kind *kind, struct buf *notes, struct err *err);

#endif
