/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Message traces as text; see msgtext.h. */
#include "user/exchange/msgtext.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	LINE_MAX_BYTES = 1 << 16,
	FIELD_MAX_CNT = 7,
	FIELD_MIN_CNT = 5,
	TICK_LINES = 1 << 16,
};

struct field {
	char *text;
	size_t len_bytes;
};

struct reader {
	struct msgtrace *t;
	int64_t unit_ns;
	struct field fields[FIELD_MAX_CNT];
	size_t field_cnt;
	const char *why; /* the line is malformed; NULL = it is not */
};

static const struct {
	const char *name;
	int64_t ns;
} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

static int bad(struct reader *r, const char *why)
{
	r->why = why;
	return -EINVAL;
}

static int split(struct reader *r, char *line, size_t len_bytes)
{
	char *at = line, *end = line + len_bytes;

	r->field_cnt = 0;
	for (;;) {
		char *start;

		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at == end)
			return 0;
		if (r->field_cnt == FIELD_MAX_CNT)
			return bad(r, "more than 7 fields");
		start = at;
		while (at < end && *at != ' ' && *at != '\t') {
			if (!*at)
				return bad(r, "a NUL byte");
			at++;
		}
		r->fields[r->field_cnt++] = (struct field){ start, (size_t)(at - start) };
	}
}

/* digits[.digits] in units of unit_ns, up to *at == end; false if it does not fit. Digits below a nanosecond are
 * cut. */
