/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer. Zero-initialised is empty; always NUL-terminated once something was put in. */
#ifndef CP_USER_BASE_BUF_H
#define CP_USER_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;
	size_t len_bytes;
	size_t cap_bytes;
};

void buf_free(struct buf *b);  /* frees and empties; fine on an empty one */
void buf_reset(struct buf *b); /* empties, keeps the memory */
void buf_reserve(struct buf *b, size_t more_bytes);
void buf_append(struct buf *b, const void *data, size_t len_bytes);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_put_u64(struct buf *b, uint64_t v); /* decimal; several times faster than buf_printf */
void buf_put_i64(struct buf *b, int64_t v);
const char *buf_str(const struct buf *b); /* never NULL; borrowed until the next change */
char *buf_take(struct buf *b); /* the bytes, owned by the caller; the buffer is empty after */

#endif
