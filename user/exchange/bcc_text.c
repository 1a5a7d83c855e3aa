/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What offcputime and profile of bcc and libbpf-tools print without -f: frames from leaf to root, maybe "--"
 * between kernel and user, then the thread and the value.
 *
 *	    finish_task_switch
 *	    schedule
 *	    --
 *	    __poll
 *	    -                vmstat (12345)
 *	        1000000
 *
 * A headline with "(us)" says that values are blocked microseconds; without one they are counted as samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/formats.h"
#include "user/exchange/intake.h"
#include "user/exchange/perf_line.h"

struct reader {
	struct intake intake;
	uint32_t *frames; /* leaf first */
	size_t frame_cnt, frames_cap;
	uint32_t process;
	bool has_thread;
	int kind;
};

/* "-   comm (pid)"; the comm may hold blanks and parentheses. */
static bool parse_thread(const char *s, const char *end, const char **comm, size_t *comm_bytes,
			 uint64_t *pid)
{
	const char *open = end;
	struct foldtext_count c;

	if (end - s < 5 || *s != '-' || s[1] != ' ' || end[-1] != ')')
		return false;
	while (open > s && open[-1] != '(')
		open--;
	if (open - s < 4 || open[-2] != ' ' ||
	    foldtext_parse_count(open, (size_t)(end - 1 - open), &c) || c.whole > UINT32_MAX)
		return false;
	for (s++; s < open && *s == ' ';)
		s++;
	*comm = s;
	*comm_bytes = open - 2 > s ? (size_t)(open - 2 - s) : 0;
	*pid = c.whole;
	return true;
}

static void read_headline(struct reader *r, const char *line, size_t n)
{
	if (memmem(line, n, "(us)", 4)) {
		intake_set_unit(&r->intake, "us", NULL);
		r->kind = KIND_SLEEP;
	}
}

static void end_stack(struct reader *r, const struct foldtext_count *c)
{
	struct intake_key key = { .process = r->process, .kind = r->kind };

	if (r->intake.opts->kind)
		key.kind = r->intake.opts->kind;
	for (size_t i = r->frame_cnt; i-- > 0;)
		key.stack = profile__add_stack(r->intake.profile, key.stack, r->frames[i]);
	intake_add(&r->intake, &key, c, r->intake.unit_ns ? 0 : c->whole);
	r->frame_cnt = 0;
	r->has_thread = false;
}

static void add_frame(struct reader *r, const char *s, const char *end)
{
	struct perf_frame f;

	while (s < end && *s == '#') { /* "#0  0xffff... name+0x10": libbpf-tools -v */
		while (s < end && *s != ' ')
			s++;
		while (s < end && *s == ' ')
			s++;
	}
	if (end - s > 2 && s[0] == '0' && s[1] == 'x' &&
	    perf_parse_frame(s + 2, (size_t)(end - s - 2), &f)) {
		s = f.name;
		end = f.name + f.name_bytes;
	} else {
		const char *plus = memmem(s, (size_t)(end - s), "+0x", 3);

		end = plus && plus > s ? plus : end;
	}
	if (r->frame_cnt == r->frames_cap)
		r->frames = xgrow(r->frames, &r->frames_cap, r->frame_cnt + 1, sizeof(*r->frames));
	r->frames[r->frame_cnt++] = intake_frame(&r->intake, s, (size_t)(end - s));
}

static void read_line(struct reader *r, const char *line, size_t n, uint64_t line_no)
{
	const char *s = line, *end = line + n, *comm;
	struct foldtext_count c;
	size_t comm_bytes;
	uint64_t pid;

	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s == end)
		return;
	if (s == line) {
		read_headline(r, line, n);
	} else if (r->has_thread) {
		if (!foldtext_parse_count(s, (size_t)(end - s), &c) && !c.is_negative)
			end_stack(r, &c);
		else
			intake_reject(&r->intake, line_no, "no value behind the thread");
	} else if (parse_thread(s, end, &comm, &comm_bytes, &pid)) {
		r->process = intake_process(&r->intake, comm, comm_bytes, (uint32_t)pid);
		r->has_thread = true;
	} else {
		add_frame(r, s, end);
	}
}

static int import_bcc(struct input *in, const struct import_options *opts, struct profile *p,
		      struct import_report *report, struct err *err)
{
	struct reader r = { .kind = KIND_NONE };
	char *line;
	size_t n;
	int rc = intake_init(&r.intake, p, opts, report, err);

	while (!rc && (rc = input_line(in, IMPORT_LINE_MAX_BYTES, &line, &n, err)) > 0) {
		read_line(&r, line, n, input_line_no(in));
		intake_progress(&r.intake, in);
		rc = 0;
	}
	if (!rc && r.frame_cnt)
		intake_reject(&r.intake, input_line_no(in), "the last stack has no value");
	intake_finish(&r.intake);
	free(r.frames);
	return rc;
}

/* Somewhere in the beginning a thread stands alone on an indented line. */
static bool sniff_bcc(const char *head, size_t len_bytes)
{
	const char *end = head + len_bytes, *nl, *comm;
	size_t comm_bytes;
	uint64_t pid;

	for (; head < end; head = nl + 1) {
		const char *s = head, *stop;

		nl = memchr(head, '\n', (size_t)(end - head));
		stop = nl ? nl : end;
		while (stop > s && (stop[-1] == ' ' || stop[-1] == '\r'))
			stop--;
		while (s < stop && *s == ' ')
			s++;
		if (s > head && parse_thread(s, stop, &comm, &comm_bytes, &pid))
			return true;
		if (!nl)
			return false;
	}
	return false;
}

const struct exchange_format format_bcc = {
	.name = "bcc",
	.extensions = ".bcc",
	.summary = "the text of bcc's offcputime and profile",
	.sniff = sniff_bcc,
	.import = import_bcc,
};
