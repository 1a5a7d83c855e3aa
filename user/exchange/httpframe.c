/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends of HTTP/1 messages; see httpframe.h. */
#include "user/exchange/httpframe.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	METHOD_MAX_BYTES = 20
};

/* The first line of a request: METHOD target HTTP/1.x, as far as it was kept. */
static bool looks_like_request(const struct httpframe *f)
{
	size_t i = 0;

	while (i < f->line_bytes && f->line[i] >= 'A' && f->line[i] <= 'Z')
		i++;
	if (i < 3 || i > METHOD_MAX_BYTES || i == f->line_bytes || f->line[i] != ' ')
		return false;
	if (f->line_bytes == HTTPFRAME_LINE_MAX - 1) /* a long target hides the version */
		return true;
	return f->line_bytes > i + 10 && !memcmp(f->line + f->line_bytes - 8, "HTTP/1.", 7);
}

static void first_line(struct httpframe *f)
{
	f->chunked = f->has_length = f->interim = f->no_body = f->is_request = f->is_head = false;
	f->body_bytes = 0;
	if (f->line_bytes >= 12 && !memcmp(f->line, "HTTP/1.", 7)) {
		const char *status = f->line + 9;

		f->interim = status[0] == '1' && memcmp(status, "101", 3) != 0;
		f->no_body = !memcmp(status, "204", 3) || !memcmp(status, "304", 3);
		f->state = HTTPFRAME_HEADERS;
	} else if (looks_like_request(f)) {
		f->is_request = true;
		f->is_head = !memcmp(f->line, "HEAD ", 5);
		f->state = HTTPFRAME_HEADERS;
	} else {
		f->state = HTTPFRAME_OPAQUE;
	}
}

/* A number in the line from at; digits of the base only, saturating. */
static uint64_t number(const struct httpframe *f, size_t at, unsigned int base)
{
	uint64_t v = 0;

	while (at < f->line_bytes && f->line[at] == ' ')
		at++;
	for (; at < f->line_bytes && isxdigit((unsigned char)f->line[at]); at++) {
		unsigned int digit = f->line[at] <= '9' ?
					     (unsigned int)(f->line[at] - '0') :
					     (unsigned int)((f->line[at] | 32) - 'a') + 10;

		if (digit >= base)
			break;
		if (v > UINT64_MAX / 32)
			return UINT64_MAX / 2;
		v = v * base + digit;
	}
	return v;
}

static void header_line(struct httpframe *f)
{
	static const char length[] = "content-length:", encoding[] = "transfer-encoding:";

	if (f->line_bytes > sizeof(length) - 1 &&
	    !strncasecmp(f->line, length, sizeof(length) - 1)) {
		f->has_length = true;
		f->body_bytes = number(f, sizeof(length) - 1, 10);
	} else if (f->line_bytes > sizeof(encoding) - 1 &&
		   !strncasecmp(f->line, encoding, sizeof(encoding) - 1)) {
		f->line[f->line_bytes] = '\0';
		f->chunked = strcasestr(f->line, "chunked") != NULL;
	}
}

/* The empty line after the headers: true if the message has no body. */
static bool headers_end(struct httpframe *f, bool reply_to_head)
{
	bool no_body = f->is_request ? !f->has_length && !f->chunked :
				       f->no_body || f->interim || reply_to_head;

	if (f->chunked && !no_body) {
		f->state = HTTPFRAME_CHUNK_SIZE;
		return false;
	}
	if (no_body || (f->has_length && !f->body_bytes)) {
		f->state = HTTPFRAME_START;
		return true;
	}
	f->state = f->has_length ? HTTPFRAME_BODY : HTTPFRAME_UNTIL_CLOSE;
	return false;
}