static bool scan_time(const char **at, const char *end, int64_t unit_ns, int64_t *ret)
{
	const char *s = *at;
	int64_t v = 0, place = unit_ns;

	for (; s < end && *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
			return false;
	if (__builtin_mul_overflow(v, unit_ns, &v))
		return false;
	if (s < end && *s == '.')
		for (s++; s < end && *s >= '0' && *s <= '9'; s++) {
			place /= 10;
			if (__builtin_add_overflow(v, place * (*s - '0'), &v))
				return false;
		}
	*at = s;
	*ret = v;
	return v <= INT64_MAX / 2; /* so that differences of two times fit as well */
}

/* [-]digits[.digits] in units of unit_ns. */
static int parse_time(struct reader *r, const struct field *f, int64_t *ret)
{
	const char *s = f->text, *end = s + f->len_bytes;
	bool negative = s < end && *s == '-';
	int64_t v;

	s += negative;
	if (s == end || *s < '0' || *s > '9')
		return bad(r, "the timestamp is not a number");
	if (!scan_time(&s, end, r->unit_ns, &v))
		return bad(r, "the timestamp is too large");
	if (s != end)
		return bad(r, "the timestamp is not a number");
	*ret = negative ? -v : v;
	return 0;
}

static int parse_op(struct reader *r, const struct field *f, uint8_t *ret)
{
	if (f->len_bytes == 4 && !memcmp(f->text, "CALL", 4))
		*ret = MSG_CALL;
	else if (f->len_bytes == 3 && !memcmp(f->text, "RET", 3))
		*ret = MSG_RET;
	else if (f->len_bytes == 3 && !memcmp(f->text, "MSG", 3))
		*ret = MSG_ONEWAY;
	else
		return bad(r, "the operation is none of CALL, RET, MSG");
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX in place. */
static void decode_name(struct field *f)
{
	size_t kept = 0;

	if (!memchr(f->text, '%', f->len_bytes))
		return;
	for (size_t i = 0; i < f->len_bytes; i++) {
		bool coded = f->text[i] == '%' && f->len_bytes - i > 2;
		int high = coded ? hex_digit(f->text[i + 1]) : -1;
		int low = coded ? hex_digit(f->text[i + 2]) : -1;

		if (high >= 0 && low >= 0) {
			f->text[kept++] = (char)(high << 4 | low);
			i += 2;
		} else {
			f->text[kept++] = f->text[i];
		}
	}
	f->len_bytes = kept;
}

static uint32_t node(struct reader *r, struct field *f)
{
	decode_name(f);
	return f->len_bytes ? msgtrace__node(r->t, f->text, f->len_bytes) : 0;
}

static int parse_tid(struct reader *r, const char *s, size_t len_bytes, uint32_t *ret)
{
	uint64_t v = 0;

	*ret = 0;
	if (len_bytes == 1 && s[0] == '-')
		return 0;
	for (size_t i = 0; i < len_bytes; i++) {
		if (s[i] < '0' || s[i] > '9' || v > UINT32_MAX / 10)
			return bad(r, "a tid is not a number");
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	if (!len_bytes || v > UINT32_MAX)
		return bad(r, "a tid is not a number");
	*ret = (uint32_t)v;
	return 0;
}

static int parse_tids(struct reader *r, const struct field *f, struct witness *w)
{
	const char *slash = memchr(f->text, '/', f->len_bytes);
	size_t first = slash ? (size_t)(slash - f->text) : f->len_bytes;
	int rc = parse_tid(r, f->text, first, &w->sender_tid);

	if (!rc && slash)
		rc = parse_tid(r, slash + 1, f->len_bytes - first - 1, &w->receiver_tid);
	return rc;
}

static int parse_evidence(struct reader *r, const struct field *f, struct witness *w)
{
	if (f->len_bytes == 1 && f->text[0] == '-')
		return 0;
	if (f->len_bytes > 7 && !memcmp(f->text, "thread:", 7)) {
		w->cause_kind = CAUSE_THREAD;
		return parse_tid(r, f->text + 7, f->len_bytes - 7, &w->cause);
	}
	if (f->len_bytes > 5 && !memcmp(f->text, "call:", 5)) {
		w->cause_kind = CAUSE_CALL;
		w->cause = msgtrace__id(r->t, f->text + 5, f->len_bytes - 5);
		return 0;
	}
	return bad(r, "the evidence is none of -, thread:TID, call:ID");
}

static int parse_fields(struct reader *r, struct msg *m, struct witness *w)
{
	int rc;

	if (r->field_cnt < FIELD_MIN_CNT)
		return bad(r, "fewer than 5 fields (timestamp operation sender receiver id)");
	rc = parse_time(r, &r->fields[0], &m->time_ns);
	if (!rc)
		rc = parse_op(r, &r->fields[1], &m->op);
	if (!rc && r->field_cnt > 5)
		rc = parse_tids(r, &r->fields[5], w);
	if (!rc && r->field_cnt > 6)
		rc = parse_evidence(r, &r->fields[6], w);
	if (rc)
		return rc;
	m->sender = node(r, &r->fields[2]);
	m->receiver = node(r, &r->fields[3]);
	m->id = msgtrace__id(r->t, r->fields[4].text, r->fields[4].len_bytes);
	return m->sender && m->receiver ? 0 : bad(r, "a node without a name");
}

static int read_comment(struct reader *r, const char *line, size_t len_bytes)
{
	static const char key[] = "#unit";
	const char *word = line + sizeof(key) - 1;

	if (len_bytes < sizeof(key) || memcmp(line, key, sizeof(key) - 1) != 0 || *word != ' ')
		return 0;
	for (size_t i = 0; i < ARRAY_CNT(units); i++)
		if (!strcmp(word + 1, units[i].name)) {
			r->unit_ns = units[i].ns;
			return 0;
		}
	return bad(r, "#unit is none of ns, us, ms, s");
}

static int read_line(struct reader *r, char *line, size_t len_bytes)
{
	struct msg m = { 0 };
	struct witness w = { 0 };
	int rc;

	if (len_bytes && line[0] == '#')
		return read_comment(r, line, len_bytes);
	rc = split(r, line, len_bytes);
	if (rc || !r->field_cnt)
		return rc;
	rc = parse_fields(r, &m, &w);
	if (rc)
		return rc;
	if (r->t->msg_cnt >= CALL_TRUE_NONE - 1)
		return bad(r, "more than 2^30 messages");
	msgtrace__add_msg(r->t, &m, r->field_cnt > 5 ? &w : NULL);
	return 1;
}

static int refuse(const struct reader *r, struct input *in, const struct msgtext_opts *opts,
		  struct msgtext_stats *stats, struct err *err)
{
	unsigned long long line_no = input_line_no(in);

	if (!opts->skip_bad)
		return err_set(err, -EINVAL, "%s:%llu: %s (--skip-bad leaves such lines out)",
			       input_path(in), line_no, r->why);
	if (!stats->bad_cnt++)
		snprintf(stats->first_bad, sizeof(stats->first_bad), "line %llu: %s", line_no,
			 r->why);
	return 0;
}

int msgtext_read(struct input *in, const struct msgtext_opts *opts, struct msgtrace *t,
		 struct msgtext_stats *stats, struct err *err)
{
	struct reader r = { .t = t, .unit_ns = 1000000000 };
	size_t len_bytes;
	char *line;
	int rc;

	*stats = (struct msgtext_stats){ 0 };
	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		rc = read_line(&r, line, len_bytes);
		if (rc < 0)
			rc = refuse(&r, in, opts, stats, err);
		if (rc < 0)
			return rc;
		stats->line_cnt += (uint64_t)rc;
		if (input_line_no(in) % TICK_LINES == 0)
			progress_tick(opts->progress, "reading", input_raw_bytes(in),
				      input_total_bytes(in));
	}
	return rc;
}

void msgtext_put_name(struct buf *out, const char *name, size_t len_bytes)
{
	if (!len_bytes || (len_bytes == 1 && name[0] == '-')) {
		buf_puts(out, len_bytes ? "%2D" : "%");
		return;
	}
	for (size_t i = 0; i < len_bytes; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c <= ' ' || c == '%' || c == 0x7f)
			buf_printf(out, "%%%02X", (unsigned int)c);
		else
			buf_putc(out, (char)c);
	}
}

static void put_time(struct buf *out, int64_t time_ns)
{
	uint64_t v = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
	char decimals[11] = ".000000000";
	uint64_t rest = v % 1000000000;

	for (int i = 9; i > 0; i--, rest /= 10)
		decimals[i] = (char)('0' + rest % 10);
	if (time_ns < 0)
		buf_putc(out, '-');
	buf_put_u64(out, v / 1000000000);
	buf_append(out, decimals, 10);
}

static void put_witness(struct buf *out, const struct msgtrace *t, const struct witness *w)
{
	buf_putc(out, ' ');
	if (w->sender_tid)
		buf_put_u64(out, w->sender_tid);
	else
		buf_putc(out, '-');
	buf_putc(out, '/');
	if (w->receiver_tid)
		buf_put_u64(out, w->receiver_tid);
	else
		buf_putc(out, '-');
	if (w->cause_kind == CAUSE_THREAD) {
		buf_printf(out, " thread:%u", w->cause);
	} else if (w->cause_kind == CAUSE_CALL) {
		buf_puts(out, " call:");
		msgtrace__put_id(t, w->cause, out);
	}
}

void msgtext_put(struct buf *out, const struct msgtrace *t, const struct msg *m,
		 const struct witness *w)
{
	static const char *const ops[] = { "?", " CALL ", " RET ", " MSG " };

	put_time(out, m->time_ns);
	buf_puts(out, ops[m->op & 3]);
	msgtext_put_name(out, strtab_get(&t->nodes, m->sender),
			 strtab_len_bytes(&t->nodes, m->sender));
	buf_putc(out, ' ');
	msgtext_put_name(out, strtab_get(&t->nodes, m->receiver),
			 strtab_len_bytes(&t->nodes, m->receiver));
	buf_putc(out, ' ');
	msgtrace__put_id(t, m->id, out);
	if (w && (w->sender_tid || w->receiver_tid || w->cause_kind))
		put_witness(out, t, w);
	buf_putc(out, '\n');
}
