/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text, the common tongue of flame graph tools: one stack a line, frames from root to leaf with ";"
 * between them, a blank, a count. The format has no escapes, so names with ";" or line ends would become
 * other stacks. Ours writes those bytes as \x3b, \x0a, \x0d, and a backslash that would otherwise read as
 * such an escape as \x5c; everything else stays as it is, so that folded text of other tools reads back
 * unchanged. Counts may be fractions or in exponent form; hexadecimal, nan and inf are refused. */
#ifndef CP_USER_BASE_FOLDTEXT_H
#define CP_USER_BASE_FOLDTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

enum {
	FOLDTEXT_NANO = 1000000000
};

/* |value| = whole + nano / 1e9. Digits beyond the ninth of the fraction are rounded to nearest. */
struct foldtext_count {
	uint64_t whole;
	uint32_t nano;
	bool is_negative;
	bool is_saturated; /* |value| is beyond 2^64 - 1; whole is that */
	double f64;	   /* the nearest double, with its sign */
};

struct foldtext_line {
	char *stack; /* NUL-terminated, points into the line */
	size_t stack_bytes;
	struct foldtext_count count;
};

/* Parses one number that fills text. NULL, or why it is none, in words. */
const char *foldtext_parse_count(const char *text, size_t len_bytes, struct foldtext_count *ret);

/* Splits a line (without its line end) at the last blank or tab; writes a NUL there. NULL, or why the line
 * is no folded line. Blank lines and comments (first byte '#') are the caller's business. */
const char *foldtext_parse(char *line, size_t len_bytes, struct foldtext_line *ret);

/* Takes the next frame from *rest: its start and length; *rest moves behind its ";". false at the end. */
bool foldtext_next(const char **rest, const char *end, const char **frame, size_t *frame_bytes);

/* ";", control characters, invalid UTF-8 and what turns the direction of text become \xHH a byte, without loss: a
 * folded line can be printed to a terminal, and is read back by the second function. */
void foldtext_escape(struct buf *out, const char *name, size_t len_bytes);
void foldtext_unescape(struct buf *out, const char *frame, size_t len_bytes);
/* The byte that the escape of four bytes at s stands for, or -1. */
int foldtext_escaped_byte(const char *s, size_t len_bytes);
bool foldtext_has_escape(const char *frame, size_t len_bytes);

#endif
