/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reader of folded stacks; see folded.h. A line is split in place; frames point into it. */
#include "flamegraph/folded.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/foldtext.h"
#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	SNIFF_LINES = 1000,
	SNIFF_BYTES = 1 << 20,
	COUNT_MAX_BYTES = 400, /* "1" and 309 zeros is a double; longer ones are not */
};

struct folded {
	struct input *in;
	struct buf head; /* lines read ahead to decide on the counts, each behind its length */
	size_t head_at;
	uint64_t head_line_no;
	struct buf text; /* one unescaped frame */
	struct flame_str *frames;
	size_t frame_cap;
	bool negative_ok;
	struct folded_stats stats;
};

/* A count at the end of text[0..len): its first byte, or SIZE_MAX. *value is finite. */
static size_t last_count(const char *text, size_t len_bytes, double *value)
{
	char copy[COUNT_MAX_BYTES + 1];
	size_t at = len_bytes;
	uint64_t v = 0;
	size_t i;

	while (at && text[at - 1] != ' ' && text[at - 1] != '\t')
		at--;
	if (!at || at == len_bytes || len_bytes - at > COUNT_MAX_BYTES)
		return SIZE_MAX;
	for (i = at; i < len_bytes && text[i] >= '0' && text[i] <= '9'; i++)
		v = v * 10 + (uint64_t)(text[i] - '0');
	*value = (double)v;
	if (i == len_bytes && len_bytes - at <= 18)
		return at;
	memcpy(copy, text + at, len_bytes - at);
	copy[len_bytes - at] = '\0';
	return parse_f64(copy, value, NULL) ? SIZE_MAX : at;
}

static size_t trim_end(const char *text, size_t len_bytes)
{
	while (len_bytes && (text[len_bytes - 1] == ' ' || text[len_bytes - 1] == '\t'))
		len_bytes--;
	return len_bytes;
}

static bool is_comment(const char *text, size_t len_bytes)
{
	return !trim_end(text, len_bytes) || text[0] == '#';
}

static bool has_two_counts(const char *text, size_t len_bytes)
{
	double v;

	for (int i = 0; i < 2; i++) {
		size_t at = last_count(text, trim_end(text, len_bytes), &v);

		if (at == SIZE_MAX)
			return false;
		len_bytes = at;
	}
	return true;
}

static bool has_count(const char *text, size_t len_bytes)
{
	double v;

	return last_count(text, trim_end(text, len_bytes), &v) != SIZE_MAX;
}

static int refuse_utf16(struct folded *f, const char *line, size_t len_bytes, struct err *err)
{
	const unsigned char *u = (const unsigned char *)line;
	size_t zero_cnt = 0;

	for (size_t i = 0; i < len_bytes && i < 256; i++)
		zero_cnt += !u[i];
	if ((len_bytes >= 2 &&
	     ((u[0] == 0xff && u[1] == 0xfe) || (u[0] == 0xfe && u[1] == 0xff))) ||
	    (zero_cnt && zero_cnt * 3 >= (len_bytes < 256 ? len_bytes : 256)))
		return err_set(err, -EINVAL,
			       "%s is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8",
			       input_path(f->in));
	return 0;
}

static int read_line(struct folded *f, char **line, size_t *len_bytes, struct err *err)
{
	int rc = input_line(f->in, FOLDED_LINE_MAX_BYTES, line, len_bytes, err);

	if (rc <= 0 || input_line_no(f->in) > 1)
		return rc;
	if (refuse_utf16(f, *line, *len_bytes, err))
		return -EINVAL;
	if (*len_bytes >= 3 && !memcmp(*line, "\xef\xbb\xbf", 3)) {
		*line += 3;
		*len_bytes -= 3;
	}
	return 1;
}

/* Reads the first lines into f->head and decides. */
static int sniff(struct folded *f, struct err *err)
{
	size_t two_cnt = 0, cnt = 0;

	while (f->head_line_no < SNIFF_LINES && f->head.len_bytes < SNIFF_BYTES) {
		char *line;
		size_t len_bytes;
		int rc = read_line(f, &line, &len_bytes, err);

		if (rc < 0)
			return rc;
		if (!rc)
			break;
		f->head_line_no++;
		buf_append(&f->head, &len_bytes, sizeof(len_bytes));
		buf_append(&f->head, line, len_bytes + 1);
		if (is_comment(line, len_bytes) || !has_count(line, len_bytes))
			continue;
		cnt++;
		two_cnt += has_two_counts(line, len_bytes);
	}
	f->stats.two_counts = cnt && two_cnt == cnt;
	f->head_line_no = 0;
	return 0;
}

int folded_open(struct input *in, enum folded_counts counts, bool negative_ok, struct folded **ret,
		struct err *err)
{
	struct folded *f = xzalloc(sizeof(*f));
	int rc = 0;

	f->in = in;
	f->negative_ok = negative_ok;
	f->stats.two_counts = counts == FOLDED_TWO;
	if (counts == FOLDED_DETECT)
		rc = sniff(f, err);
	if (rc)
		folded_close(f);
	else
		*ret = f;
	return rc;
}

static int next_line(struct folded *f, char **line, size_t *len_bytes, uint64_t *line_no,
		     struct err *err)
{
	if (f->head_at < f->head.len_bytes) {
		memcpy(len_bytes, f->head.data + f->head_at, sizeof(*len_bytes));
		*line = f->head.data + f->head_at + sizeof(*len_bytes);
		f->head_at += sizeof(*len_bytes) + *len_bytes + 1;
		*line_no = ++f->head_line_no;
		return 1;
	}
	if (f->head.cap_bytes)
		buf_free(&f->head);
	f->head_at = 0;
	*line_no = input_line_no(f->in) + 1;
	return read_line(f, line, len_bytes, err);
}

