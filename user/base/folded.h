/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text, the common tongue of flame graph tools: one stack a line, frames from root to leaf with ";"
 * between them, a blank, a count. The format has no escapes, so names with ";" or line ends would become
 * other stacks. Ours writes those bytes as \x3b, \x0a, \x0d, and a backslash that would otherwise read as
 * such an escape as \x5c; everything else stays as it is, so that folded text of other tools reads back
 * unchanged. Counts may be fractions or in exponent form; hexadecimal, nan and inf are refused. */
#ifndef CP_USER_BASE_FOLDED_H
#define CP_USER_BASE_FOLDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

enum {
	FOLDED_NANO = 1000000000
};

/* |value| = whole + nano / 1e9. Digits beyond the ninth of the fraction are rounded to nearest. */
struct folded_count {
	uint64_t whole;
	uint32_t nano;
	bool is_negative;
	bool is_saturated; /* |value| is beyond 2^64 - 1; whole is that */
	double f64;	   /* the nearest double, with its sign */
};

struct folded_line {
	char *stack; /* NUL-terminated, points into the line */
	size_t stack_bytes;
	struct folded_count count;
};

/* Parses one number that fills text. NULL, or why it is none, in words. */
const char *folded_parse_count(const char *text, size_t len_bytes, struct folded_count *ret);

/* Splits a line (without its line end) at the last blank or tab; writes a NUL there. NULL, or why the line
 * is no folded line. Blank lines and comments (first byte '#') are the caller's business. */
const char *folded_parse(char *line, size_t len_bytes, struct folded_line *ret);

/* Takes the next frame from *rest: its start and length; *rest moves behind its ";". false at the end. */
bool folded_next(const char **rest, const char *end, const char **frame, size_t *frame_bytes);

void folded_escape(struct buf *out, const char *name, size_t len_bytes);
void folded_unescape(struct buf *out, const char *frame, size_t len_bytes);
bool folded_has_escape(const char *frame, size_t len_bytes);

#endif
