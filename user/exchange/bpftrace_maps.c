/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps as bpftrace prints them at its end. A key may hold stacks over several lines, leaf first, and other
 * values between commas:
 *
 *	@offcpu[
 *	    finish_task_switch+120
 *	    schedule+70
 *	, 
 *	    __clock_nanosleep+72
 *	, sleep, 4711]: 1048
 *
 * A text becomes the process name, a number its pid, and the stacks follow each other as they stand: bpftrace
 * users write kstack before ustack, leaf first. Maps of other names than the first are left out, since their
 * values need not be of the same kind; so are histograms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/formats.h"
#include "user/exchange/intake.h"
#include "user/exchange/perf_line.h"

struct reader {
	struct intake intake;
	char map[128]; /* name of the map that is taken, with "@" */
	bool in_key, skip;
	uint32_t *frames; /* leaf first */
	size_t frame_cnt, frames_cap;
	char comm[128];
	uint64_t pid;
	struct buf text;
};

static bool is_number(const char *s, size_t n)
{
	struct foldtext_count c;

	return n && !foldtext_parse_count(s, n, &c) && !c.nano && !c.is_negative;
}

/* "name+120", "name+0x1f" -> name. */
static size_t without_offset(const char *s, size_t n)
{
	size_t at = n;

	while (at && strchr("0123456789abcdefx", s[at - 1]))
		at--;
	return at > 1 && at < n && s[at - 1] == '+' ? at - 1 : n;
}

static void add_frame(struct reader *r, const char *s, size_t n)
{
	struct perf_frame f;

	if (r->frame_cnt == r->frames_cap)
		r->frames = xgrow(r->frames, &r->frames_cap, r->frame_cnt + 1, sizeof(*r->frames));
	if (perf_parse_frame(s, n, &f) && f.module_bytes) { /* kstack(perf) */
		s = f.name;
		n = f.name_bytes;
	}
	r->frames[r->frame_cnt++] = intake_frame(&r->intake, s, without_offset(s, n));
}

/* One part of a key that is no stack. */
static void add_part(struct reader *r, const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == ',')) {
		s++;
		n--;
	}
	while (n && (s[n - 1] == ' ' || s[n - 1] == ','))
		n--;
	if (!n)
		return;
	if (is_number(s, n))
		r->pid = strtoull(s, NULL, 10);
	else if (!*r->comm)
		snprintf(r->comm, sizeof(r->comm), "%.*s", n > 127 ? 127 : (int)n, s);
}

static void add_parts(struct reader *r, const char *s, const char *end)
{
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;

		add_part(r, s, (size_t)(stop - s));
		s = comma ? comma + 1 : end;
	}
}

/* "]: 42", also of statistics: "]: count 5, average 20, total 100". */
static void end_key(struct reader *r, const char *value, const char *end, uint64_t line_no)
{
	struct intake_key key = { 0 };
	struct foldtext_count c;
	const char *total = memmem(value, (size_t)(end - value), "total ", 6);

	r->in_key = false;
	if (r->skip)
		return;
	value = total ? total + 6 : value;
	while (value < end && *value == ' ')
		value++;
	if (foldtext_parse_count(value, (size_t)(end - value), &c) ||
	    (c.is_negative && (c.whole || c.nano))) {
		intake_reject(&r->intake, line_no, "the value behind the key is no count");
		return;
	}
	for (size_t i = r->frame_cnt; i-- > 0;)
		key.stack = profile__add_stack(r->intake.profile, key.stack, r->frames[i]);
	key.process = intake_process(&r->intake, r->comm, strlen(r->comm),
				     r->pid <= UINT32_MAX ? (uint32_t)r->pid : 0);
	intake_add(&r->intake, &key, &c, r->intake.unit_ns ? 0 : c.whole);
}

static void begin_key(struct reader *r, const char *line, const char *bracket)
{
	int n = (int)(bracket - line > 100 ? 100 : bracket - line);

	r->in_key = true;
	r->frame_cnt = 0;
	*r->comm = '\0';
	r->pid = 0;
	if (!*r->map)
		snprintf(r->map, sizeof(r->map), "%.*s", n, line);
	r->skip = strlen(r->map) != (size_t)n || memcmp(r->map, line, (size_t)n);
	if (r->skip)
		intake_ignore(&r->intake, "entries of other maps; --event @NAME takes them");
}

static const char *key_end(const char *s, const char *end)
{
	for (const char *at = end - 1; at > s; at--)
		if (*at == ':' && at[-1] == ']')
			return at - 1;
	return NULL;
}

static void read_line(struct reader *r, const char *line, size_t n, uint64_t line_no)
{
	const char *end = line + n, *s = line, *close, *bracket;

	if (!r->in_key) {
		bracket = *line == '@' ? memchr(line, '[', n) : NULL;
		if (!bracket)
			return; /* histograms, other output of the script */
		begin_key(r, line, bracket);
		s = bracket + 1;
	}
	close = key_end(s, end);
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (close) {
		if (close > s)
			add_parts(r, s, close);
		end_key(r, close + 2, end, line_no);
	} else if (s < end && (*s == ',' || s == line || *line == '@')) {
		add_parts(r, s, end);
	} else if (s < end) {
		add_frame(r, s, (size_t)(end - s));
	}
}

static int import_bpftrace(struct input *in, const struct import_options *opts, struct profile *p,
			   struct import_report *report, struct err *err)
{
	struct reader r = { .in_key = false };
	char *line;
	size_t n;
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (opts->event)
		snprintf(r.map, sizeof(r.map), "%s", opts->event);
	while (!rc && (rc = input_line(in, IMPORT_LINE_MAX_BYTES, &line, &n, err)) > 0) {
		read_line(&r, line, n, input_line_no(in));
		intake_progress(&r.intake, in);
		rc = 0;
	}
	if (!rc && r.in_key)
		intake_reject(&r.intake, input_line_no(in), "the last key has no end");
	intake_finish(&r.intake);
	free(r.frames);
	buf_free(&r.text);
	return rc;
}

/* A line "@name[" that ends in the bracket or goes on with a key. */
static bool sniff_bpftrace(const char *head, size_t len_bytes)
{
	const char *end = head + len_bytes, *nl;

	for (int i = 0; i < 200 && head < end; i++, head = nl + 1) {
		nl = memchr(head, '\n', (size_t)(end - head));
		if (*head == '@' && memchr(head, '[', (size_t)((nl ? nl : end) - head)))
			return true;
		if (!nl)
			return false;
	}
	return false;
}

const struct exchange_format format_bpftrace = {
	.name = "bpftrace",
	.extensions = ".bpftrace .bt.out",
	.summary = "maps keyed by stacks, as bpftrace prints them",
	.sniff = sniff_bpftrace,
	.import = import_bpftrace,
};
