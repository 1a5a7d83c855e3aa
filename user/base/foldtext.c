/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text; see foldtext.h. */
#include "user/base/foldtext.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"

enum {
	COUNT_MAX_BYTES = 400 /* "1e308" written out; longer is no count that somebody meant */
};

/* A decimal number as it was written: digits without leading zeros, and where the point stands. */
struct decimal {
	char digits[COUNT_MAX_BYTES];
	int digit_cnt;
	long point; /* value = 0.DIGITS * 10^point */
	bool is_negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *scan_digits(const char *s, const char *end, struct decimal *d, bool *any)
{
	bool after_point = false;

	for (; s < end; s++) {
		if (*s == '.' && !after_point) {
			after_point = true;
			continue;
		}
		if (!is_digit(*s))
			break;
		*any = true;
		if (d->digit_cnt || *s != '0')
			d->digits[d->digit_cnt++] = *s;
		if (!after_point && d->digit_cnt)
			d->point++;
		if (after_point && !d->digit_cnt)
			d->point--;
	}
	return s;
}

static const char *scan_exponent(const char *s, const char *end, struct decimal *d)
{
	bool is_negative;
	long e = 0;

	if (s == end || (*s != 'e' && *s != 'E'))
		return s;
	s++;
	is_negative = s < end && *s == '-';
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	if (s == end || !is_digit(*s))
		return NULL;
	for (; s < end && is_digit(*s); s++)
		e = e < 100000 ? e * 10 + (*s - '0') : e;
	d->point += is_negative ? -e : e;
	return s;
}

/* The digit of weight 10^power. */
static unsigned int digit_at(const struct decimal *d, long power)
{
	long at = d->point - 1 - power;

	return at >= 0 && at < d->digit_cnt ? (unsigned int)(d->digits[at] - '0') : 0;
}

static void to_fixed(const struct decimal *d, struct foldtext_count *ret)
{
	for (long p = d->point - 1; p >= 0 && d->digit_cnt && !ret->is_saturated; p--) {
		unsigned int digit = digit_at(d, p);

		if (ret->whole > (UINT64_MAX - digit) / 10)
			ret->is_saturated = true;
		else
			ret->whole = ret->whole * 10 + digit;
	}
	for (long p = -1; p >= -9; p--)
		ret->nano = ret->nano * 10 + digit_at(d, p);
	ret->nano += digit_at(d, -10) >= 5;
	if (ret->nano == FOLDTEXT_NANO) {
		ret->nano = 0;
		ret->is_saturated = ret->is_saturated || ret->whole == UINT64_MAX;
		ret->whole++;
	}
	if (ret->is_saturated) {
		ret->whole = UINT64_MAX;
		ret->nano = 0;
	}
}

/* Nearly all counts are short and whole. */
static bool short_count(const char *s, size_t len_bytes, struct foldtext_count *ret)
{
	uint64_t v = 0;

	if (!len_bytes || len_bytes > 15)
		return false;
	for (size_t i = 0; i < len_bytes; i++) {
		if (!is_digit(s[i]))
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	*ret = (struct foldtext_count){ .whole = v, .f64 = (double)v };
	return true;
}

const char *foldtext_parse_count(const char *text, size_t len_bytes, struct foldtext_count *ret)
{
	struct decimal d = { .digit_cnt = 0 };
	char copy[COUNT_MAX_BYTES + 1];
	const char *s = text, *end = text + len_bytes;
	bool any = false;

	if (short_count(text, len_bytes, ret))
		return NULL;
	if (!len_bytes || len_bytes > COUNT_MAX_BYTES)
		return "no count at the end of the line";
	d.is_negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	s = scan_digits(s, end, &d, &any);
	s = any ? scan_exponent(s, end, &d) : NULL;
	if (!s || s != end)
		return "the last field is not a number";
	*ret = (struct foldtext_count){ .is_negative = d.is_negative };
	to_fixed(&d, ret);
	memcpy(copy, text, len_bytes);
	copy[len_bytes] = '\0';
	ret->f64 = strtod(copy, NULL);
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

const char *foldtext_parse(char *line, size_t len_bytes, struct foldtext_line *ret)
{
	size_t end = len_bytes, start;
	const char *why;

	while (end && is_blank(line[end - 1]))
		end--;
	start = end;
	while (start && !is_blank(line[start - 1]))
		start--;
	why = foldtext_parse_count(line + start, end - start, &ret->count);
	if (why)
		return why;
	while (start && is_blank(line[start - 1]))
		start--;
	if (!start)
		return "there is no stack before the count";
	line[start] = '\0';
	ret->stack = line;
	ret->stack_bytes = start;
	return NULL;
}

bool foldtext_next(const char **rest, const char *end, const char **frame, size_t *frame_bytes)
{
	const char *semi;

	if (*rest > end)
		return false;
	semi = memchr(*rest, ';', (size_t)(end - *rest));
	*frame = *rest;
	*frame_bytes = (size_t)((semi ? semi : end) - *rest);
	*rest = (semi ? semi : end) + 1;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int foldtext_escaped_byte(const char *s, size_t len_bytes)
{
	int high, low, byte;

	if (len_bytes < 4 || s[0] != '\\' || s[1] != 'x')
		return -1;
	high = hex_digit(s[2]);
	low = hex_digit(s[3]);
	if (high < 0 || low < 0)
		return -1;
	byte = high << 4 | low;
	return byte < 0x20 || byte >= 0x7f || byte == ';' || byte == '\\' ? byte : -1;
}

/* How many bytes at name cannot stand as they are; 0: *good_bytes of them can. */
static size_t unsafe_bytes(const char *name, size_t len_bytes, size_t *good_bytes)
{
	uint32_t cp = utf8_decode(name, len_bytes, good_bytes);
	bool invalid = *good_bytes == 1 && (unsigned char)name[0] >= 0x80;

	if (cp == '\\')
		return foldtext_escaped_byte(name, len_bytes) >= 0;
	return invalid || cp == ';' || escape_is_unsafe(cp) ? *good_bytes : 0;
}

void foldtext_escape(struct buf *out, const char *name, size_t len_bytes)
{
	size_t done = 0, step_bytes;

	for (size_t i = 0; i < len_bytes; i += step_bytes) {
		size_t bad_bytes = unsafe_bytes(name + i, len_bytes - i, &step_bytes);

		if (!bad_bytes)
			continue;
		buf_append(out, name + done, i - done);
		for (size_t j = 0; j < bad_bytes; j++)
			buf_printf(out, "\\x%02x", (unsigned char)name[i + j]);
		done = i + bad_bytes;
	}
	buf_append(out, name + done, len_bytes - done);
}

void foldtext_unescape(struct buf *out, const char *frame, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++) {
		int c = foldtext_escaped_byte(frame + i, len_bytes - i);

		buf_putc(out, c < 0 ? frame[i] : (char)c);
		if (c >= 0)
			i += 3;
	}
}

bool foldtext_has_escape(const char *frame, size_t len_bytes)
{
	const char *s = frame, *end = frame + len_bytes;

	while (s < end && (s = memchr(s, '\\', (size_t)(end - s)))) {
		if (foldtext_escaped_byte(s, (size_t)(end - s)) >= 0)
			return true;
		s++;
	}
	return false;
}
