/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pull parser for JSON; see jsonpull.h. The window holds the token under work and what follows it; a
 * refill moves the token to the front. Behind the last byte lie NULs, on which every scan stops. */
#include "user/base/jsonpull.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	WINDOW_BYTES = 256 * 1024,
	WORD_BYTES = 8,
};

enum expect {
	EXPECT_VALUE,	    /* after a colon, after a comma in an array, between documents */
	EXPECT_FIRST_VALUE, /* or the end of the array */
	EXPECT_KEY,
	EXPECT_FIRST_KEY, /* or the end of the object */
	EXPECT_MORE,	  /* a comma or the end of what is open */
};

struct jsonpull {
	struct input *in;
	char *window;
	size_t at, end, keep, cap; /* keep: bytes from here on survive a refill */
	uint64_t window_off_bytes; /* of window[0] in the input */
	bool eof, skipping;
	enum expect expect;
	int depth;
	uint64_t is_object[JSONPULL_DEPTH_MAX / 64]; /* a bit a level */
	const char *text;
	size_t len_bytes;
	struct buf plain; /* a string without its escapes */
};

struct jsonpull *jsonpull__new(struct input *in)
{
	struct jsonpull *p = xzalloc(sizeof(*p));

	p->in = in;
	p->cap = WINDOW_BYTES;
	p->window = xzalloc(p->cap + WORD_BYTES);
	p->text = "";
	return p;
}

void jsonpull__free(struct jsonpull *p)
{
	if (!p)
		return;
	buf_free(&p->plain);
	free(p->window);
	free(p);
}

static int bad(const struct jsonpull *p, const char *what, struct err *err)
{
	return err_set(err, -EINVAL, "%s: byte %llu: %s", input_path(p->in),
		       (unsigned long long)(p->window_off_bytes + p->at), what);
}

