/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Message traces as text (specs A.1; docs/FORMAT.md has the grammar):
 *
 *	timestamp operation sender receiver id [tid [evidence]]
 *
 * timestamp: decimal seconds, or units of a line "#unit ns|us|ms|s" before it. operation: CALL, RET, MSG.
 * id: any token, "-" for none. tid: SENDER/RECEIVER threads, "-" for unknown. evidence: "-", "thread:TID" or
 * "call:ID" (enum cause_kind). Blank lines and lines with "#" in front are comments. In names %XX stands for a
 * byte, so that blanks can be part of them. */
#ifndef CP_USER_EXCHANGE_MSGTEXT_H
#define CP_USER_EXCHANGE_MSGTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/base/progress.h"
#include "user/model/msgtrace.h"

struct msgtext_opts {
	bool skip_bad; /* count malformed lines instead of refusing the file */
	const struct progress *progress;
};

struct msgtext_stats {
	uint64_t line_cnt;   /* messages read */
	uint64_t bad_cnt;    /* malformed lines skipped */
	char first_bad[200]; /* why the first of them was */
};

/* Appends the messages of a file to t (unsorted as they are). -EINVAL with "FILE:LINE: ..." for a malformed
 * line; read errors as input_read gives them. O(n). */
int msgtext_read(struct input *in, const struct msgtext_opts *opts, struct msgtrace *t,
		 struct msgtext_stats *stats, struct err *err);

/* The line of one message, in seconds with nine decimals; w may be NULL. */
void msgtext_put(struct buf *out, const struct msgtrace *t, const struct msg *m,
		 const struct witness *w);

/* A name as one token: bytes up to blank, "%" and DEL as %XX; "-" alone and "" as %2D and "%". */
void msgtext_put_name(struct buf *out, const char *name, size_t len_bytes);

#endif
