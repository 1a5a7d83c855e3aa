/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Span tables; see spantable.h. */
#include "user/exchange/spantable.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
	LINE_MAX_BYTES = 1 << 16,
	FIELD_CNT = 6,
	US_MAX_DIGITS = 16,
};

struct field {
	const char *text;
	size_t len_bytes;
};

static bool split(const char *line, size_t len_bytes, struct field *f)
{
	const char *end = line + len_bytes;

	for (int i = 0; i < FIELD_CNT; i++) {
		const char *tab = memchr(line, '\t', (size_t)(end - line));

		if ((tab == NULL) != (i == FIELD_CNT - 1))
			return false;
		f[i].text = line;
		f[i].len_bytes = (size_t)((tab ? tab : end) - line);
		line = tab ? tab + 1 : end;
	}
	return true;
}

static bool is_word(const struct field *f, const char *word)
{
	return f->len_bytes == strlen(word) && !memcmp(f->text, word, f->len_bytes);
}

static bool parse_us(const struct field *f, int64_t *ret_ns)
{
	int64_t v = 0;

	if (!f->len_bytes || f->len_bytes > US_MAX_DIGITS)
		return false;
	for (size_t i = 0; i < f->len_bytes; i++) {
		if (f->text[i] < '0' || f->text[i] > '9')
			return false;
		v = v * 10 + (f->text[i] - '0');
	}
	*ret_ns = v * 1000;
	return v <= INT64_MAX / 2000;
}

bool spantable_detect(const char *head, size_t len_bytes)
{
	const char *nl = memchr(head, '\n', len_bytes);
	struct field f[FIELD_CNT];

	return split(head, nl ? (size_t)(nl - head) : len_bytes, f) &&
	       (is_word(&f[1], "in") || is_word(&f[1], "out"));
}

static const char *read_call(struct msgtrace *t, const struct field *f)
{
	uint32_t service, peer;
	int64_t start_ns, end_ns;
	struct call c;
	bool in = is_word(&f[1], "in");

	if (!in && !is_word(&f[1], "out"))
		return "the second field is neither in nor out";
	if (!f[0].len_bytes || !f[2].len_bytes)
		return "a service without a name";
	if (!parse_us(&f[3], &start_ns) || !parse_us(&f[4], &end_ns))
		return "a time is not a number of microseconds";
	if (end_ns < start_ns)
		return "the end is before the start";
	if (t->call_cnt >= CALL_TRUE_NONE - 1)
		return "more than 2^30 calls";
	service = msgtrace__node(t, f[0].text, f[0].len_bytes);
	peer = msgtrace__node(t, f[2].text, f[2].len_bytes);
	c = in ? call_init(peer, service, start_ns, end_ns) :
		 call_init(service, peer, start_ns, end_ns);
	c.side = in ? CALL_SERVER : CALL_CLIENT;
	c.id = msgtrace__id(t, f[5].text, f[5].len_bytes);
	msgtrace__add_call(t, &c, NULL);
	return NULL;
}

int spantable_read(struct input *in, struct msgtrace *t, struct err *err)
{
	struct field f[FIELD_CNT];
	const char *why;
	size_t len_bytes;
	char *line;
	int rc;

	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		if (!len_bytes || line[0] == '#')
			continue;
		why = split(line, len_bytes, f) ? read_call(t, f) :
						  "not 6 fields with tabs between";
		if (why)
			return err_set(err, -EINVAL, "%s:%llu: %s", input_path(in),
				       (unsigned long long)input_line_no(in), why);
	}
	return rc;
}
