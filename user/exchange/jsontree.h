/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON document in memory, for formats whose parts refer to each other from anywhere (a sample names a
 * frame by its place in an array that may come later). yajl parses; bytes, values and depth are bounded.
 * Numbers keep their text, so that 64-bit integers stay exact. */
#ifndef CP_USER_EXCHANGE_JSONTREE_H
#define CP_USER_EXCHANGE_JSONTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/arena.h"
#include "user/base/err.h"
#include "user/base/foldtext.h"
#include "user/base/input.h"

enum {
	JSONTREE_DEPTH_MAX = 64,
	JSONTREE_TEXT_MAX_BYTES = 1 << 30,
};

enum jsontree_type {
	JSONTREE_NULL,
	JSONTREE_BOOL, /* text "true" or "false" */
	JSONTREE_NUMBER,
	JSONTREE_STRING,
	JSONTREE_ARRAY,
	JSONTREE_OBJECT,
};

struct jsonnode {
	enum jsontree_type type;
	const char *key; /* inside of objects, NUL-terminated */
	const char *text;
	size_t text_bytes;
	struct jsonnode *first, *next; /* children; sibling */
	size_t child_cnt;
};

struct jsontree {
	struct arena arena;
	struct jsonnode *root;
};

/* Reads all of the input. allow_open_array: an array that is not closed (Chrome writes such) is complete.
 * 0, or a negative errno whose message names the input and the place. */
int jsontree_read(struct jsontree *t, struct input *in, bool allow_open_array, struct err *err);
void jsontree_free(struct jsontree *t);

/* NULL in, NULL out. A key that occurs twice: the first. O(keys). */
const struct jsonnode *jsontree_get(const struct jsonnode *object, const char *key);
/* An array as a table: *cnt elements, owned by the caller; NULL and 0 for anything else. */
const struct jsonnode **jsontree_elements(const struct jsonnode *array, size_t *cnt);

const char *jsontree_text(const struct jsonnode *n); /* of a string; "" for anything else */
bool jsontree_is(const struct jsonnode *n, enum jsontree_type type);
/* A number, or a string that holds one (64-bit integers travel as strings). */
bool jsontree_number(const struct jsonnode *n, struct foldtext_count *ret);
/* A whole number in 0..max. */
bool jsontree_index(const struct jsonnode *n, uint64_t max, uint64_t *ret);

#endif