static void count_bad(struct folded *f, const char *line, size_t len_bytes, uint64_t line_no)
{
	size_t keep_bytes = sizeof(f->stats.first_bad) - 1;

	if (f->stats.bad_cnt++)
		return;
	f->stats.first_bad_line_no = line_no;
	if (keep_bytes > len_bytes)
		keep_bytes = len_bytes;
	memcpy(f->stats.first_bad, line, keep_bytes);
	f->stats.first_bad[keep_bytes] = '\0';
}

static void put_frame(struct folded *f, size_t cnt, const char *s, const char *end)
{
	f->frames = xgrow(f->frames, &f->frame_cap, cnt + 1, sizeof(*f->frames));
	f->frames[cnt] = (struct flame_str){ s, (size_t)(end - s) };
}

/* True if the ";" at semi ends an XML entity, as names have that some tool escaped already ("&lt;init&gt;"):
 * it is part of the name. */
static bool ends_entity(const char *start, const char *semi)
{
	static const char *const entities[] = { "&amp", "&lt", "&gt", "&quot", "&apos" };
	const char *c = semi;

	for (size_t i = 0; i < ARRAY_CNT(entities); i++) {
		size_t len_bytes = strlen(entities[i]);

		if ((size_t)(semi - start) >= len_bytes &&
		    !memcmp(semi - len_bytes, entities[i], len_bytes))
			return true;
	}
	while (c > start && c[-1] >= '0' && c[-1] <= '9')
		c--;
	return c < semi && c - start >= 2 && c[-1] == '#' && c[-2] == '&';
}

static size_t split_plain(struct folded *f, const char *start, const char *end)
{
	size_t cnt = 0;

	for (const char *semi; (semi = memchr(start, ';', (size_t)(end - start))); start = semi + 1)
		put_frame(f, cnt++, start, semi);
	put_frame(f, cnt++, start, end);
	return cnt;
}

static size_t split_at_entities(struct folded *f, const char *start, const char *end)
{
	size_t cnt = 0;

	for (const char *semi = start; (semi = memchr(semi, ';', (size_t)(end - semi))); semi++) {
		if (ends_entity(start, semi))
			continue;
		put_frame(f, cnt++, start, semi);
		start = semi + 1;
	}
	put_frame(f, cnt++, start, end);
	return cnt;
}

/* Undoes the escapes of our own folded text, in place: it only ever gets shorter. */
static void unescape_frames(struct folded *f, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct flame_str *frame = &f->frames[i];

		if (!foldtext_has_escape(frame->s, frame->len_bytes))
			continue;
		buf_reset(&f->text);
		foldtext_unescape(&f->text, frame->s, frame->len_bytes);
		frame->len_bytes = f->text.len_bytes;
		memcpy((char *)frame->s, buf_str(&f->text), frame->len_bytes);
	}
}

/* Empty fields at the end vanish, others are frames. */
static size_t split_frames(struct folded *f, char *s, size_t len_bytes)
{
	size_t cnt = memchr(s, '&', len_bytes) ? split_at_entities(f, s, s + len_bytes) :
						 split_plain(f, s, s + len_bytes);

	if (memchr(s, '\\', len_bytes))
		unescape_frames(f, cnt);
	while (cnt && !f->frames[cnt - 1].len_bytes)
		cnt--;
	return cnt;
}

/* Takes the counts off the end; the stack's length, or SIZE_MAX when one is missing. */
static size_t take_counts(struct folded *f, const char *line, size_t len_bytes, double values[2])
{
	int cnt = f->stats.two_counts ? 2 : 1;

	values[1] = 0;
	for (int i = cnt - 1; i >= 0; i--) {
		len_bytes = last_count(line, trim_end(line, len_bytes), &values[i]);
		if (len_bytes == SIZE_MAX || (values[i] < 0 && !f->negative_ok))
			return SIZE_MAX;
	}
	return len_bytes ? len_bytes - 1 : 0; /* one blank parts; more belong to the name */
}

int folded_next(struct folded *f, struct folded_line *ret, struct err *err)
{
	for (;;) {
		char *line;
		size_t len_bytes, stack_bytes;
		int rc = next_line(f, &line, &len_bytes, &ret->line_no, err);

		if (rc <= 0)
			return rc;
		if (is_comment(line, len_bytes))
			continue;
		stack_bytes = take_counts(f, line, len_bytes, ret->values);
		if (stack_bytes == SIZE_MAX) {
			count_bad(f, line, len_bytes, ret->line_no);
			continue;
		}
		ret->frame_cnt = split_frames(f, line, stack_bytes);
		ret->frames = f->frames;
		f->stats.good_cnt++;
		return 1;
	}
}

const struct folded_stats *folded_stats(const struct folded *f)
{
	return &f->stats;
}

void folded_put_warning(const struct folded *f, struct buf *out)
{
	const struct folded_stats *s = &f->stats;

	if (!s->bad_cnt)
		return;
	buf_printf(out, "%llu line%s without a usable count skipped, the first is line %llu: ",
		   (unsigned long long)s->bad_cnt, s->bad_cnt == 1 ? "" : "s",
		   (unsigned long long)s->first_bad_line_no);
	escape_terminal(out, s->first_bad, strlen(s->first_bad));
}

void folded_close(struct folded *f)
{
	if (!f)
		return;
	buf_free(&f->head);
	buf_free(&f->text);
	free(f->frames);
	free(f);
}
