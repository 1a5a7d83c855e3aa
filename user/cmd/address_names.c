/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text.h"
#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/cmd/address_names.h"
#include "user/cmd/address_text.h"

enum {
	CHUNK_BYTES = 256 << 10,
	STEP_BYTES = 32, /* text is copied in steps, so all of it has that much room behind it */
	BATCH_CNT = 16384,
	AHEAD_CNT = 16,	 /* answers fetched before they are copied */
	TAIL_BYTES = 64, /* a reason */
};

/* " name\n" in texts; length 0 = not made yet. */
struct answer {
	uint32_t start, len_bytes;
};

struct line {
	uint32_t start, len_bytes; /* in the chunk */
};

struct stream {
	struct symbolizer *symbolizer;
	const char *path;
	enum sym_pc pc;
	char *chunk; /* lines, the last one perhaps not whole */
	size_t chunk_bytes;
	uint64_t line_no;
	struct line lines[BATCH_CNT];
	uint64_t addrs[BATCH_CNT];
	uint32_t functions[BATCH_CNT];
	size_t cnt;
	struct answer *answers; /* by number of function */
	size_t answer_cap;
	struct buf texts, out;
};

static void flush(struct stream *s, size_t at_least_bytes)
{
	if (s->out.len_bytes < at_least_bytes || !s->out.len_bytes)
		return;
	fwrite(s->out.data, 1, s->out.len_bytes, stdout);
	buf_reset(&s->out);
}

static const struct answer *answer_of(struct stream *s, uint32_t function)
{
	size_t old_cap = s->answer_cap;
	struct answer *a;

	if (function >= s->answer_cap) {
		s->answers = xgrow(s->answers, &s->answer_cap, function + 1, sizeof(*s->answers));
		memset(s->answers + old_cap, 0, (s->answer_cap - old_cap) * sizeof(*s->answers));
	}
	a = &s->answers[function];
	if (!a->len_bytes) {
		a->start = (uint32_t)s->texts.len_bytes;
		buf_putc(&s->texts, ' ');
		address_text_put_name(&s->texts,
				      symbolizer__function_name(s->symbolizer, function));
		buf_putc(&s->texts, '\n');
		a->len_bytes = (uint32_t)s->texts.len_bytes - a->start;
		buf_reserve(&s->texts, STEP_BYTES);
	}
	return a;
}

/* Both have STEP_BYTES of room behind them: whole steps are faster than a call for the few bytes of a name. */
static char *copy(char *to, const char *from, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i += STEP_BYTES)
		memcpy(to + i, from + i, STEP_BYTES);
	return to + len_bytes;
}

/* Copies a line's text; room for it and for an answer that long is there. */
static char *put_line(struct stream *s, const struct line *line, size_t answer_bytes)
{
	size_t want_bytes = line->len_bytes + answer_bytes + STEP_BYTES;

	if (s->out.cap_bytes - s->out.len_bytes <= want_bytes)
		buf_reserve(&s->out, want_bytes);
	return copy(s->out.data + s->out.len_bytes, s->chunk + line->start, line->len_bytes);
}

static void put_named(struct stream *s, size_t i)
{
	const struct answer *a = answer_of(s, s->functions[i]);
	char *at = put_line(s, &s->lines[i], a->len_bytes);

	at = copy(at, s->texts.data + a->start, a->len_bytes);
	s->out.len_bytes = (size_t)(at - s->out.data);
}

/* tail: " [stripped]\n" */
static void put_unnamed(struct stream *s, size_t i, const char *tail, size_t tail_bytes)
{
	char *at = put_line(s, &s->lines[i], 1 + ADDRESS_TEXT_HEX_MAX_BYTES + tail_bytes);

	*at++ = ' ';
	at = address_text_hex(at, s->addrs[i]);
	at = copy(at, tail, tail_bytes);
	s->out.len_bytes = (size_t)(at - s->out.data);
}

/* Addresses come in no order, and the answers are larger than the caches: they, or the names that they are made of, are
 * on their way when they are needed. */
