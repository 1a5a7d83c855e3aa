/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer; see buf.h. */
#include "user/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

void buf_reset(struct buf *b)
{
	b->len_bytes = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_reserve(struct buf *b, size_t more_bytes)
{
	b->data = xgrow(b->data, &b->cap_bytes, b->len_bytes + more_bytes + 1, 1);
}

void buf_append(struct buf *b, const void *data, size_t len_bytes)
{
	buf_reserve(b, len_bytes);
	if (len_bytes)
		memcpy(b->data + b->len_bytes, data, len_bytes);
	b->len_bytes += len_bytes;
	b->data[b->len_bytes] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len_bytes;

	va_copy(again, ap);
	len_bytes = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len_bytes < 0)
		return;
	buf_reserve(b, (size_t)len_bytes);
	vsnprintf(b->data + b->len_bytes, (size_t)len_bytes + 1, fmt, ap);
	b->len_bytes += (size_t)len_bytes;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_append(b, digits + at, sizeof(digits) - at);
}

void buf_put_i64(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_putc(b, '-');
	buf_put_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *data;

	buf_reserve(b, 0);
	b->data[b->len_bytes] = '\0';
	data = b->data;
	*b = (struct buf){ 0 };
	return data;
}
