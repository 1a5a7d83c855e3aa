/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and texts as bytes, for small files of our own: LEB128, zigzag for signed numbers, doubles and
 * floats little-endian, texts as length and bytes. A reader never passes its end: after anything wrong, bad is
 * set, and every further read gives 0. */
#ifndef CP_USER_BASE_WIRE_H
#define CP_USER_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"

void wire_put_u64(struct buf *out, uint64_t v);
void wire_put_i64(struct buf *out, int64_t v);
void wire_put_f64(struct buf *out, double v);
void wire_put_f32(struct buf *out, float v);
void wire_put_text(struct buf *out, const char *text, size_t len_bytes);

struct wire {
	const unsigned char *at, *end;
	bool bad;
};

uint64_t wire_u64(struct wire *w);
int64_t wire_i64(struct wire *w);
double wire_f64(struct wire *w); /* NaN is bad */
float wire_f32(struct wire *w);
uint32_t wire_below(struct wire *w, uint64_t limit); /* a number that must be smaller */
uint32_t wire_count(
	struct wire *w); /* of things that take a byte each or more: cannot exceed what is left */
const char *wire_text(struct wire *w, size_t *len_bytes); /* borrowed from the input */

/* A file: magic (a literal that ends in a newline), content, xxHash64 of all before. seal appends the hash of
 * everything from start; open checks both and gives the content. */
void wire_seal(struct buf *out, size_t start);
int wire_open(const void *data, size_t len_bytes, const char *magic, struct wire *ret,
	      struct err *err);

#endif
