/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading untrusted bytes front to back: a read past the end gives 0 and marks the cursor, so that a parser
 * checks once at the end of a step. Little-endian values. */
#ifndef CP_SYMBOLIZE_CURSOR_H
#define CP_SYMBOLIZE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool is_bad;
};

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline void cursor_fail(struct cursor *c)
{
	c->is_bad = true;
	c->p = c->end;
}

static inline void cursor_skip(struct cursor *c, uint64_t cnt_bytes)
{
	if (cnt_bytes > cursor_left(c))
		cursor_fail(c);
	else
		c->p += cnt_bytes;
}

/* size_bytes is 1, 2, 4 or 8. */
static inline uint64_t cursor_uint(struct cursor *c, size_t size_bytes)
{
	uint64_t v = 0;

	if (size_bytes > cursor_left(c)) {
		cursor_fail(c);
		return 0;
	}
	memcpy(&v, c->p, size_bytes);
	c->p += size_bytes;
	return v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->p == c->end) {
		c->is_bad = true;
		return 0;
	}
	return *c->p++;
}

/* LEB128 (DWARF 5, section 7.6); bits beyond 64 are dropped. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t byte;
	int shift = 0;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t byte;
	int shift = 0;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~0ULL << shift;
	return (int64_t)v;
}

#endif