/* More bytes behind end: 1, 0 at the end of the input, or an error. */
static int refill(struct jsonpull *p, struct err *err)
{
	ssize_t n;

	if (p->eof)
		return 0;
	if (p->keep) {
		memmove(p->window, p->window + p->keep, p->end - p->keep);
		p->window_off_bytes += p->keep;
		p->at -= p->keep;
		p->end -= p->keep;
		p->keep = 0;
	}
	if (p->end == p->cap) {
		if (p->cap >= JSONPULL_STRING_MAX_BYTES)
			return err_set(err, -E2BIG, "%s: byte %llu: a string longer than %d MiB",
				       input_path(p->in), (unsigned long long)p->window_off_bytes,
				       JSONPULL_STRING_MAX_BYTES >> 20);
		p->cap *= 2;
		p->window = xrealloc(p->window, p->cap + WORD_BYTES);
	}
	n = input_read(p->in, p->window + p->end, p->cap - p->end, err);
	if (n < 0)
		return (int)n;
	p->end += (size_t)n;
	memset(p->window + p->end, 0, WORD_BYTES);
	p->eof = n == 0;
	return n > 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static uint64_t load_word(const char *s)
{
	uint64_t w;

	memcpy(&w, s, sizeof(w));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

/* White space is mostly indentation: long runs of blanks, a word at a time. */
static const char *pass_space(const char *s)
{
	while (is_space(*s)) {
		uint64_t other = load_word(++s) ^ 0x2020202020202020u;

		while (!other) {
			s += WORD_BYTES;
			other = load_word(s) ^ 0x2020202020202020u;
		}
		s += __builtin_ctzll(other) / 8;
	}
	return s;
}

/* Stops on the first byte that is no white space; 0 at the end of the input. */
static int skip_space(struct jsonpull *p, struct err *err)
{
	for (;;) {
		int rc;

		p->at = (size_t)(pass_space(p->window + p->at) - p->window);
		if (p->at < p->end)
			return 1;
		p->keep = p->at;
		rc = refill(p, err);
		if (rc <= 0)
			return rc;
	}
}

/* The first byte at or after s that is a quote, a backslash or a control character, a word at a time: the
 * borrow of a subtraction marks bytes below its subtrahend, exact for the lowest marked byte. */
static const char *find_special(const char *s)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

	for (;; s += WORD_BYTES) {
		uint64_t w = load_word(s);
		uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';
		uint64_t hits = ((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) |
				((slash - ones) & ~slash);
		hits &= tops;
		if (hits)
			return s + __builtin_ctzll(hits) / 8;
	}
}

/* A backslash lies at window[at]: passes the escape's first two bytes, 1; the end of input is an error. */
static int pass_escape(struct jsonpull *p, struct err *err)
{
	if (p->at + 1 >= p->end) {
		int rc;

		if (p->skipping)
			p->keep = p->at;
		rc = refill(p, err);
		if (rc <= 0)
			return rc ? rc : bad(p, "the file ends inside a string", err);
	}
	if (!memchr("\"\\/bfnrtu", p->window[p->at + 1], 9))
		return bad(p, "an escape that JSON does not have", err);
	p->at += 2;
	return 1;
}

/* Four hexadecimal digits at s, or -1. */
static int hex4(const char *s, const char *end)
{
	int v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			v = v * 16 + c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v * 16 + (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* The character of "\uXXXX" (s stands behind the u), a surrogate pair joined; returns the bytes used. */
static int unicode_escape(const char *s, const char *end, uint32_t *ret)
{
	int hi = hex4(s, end), lo;

	if (hi < 0)
		return -1;
	*ret = (uint32_t)hi;
	if (hi < 0xd800 || hi > 0xdfff)
		return 4;
	*ret = 0xfffd;
	if (hi > 0xdbff || end - s < 10 || s[4] != '\\' || s[5] != 'u')
		return 4;
	lo = hex4(s + 6, end);
	if (lo < 0xdc00 || lo > 0xdfff)
		return 4;
	*ret = 0x10000 + (((uint32_t)hi & 0x3ff) << 10) + ((uint32_t)lo & 0x3ff);
	return 10;
}

/* Writes the string s..end without its escapes (each is known to be well-formed but for \u) to plain. */
static int resolve_escapes(struct jsonpull *p, const char *s, const char *end, struct err *err)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";

	buf_reset(&p->plain);
	while (s < end) {
		const char *slash = memchr(s, '\\', (size_t)(end - s)), *hit;
		uint32_t c;
		int used;

		buf_append(&p->plain, s, (size_t)((slash ? slash : end) - s));
		if (!slash)
			break;
		s = slash + 2;
		hit = strchr(from, slash[1]);
		if (hit) {
			buf_putc(&p->plain, to[hit - from]);
		} else if (slash[1] != 'u') {
			buf_putc(&p->plain, slash[1]);
		} else {
			used = unicode_escape(s, end, &c);
			if (used < 0)
				return bad(p, "\\u without four hexadecimal digits", err);
			buf_put_utf8(&p->plain, c);
			s += used;
		}
	}
	p->text = buf_str(&p->plain);
	p->len_bytes = p->plain.len_bytes;
	return 0;
}

/* A string whose opening quote lies at window[at]; afterwards text and len_bytes hold it. While skipping,
 * the window may move on, and \u is not looked into: its digits are plain bytes of the string. */
static int scan_string(struct jsonpull *p, struct err *err)
{
	bool escaped = false;
	int rc = 1;

	p->keep = p->at++;
	for (;;) {
		const char *s = find_special(p->window + p->at);

		p->at = (size_t)(s - p->window);
		if (p->at >= p->end) {
			p->at = p->end;
			if (p->skipping)
				p->keep = p->at;
			rc = refill(p, err);
			if (!rc)
				rc = bad(p, "the file ends inside a string", err);
		} else if (*s == '"') {
			break;
		} else if (*s == '\\') {
			escaped = true;
			rc = pass_escape(p, err);
		} else {
			rc = bad(p, "a control character inside a string", err);
		}
		if (rc < 0)
			return rc;
	}
	p->text = p->window + p->keep + 1;
	p->len_bytes = p->at++ - p->keep - 1;
	if (escaped && !p->skipping)
		return resolve_escapes(p, p->text, p->text + p->len_bytes, err);
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *pass_digits(const char *s)
{
	while (is_digit(*s))
		s++;
	return s;
}

/* The end of a number that starts at s, or NULL if it is none. */
static const char *number_end(const char *s)
{
	s += *s == '-';
	if (!is_digit(*s))
		return NULL;
	s = *s == '0' ? s + 1 : pass_digits(s);
	if (*s == '.') {
		if (!is_digit(s[1]))
			return NULL;
		s = pass_digits(s + 1);
	}
	if (*s == 'e' || *s == 'E') {
		s += s[1] == '+' || s[1] == '-' ? 2 : 1;
		if (!is_digit(*s))
			return NULL;
		s = pass_digits(s);
	}
	return s;
}

/* Makes sure that the whole run of letters, digits, signs and dots at window[at] is in the window. */
static int whole_word(struct jsonpull *p, struct err *err)
{
	p->keep = p->at;
	for (size_t len = 0;; len++) {
		const char *s = p->window + p->at;
		int rc;

		while (is_digit(s[len]) || (s[len] >= 'A' && s[len] <= 'z') || s[len] == '+' ||
		       s[len] == '-' || s[len] == '.')
			len++;
		if (p->at + len < p->end)
			return 0;
		rc = refill(p, err);
		if (rc <= 0)
			return rc;
	}
}

static int scan_number(struct jsonpull *p, struct err *err)
{
	const char *end;
	int rc = whole_word(p, err);

	if (rc)
		return rc;
	end = number_end(p->window + p->at);
	if (!end)
		return bad(p, "a number that JSON does not have", err);
	p->text = p->window + p->at;
	p->len_bytes = (size_t)(end - p->text);
	p->at += p->len_bytes;
	return JSONPULL_NUMBER;
}

static int scan_literal(struct jsonpull *p, struct err *err)
{
	static const struct {
		const char *word;
		int token;
	} words[] = { { "true", JSONPULL_TRUE },
		      { "false", JSONPULL_FALSE },
		      { "null", JSONPULL_NULL } };
	int rc = whole_word(p, err);

	for (size_t i = 0; !rc && i < ARRAY_CNT(words); i++) {
		size_t len = strlen(words[i].word);

		if (strncmp(p->window + p->at, words[i].word, len) != 0)
			continue;
		p->at += len;
		return words[i].token;
	}
	return rc ? rc : bad(p, "this is not JSON", err);
}

static bool in_object(const struct jsonpull *p)
{
	int level = p->depth - 1;

	return level >= 0 && (p->is_object[level / 64] >> level % 64 & 1);
}

static int open_level(struct jsonpull *p, bool object, struct err *err)
{
	uint64_t bit = 1ull << p->depth % 64;

	if (p->depth == JSONPULL_DEPTH_MAX)
		return err_set(err, -E2BIG, "%s: byte %llu: nested deeper than %d levels",
			       input_path(p->in), (unsigned long long)(p->window_off_bytes + p->at),
			       JSONPULL_DEPTH_MAX);
	if (object)
		p->is_object[p->depth / 64] |= bit;
	else
		p->is_object[p->depth / 64] &= ~bit;
	p->depth++;
	p->at++;
	p->expect = object ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE;
	return object ? JSONPULL_OBJECT : JSONPULL_ARRAY;
}

static int close_level(struct jsonpull *p)
{
	int token = in_object(p) ? JSONPULL_OBJECT_END : JSONPULL_ARRAY_END;

	p->at++;
	p->depth--;
	p->expect = p->depth ? EXPECT_MORE : EXPECT_VALUE;
	return token;
}

static int scan_key(struct jsonpull *p, struct err *err)
{
	size_t keep;
	int rc;

	if (p->window[p->at] != '"')
		return bad(p, "a key was expected", err);
	rc = scan_string(p, err);
	if (rc)
		return rc;
	if (p->window[p->at] != ':') { /* rare: the key must survive a refill */
		if (p->text != buf_str(&p->plain)) {
			buf_reset(&p->plain);
			buf_append(&p->plain, p->text, p->len_bytes);
			p->text = buf_str(&p->plain);
		}
		keep = p->len_bytes;
		rc = skip_space(p, err);
		p->len_bytes = keep;
		if (rc < 0)
			return rc;
		if (!rc || p->window[p->at] != ':')
			return bad(p, "a colon was expected", err);
	}
	p->at++;
	p->expect = EXPECT_VALUE;
	return JSONPULL_KEY;
}

static int scan_value(struct jsonpull *p, struct err *err)
{
	char c = p->window[p->at];
	int rc;

	if (c == '{' || c == '[')
		return open_level(p, c == '{', err);
	p->expect = p->depth ? EXPECT_MORE : EXPECT_VALUE;
	if (c == '"') {
		rc = scan_string(p, err);
		return rc ? rc : JSONPULL_STRING;
	}
	if (c == '-' || is_digit(c))
		return scan_number(p, err);
	return scan_literal(p, err);
}

/* A comma, after which there must be a value or a key, or the end of what is open. */
static int scan_more(struct jsonpull *p, struct err *err)
{
	bool object = in_object(p);
	int rc;

	if (p->window[p->at] == (object ? '}' : ']'))
		return close_level(p);
	if (p->window[p->at] != ',')
		return bad(p, object ? "a comma or } was expected" : "a comma or ] was expected",
			   err);
	p->at++;
	rc = skip_space(p, err);
	if (rc <= 0)
		return rc ? rc : bad(p, "the file ends too early", err);
	return object ? scan_key(p, err) : scan_value(p, err);
}

int jsonpull__next(struct jsonpull *p, struct err *err)
{
	int rc = skip_space(p, err);
	char c;

	if (rc < 0)
		return rc;
	if (!rc)
		return p->depth || p->expect != EXPECT_VALUE ?
			       bad(p, "the file ends too early", err) :
			       JSONPULL_END;
	c = p->window[p->at];
	switch (p->expect) {
	case EXPECT_FIRST_KEY:
		return c == '}' ? close_level(p) : scan_key(p, err);
	case EXPECT_KEY:
		return scan_key(p, err);
	case EXPECT_FIRST_VALUE:
		return c == ']' ? close_level(p) : scan_value(p, err);
	case EXPECT_VALUE:
		return scan_value(p, err);
	case EXPECT_MORE:
		return scan_more(p, err);
	}
	return bad(p, "this is not JSON", err);
}

int jsonpull__leave(struct jsonpull *p, struct err *err)
{
	int until = p->depth - 1, rc = 1;

	p->skipping = true;
	while (p->depth > until && rc > 0)
		rc = jsonpull__next(p, err);
	p->skipping = false;
	return rc < 0 ? rc : 0;
}

int jsonpull__skip(struct jsonpull *p, struct err *err)
{
	int rc;

	p->skipping = true;
	rc = jsonpull__next(p, err);
	p->skipping = false;
	if (rc == JSONPULL_OBJECT || rc == JSONPULL_ARRAY)
		return jsonpull__leave(p, err);
	return rc < 0 ? rc : 0;
}

const char *jsonpull__text(const struct jsonpull *p, size_t *len_bytes)
{
	*len_bytes = p->len_bytes;
	return p->text;
}

int jsonpull__depth(const struct jsonpull *p)
{
	return p->depth;
}

/* Numbers with a fraction or an exponent: rare, so through a double. */
static bool f64_as_i64(const char *s, size_t len, int64_t *ret, bool *saturated)
{
	char text[64];
	double v;

	if (len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = 0;
	if (parse_f64(text, &v, NULL))
		return false;
	*saturated = !(v > -9.2e18 && v < 9.2e18);
	*ret = !*saturated ? (int64_t)v : v < 0 ? INT64_MIN : INT64_MAX;
	return true;
}

bool jsonpull__i64(const struct jsonpull *p, int64_t *ret, bool *saturated)
{
	const char *s = p->text, *end = s + p->len_bytes;
	bool minus = s < end && *s == '-';
	uint64_t v = 0;

	*ret = 0;
	*saturated = false;
	s += minus;
	if (s == end)
		return false;
	for (; s < end && is_digit(*s); s++) {
		if (v > (INT64_MAX - 9) / 10)
			*saturated = true;
		else
			v = v * 10 + (uint64_t)(*s - '0');
	}
	if (s < end)
		return f64_as_i64(p->text, p->len_bytes, ret, saturated);
	if (*saturated)
		*ret = minus ? INT64_MIN : INT64_MAX;
	else
		*ret = minus ? -(int64_t)v : (int64_t)v;
	return true;
}
