/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/text.h"

bool text_line(struct text *rest, struct text *line)
{
	const char *nl;

	if (rest->at >= rest->end)
		return false;
	nl = memchr(rest->at, '\n', text_len(*rest));
	line->at = rest->at;
	line->end = nl ? nl : rest->end;
	rest->at = nl ? nl + 1 : rest->end;
	return true;
}

void text_skip_blanks(struct text *t)
{
	while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
		t->at++;
}

/* Without branches that depend on the digit, which are guessed wrong half of the time, and without a store for each. */
bool text_hex(struct text *t, uint64_t *ret)
{
	static const uint8_t digits[256] = {
		/* 1 + the digit */
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
		['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	const char *at = t->at, *const end = t->end;
	unsigned int digit;
	uint64_t v = 0;

	for (; at < end && (digit = digits[(unsigned char)*at]); at++) {
		if (v >> 60)
			return false;
		v = v << 4 | (digit - 1);
	}
	if (at == t->at)
		return false;
	t->at = at;
	*ret = v;
	return true;
}

bool text_dec(struct text *t, uint64_t *ret)
{
	const char *start = t->at;
	uint64_t v = 0;

	for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*t->at - '0'), &v))
			return false;
	*ret = v;
	return t->at > start;
}

bool text_char(struct text *t, char c)
{
	if (t->at >= t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

struct text text_word(struct text *t)
{
	struct text word = { t->at, t->at };

	while (t->at < t->end && *t->at != ' ' && *t->at != '\t')
		t->at++;
	word.end = t->at;
	return word;
}

int text_read_fd(int fd, size_t max_bytes, struct buf *out)
{
	size_t start = out->len_bytes;

	for (;;) {
		ssize_t n;

		buf_reserve(out, 64 << 10);
		n = read(fd, out->data + out->len_bytes, 64 << 10);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		out->len_bytes += (size_t)n;
		out->data[out->len_bytes] = '\0';
		if (out->len_bytes - start > max_bytes)
			return -EFBIG;
	}
}