/* A whole line has come. True if it ends the message. */
static bool on_line(struct httpframe *f, bool reply_to_head)
{
	bool empty = !f->line_bytes, ended = false;

	switch (f->state) {
	case HTTPFRAME_START:
		if (!empty) /* an empty line between messages is allowed */
			first_line(f);
		break;
	case HTTPFRAME_HEADERS:
		if (empty)
			ended = headers_end(f, reply_to_head);
		else
			header_line(f);
		break;
	case HTTPFRAME_CHUNK_SIZE:
		f->body_bytes = number(f, 0, 16);
		f->state = f->body_bytes ? HTTPFRAME_BODY : HTTPFRAME_TRAILER;
		break;
	case HTTPFRAME_CHUNK_END:
		f->state = HTTPFRAME_CHUNK_SIZE;
		break;
	case HTTPFRAME_TRAILER:
		ended = empty;
		f->state = empty ? HTTPFRAME_START : HTTPFRAME_TRAILER;
		break;
	default:
		break;
	}
	f->line_bytes = 0;
	return ended;
}

/* len_bytes of a body are over. True if the message is. */
static bool body(struct httpframe *f, uint64_t len_bytes)
{
	f->body_bytes -= len_bytes;
	if (f->body_bytes)
		return false;
	f->state = f->chunked ? HTTPFRAME_CHUNK_END : HTTPFRAME_START;
	return !f->chunked;
}

/* Adds to the line up to its end; the carriage return is dropped. Returns the bytes used. */
static size_t fill_line(struct httpframe *f, const uint8_t *data, size_t len_bytes, bool *whole)
{
	const uint8_t *nl = memchr(data, '\n', len_bytes);
	size_t used = nl ? (size_t)(nl - data) + 1 : len_bytes, text = nl ? used - 1 : used;
	size_t room = HTTPFRAME_LINE_MAX - 1 - f->line_bytes;

	if (text > room)
		text = room;
	memcpy(f->line + f->line_bytes, data, text);
	f->line_bytes = (uint16_t)(f->line_bytes + text);
	*whole = nl != NULL;
	if (nl && f->line_bytes && f->line[f->line_bytes - 1] == '\r')
		f->line_bytes--;
	return used;
}

/* The first bytes may already tell that no HTTP line will come. */
static bool hopeless(const struct httpframe *f)
{
	static const char reply[] = "HTTP/1.";
	size_t n = f->line_bytes < sizeof(reply) - 1 ? f->line_bytes : sizeof(reply) - 1;

	if (!memcmp(f->line, reply, n))
		return false;
	for (size_t i = 0; i < f->line_bytes && i <= METHOD_MAX_BYTES; i++) {
		if (f->line[i] == ' ' && i >= 3)
			return false;
		if (f->line[i] < 'A' || f->line[i] > 'Z')
			return true;
	}
	return f->line_bytes > METHOD_MAX_BYTES;
}

bool httpframe_feed(struct httpframe *f, const uint8_t *data, size_t len_bytes, bool reply_to_head,
		    size_t *used_bytes)
{
	size_t at = 0;
	bool ended = false;

	while (at < len_bytes && !ended) {
		if (f->state == HTTPFRAME_OPAQUE || f->state == HTTPFRAME_UNTIL_CLOSE) {
			at = len_bytes;
		} else if (f->state == HTTPFRAME_BODY) {
			uint64_t n =
				len_bytes - at < f->body_bytes ? len_bytes - at : f->body_bytes;

			at += (size_t)n;
			ended = body(f, n);
		} else {
			bool whole;

			at += fill_line(f, data + at, len_bytes - at, &whole);
			if (whole)
				ended = on_line(f, reply_to_head);
			else if (f->state == HTTPFRAME_START && hopeless(f))
				f->state = HTTPFRAME_OPAQUE;
		}
	}
	*used_bytes = at;
	return ended;
}

bool httpframe_skip(struct httpframe *f, uint64_t len_bytes)
{
	if (f->state == HTTPFRAME_BODY && len_bytes <= f->body_bytes)
		return len_bytes && body(f, len_bytes);
	/* between two messages the gap may be a message: what follows begins one, as far as anybody knows */
	if (f->state != HTTPFRAME_UNTIL_CLOSE && (f->state != HTTPFRAME_START || f->line_bytes))
		f->state = HTTPFRAME_OPAQUE;
	f->line_bytes = 0;
	return false;
}
