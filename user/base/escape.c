/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escaping of untrusted names; see escape.h. */
#include "user/base/escape.h"

#include <errno.h>

enum {
	REPLACEMENT = 0xfffd
};

static bool continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

uint32_t utf8_decode(const char *s, size_t len_bytes, size_t *used_bytes)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t need_bytes;
	uint32_t cp;

	*used_bytes = 1;
	if (u[0] < 0x80)
		return u[0];
	need_bytes = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : u[0] >= 0xc2 ? 2 : 0;
	if (!need_bytes || u[0] > 0xf4 || need_bytes > len_bytes)
		return REPLACEMENT;
	cp = u[0] & (0x7fU >> need_bytes);
	for (size_t i = 1; i < need_bytes; i++) {
		if (!continuation(u[i]))
			return REPLACEMENT;
		cp = cp << 6 | (u[i] & 0x3f);
	}
	if (cp < smallest[need_bytes] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return REPLACEMENT;
	*used_bytes = need_bytes;
	return cp;
}

void buf_put_utf8(struct buf *out, uint32_t cp)
{
	if (cp < 0x80) {
		buf_putc(out, (char)cp);
	} else if (cp < 0x800) {
		buf_putc(out, (char)(0xc0 | cp >> 6));
		buf_putc(out, (char)(0x80 | (cp & 0x3f)));
	} else if (cp < 0x10000) {
		buf_putc(out, (char)(0xe0 | cp >> 12));
		buf_putc(out, (char)(0x80 | (cp >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (cp & 0x3f)));
	} else {
		buf_putc(out, (char)(0xf0 | cp >> 18));
		buf_putc(out, (char)(0x80 | (cp >> 12 & 0x3f)));
		buf_putc(out, (char)(0x80 | (cp >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (cp & 0x3f)));
	}
}

static bool turns_direction(uint32_t cp)
{
	return cp == 0x61c || cp == 0x200e || cp == 0x200f || (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x2069);
}

static bool control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

bool escape_is_unsafe(uint32_t code_point)
{
	return control(code_point) || turns_direction(code_point);
}

void escape_terminal(struct buf *out, const char *s, size_t len_bytes)
{
	size_t used_bytes;

	for (; len_bytes; s += used_bytes, len_bytes -= used_bytes) {
		uint32_t cp = utf8_decode(s, len_bytes, &used_bytes);

		if (control(cp))
			buf_printf(out, "\\x%02x", (unsigned int)cp);
		else if (turns_direction(cp))
			buf_printf(out, "\\u{%x}", (unsigned int)cp);
		else
			buf_put_utf8(out, cp);
	}
}

static const char *xml_entity(uint32_t cp)
{
	switch (cp) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&apos;";
	default:
		return NULL;
	}
}

void escape_xml(struct buf *out, const char *s, size_t len_bytes)
{
	size_t used_bytes;

	for (; len_bytes; s += used_bytes, len_bytes -= used_bytes) {
		uint32_t cp = utf8_decode(s, len_bytes, &used_bytes);
		const char *entity = xml_entity(cp);

		if (entity)
			buf_puts(out, entity);
		else if (control(cp) || cp == 0xfffe || cp == 0xffff)
			buf_put_utf8(out, REPLACEMENT);
		else if (turns_direction(cp))
			buf_printf(out, "\\u{%x}", (unsigned int)cp);
		else
			buf_put_utf8(out, cp);
	}
}

static void put_json_char(struct buf *out, uint32_t cp)
{
	if (cp == '"' || cp == '\\') {
		buf_putc(out, '\\');
		buf_putc(out, (char)cp);
	} else if (cp == '\n') {
		buf_puts(out, "\\n");
	} else if (cp == '\t') {
		buf_puts(out, "\\t");
	} else if (control(cp) || turns_direction(cp) || cp == 0x2028 || cp == 0x2029 ||
		   cp == '<') {
		buf_printf(out, "\\u%04x", (unsigned int)cp);
	} else {
		buf_put_utf8(out, cp);
	}
}

void escape_json(struct buf *out, const char *s, size_t len_bytes)
{
	size_t used_bytes;

	buf_putc(out, '"');
	for (; len_bytes; s += used_bytes, len_bytes -= used_bytes)
		put_json_char(out, utf8_decode(s, len_bytes, &used_bytes));
	buf_putc(out, '"');
}

static void put_quoted(struct buf *out, const char *s, size_t used_bytes, uint32_t cp)
{
	if (cp == '\n') {
		buf_puts(out, "\\n");
	} else if (cp == '\t') {
		buf_puts(out, "\\t");
	} else if (control(cp) || turns_direction(cp) || (cp == REPLACEMENT && used_bytes == 1)) {
		for (size_t i = 0; i < used_bytes; i++)
			buf_printf(out, "\\x%02x", (unsigned int)(unsigned char)s[i]);
	} else {
		if (cp == '"' || cp == '\\')
			buf_putc(out, '\\');
		buf_append(out, s, used_bytes);
	}
}

void escape_quoted(struct buf *out, const char *s, size_t len_bytes)
{
	size_t used_bytes;

	buf_putc(out, '"');
	for (; len_bytes; s += used_bytes, len_bytes -= used_bytes) {
		uint32_t cp = utf8_decode(s, len_bytes, &used_bytes);

		put_quoted(out, s, used_bytes, cp);
	}
	buf_putc(out, '"');
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What follows a backslash; returns the bytes it took, or 0 if it is wrong. */
static size_t take_escape(struct buf *out, const char *s, size_t len_bytes)
{
	int high, low;

	if (!len_bytes)
		return 0;
	if (s[0] == '"' || s[0] == '\\')
		buf_putc(out, s[0]);
	else if (s[0] == 'n')
		buf_putc(out, '\n');
	else if (s[0] == 't')
		buf_putc(out, '\t');
	if (s[0] != 'x')
		return s[0] == '"' || s[0] == '\\' || s[0] == 'n' || s[0] == 't';
	high = len_bytes > 2 ? hex_digit(s[1]) : -1;
	low = len_bytes > 2 ? hex_digit(s[2]) : -1;
	if (high < 0 || low < 0)
		return 0;
	buf_putc(out, (char)(high << 4 | low));
	return 3;
}

int unescape_quoted(struct buf *out, const char *s, size_t len_bytes, size_t *used_bytes)
{
	size_t at = 1;

	while (at < len_bytes && s[at] != '"') {
		size_t n = 1;

		if (s[at] == '\\')
			n = take_escape(out, s + at + 1, len_bytes - at - 1);
		else
			buf_putc(out, s[at]);
		if (!n)
			return -EINVAL;
		at += n + (s[at] == '\\');
	}
	if (at >= len_bytes)
		return -EINVAL;
	*used_bytes = at + 1;
	return 0;
}
