/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pull parser for JSON (RFC 8259) of any size in bounded memory: the caller asks for one token after the
 * other, skips what it does not want, and never holds more than one string. Several documents one after the
 * other (JSON lines) are read as a sequence.
 *
 * Why not yajl: its callbacks cost a copy and an indirect call per token, also for the nine tenths of a trace
 * file that nobody asked for; docs/critical.md has the figures. The fuzz target compares the two. Like yajl
 * with yajl_dont_validate_strings it does not check UTF-8: base/escape.h does, on the way out.
 *
 * Numbers with fractions are accepted and rounded toward zero; integers beyond int64 saturate and say so. */
#ifndef CP_USER_BASE_JSONPULL_H
#define CP_USER_BASE_JSONPULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/input.h"

enum {
	JSONPULL_DEPTH_MAX = 4096,
	JSONPULL_STRING_MAX_BYTES = 16 << 20, /* of a string that is not skipped */
};

enum jsonpull_token {
	JSONPULL_END = 0, /* of the input, between documents */
	JSONPULL_OBJECT,
	JSONPULL_OBJECT_END,
	JSONPULL_ARRAY,
	JSONPULL_ARRAY_END,
	JSONPULL_KEY,
	JSONPULL_STRING,
	JSONPULL_NUMBER,
	JSONPULL_TRUE,
	JSONPULL_FALSE,
	JSONPULL_NULL,
};

struct jsonpull;

struct jsonpull *jsonpull__new(struct input *in); /* in is borrowed */
void jsonpull__free(struct jsonpull *p);	  /* NULL is fine */

/* The next token (>= 0) or a negative errno with "FILE: byte N: what is wrong". */
int jsonpull__next(struct jsonpull *p, struct err *err);
/* The token after the present one; if that opens an object or array, everything up to its end is passed
 * over. Returns 0 or a negative errno. To be called after a key, or where an array element may follow. */
int jsonpull__skip(struct jsonpull *p, struct err *err);
/* Passes over the rest of the innermost open object or array, its end included. */
int jsonpull__leave(struct jsonpull *p, struct err *err);

/* Of the last KEY, STRING or NUMBER: escapes are resolved, a lone surrogate is U+FFFD; borrowed until the
 * next call; may hold NUL bytes; not NUL-terminated. */
const char *jsonpull__text(const struct jsonpull *p, size_t *len_bytes);

/* The text as an integer: also of a STRING, since 64-bit numbers travel as strings. False (and 0) if it is
 * none; *saturated when it did not fit. */
bool jsonpull__i64(const struct jsonpull *p, int64_t *ret, bool *saturated);
int jsonpull__depth(const struct jsonpull *p); /* open objects and arrays */

#endif