static void look_ahead(const struct stream *s, uint32_t far, uint32_t near)
{
	const struct answer *a = near && near < s->answer_cap ? &s->answers[near] : NULL;

	if (far < s->answer_cap)
		__builtin_prefetch(&s->answers[far]);
	if (a && a->len_bytes)
		__builtin_prefetch(s->texts.data + a->start);
	else if (near)
		__builtin_prefetch(symbolizer__function_name(s->symbolizer, near));
}

static void answer_batch(struct stream *s)
{
	enum sym_reason reason = symbolizer__functions(s->symbolizer, s->path, s->addrs, s->cnt,
						       s->pc, s->functions);
	char tail[TAIL_BYTES];
	size_t tail_bytes = (size_t)snprintf(tail, sizeof(tail), " %s\n", sym_reason_name(reason));

	for (size_t i = 0; i < s->cnt; i++) {
		if (i + AHEAD_CNT < s->cnt)
			look_ahead(s, s->functions[i + AHEAD_CNT], s->functions[i + AHEAD_CNT / 2]);
		if (s->functions[i])
			put_named(s, i);
		else
			put_unnamed(s, i, tail, tail_bytes);
		flush(s, CHUNK_BYTES);
	}
	s->cnt = 0;
}

/* Takes the line that starts there off the chunk: its number is nearly always all that is in it. Returns where the next
 * one starts, 0 if it is not whole yet, or -EINVAL. */
static ssize_t take_line(struct stream *s, size_t start, bool at_end, struct err *err)
{
	struct text t = { s->chunk + start, s->chunk + s->chunk_bytes };
	const char *line = t.at, *end;
	uint64_t addr = 0;
	bool good;

	if (text_len(t) > 2 && t.at[0] == '0' && t.at[1] == 'x')
		t.at += 2;
	good = text_hex(&t, &addr);
	end = good && t.at < t.end && *t.at == '\n' ? t.at :
						      memchr(line, '\n', (size_t)(t.end - line));
	if (!end && !at_end)
		return 0;
	end = end ? end : t.end;
	start += (size_t)(end - line) + 1;
	if (end > line && end[-1] == '\r')
		end--;
	s->line_no++;
	if (!good || t.at != end)
		return err_set(err, -EINVAL,
			       "standard input, line %" PRIu64
			       ": '%.*s' is not a hexadecimal address",
			       s->line_no, (int)(end - line), line);
	s->lines[s->cnt] = (struct line){ (uint32_t)(line - s->chunk), (uint32_t)(end - line) };
	s->addrs[s->cnt++] = addr;
	return (ssize_t)start;
}

/* Answers the whole lines of the chunk and leaves the rest at its start. */
static int take_chunk(struct stream *s, bool at_end, struct err *err)
{
	size_t start = 0;
	ssize_t next = 1;

	while (next > 0 && start < s->chunk_bytes) {
		next = take_line(s, start, at_end, err);
		if (s->cnt == BATCH_CNT)
			answer_batch(s);
		if (next > 0)
			start = (size_t)next;
	}
	if (s->cnt)
		answer_batch(s);
	s->chunk_bytes = start < s->chunk_bytes ? s->chunk_bytes - start : 0;
	memmove(s->chunk, s->chunk + start, s->chunk_bytes);
	if (!next && s->chunk_bytes == CHUNK_BYTES)
		return err_set(err, -E2BIG, "standard input, line %" PRIu64 ": too long",
			       s->line_no + 1);
	return next < 0 ? (int)next : 0;
}

int address_names_answer(struct symbolizer *symbolizer, const char *path, enum sym_pc pc,
			 struct input *in, struct err *err)
{
	struct stream *s = xzalloc(sizeof(*s));
	ssize_t n = 1;
	int rc = 0;

	s->symbolizer = symbolizer;
	s->path = path;
	s->pc = pc;
	s->chunk = xmalloc(CHUNK_BYTES + STEP_BYTES);
	while (!rc && n > 0) {
		n = input_read(in, s->chunk + s->chunk_bytes, CHUNK_BYTES - s->chunk_bytes, err);
		if (n >= 0) {
			s->chunk_bytes += (size_t)n;
			rc = take_chunk(s, !n, err);
		}
	}
	flush(s, 0);
	free(s->chunk);
	free(s->answers);
	buf_free(&s->texts);
	buf_free(&s->out);
	free(s);
	return n < 0 ? (int)n : rc;
}
