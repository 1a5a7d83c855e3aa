/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reader of folded stacks: one line a stack, frames from the root on, parted by ";", then blanks and a count.
 *
 *	main;read_file;read 120
 *	main;parse 1.5e3
 *	main;parse 80 95            two counts, before and after: a differential file
 *	main;read;[sleep] 7         a last frame in brackets may tell the class of time, see class.h
 *
 * Only the last field is the count, so names may hold blanks and digits, and end in blanks or be one. "\x3b" stands for a ";"
 * inside of a name (user/base/foldtext.h has all escapes), and the ";" of an XML entity ("&lt;") is part of the name. Lines that start with "#" and empty lines are skipped. CRLF, a UTF-8 byte order mark and a missing
 * last newline are fine; UTF-16 is refused by name. A line without a count is counted and skipped.
 * Whether the file is differential is decided once, from its first lines: all of them have two counts. */
#ifndef CP_FLAMEGRAPH_FOLDED_H
#define CP_FLAMEGRAPH_FOLDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"

enum {
	FOLDED_LINE_MAX_BYTES = 64 << 20
};

struct flame_str {
	const char *s; /* not NUL-terminated */
	size_t len_bytes;
};

enum folded_counts {
	FOLDED_DETECT, /* decide from the first lines */
	FOLDED_ONE,
	FOLDED_TWO,
};

struct folded_line {
	const struct flame_str *frames; /* borrowed until the next call */
	size_t frame_cnt;		/* 0: the count belongs to the root */
	double values[2];		/* one count: values[0]; two: before, after; finite */
	uint64_t line_no;
};

struct folded_stats {
	uint64_t good_cnt; /* stacks given */
	uint64_t bad_cnt;  /* lines without a usable count */
	uint64_t first_bad_line_no;
	char first_bad[64]; /* the start of that line, as it stood there */
	bool two_counts;
};

struct folded;

/* The input stays the caller's. Counts below 0 make a line a bad one unless negative_ok. */
int folded_open(struct input *in, enum folded_counts counts, bool negative_ok, struct folded **ret,
		struct err *err);
/* 1 with *line, 0 at the end, < 0 on error (unreadable, UTF-16, a line beyond FOLDED_LINE_MAX_BYTES). */
int folded_next(struct folded *f, struct folded_line *line, struct err *err);
const struct folded_stats *folded_stats(const struct folded *f); /* borrowed */
void folded_close(struct folded *f);				 /* NULL is fine */

/* One line on bad lines ("4 lines without a usable count skipped, the first is line 1: ..."), escaped for a terminal;
 * nothing if there were none. */
void folded_put_warning(const struct folded *f, struct buf *out);

#endif
