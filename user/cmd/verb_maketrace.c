/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof maketrace: synthetic message traces with their truth. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/maketrace.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/exchange/msgtext.h"

enum {
	FLUSH_BYTES = 1 << 20
};

struct maketrace_opts {
	const char *output, *truth;
	struct opt_list settings;
};

#define OFF(field) offsetof(struct maketrace_opts, field)

static int read_setting(struct maketrace_config *c, const char *line, struct err *err)
{
	struct input *in;
	int rc = input_open_mem(line, strlen(line), &in, err);

	if (rc)
		return rc;
	rc = maketrace_config_read(c, in, err);
	input_close(in);
	if (rc)
		err_prefix(err, "'%s'", line);
	return rc;
}

static int check_setting(const char *line, struct err *err)
{
	struct maketrace_config alone = { 0 };
	int rc = read_setting(&alone, line, err);

	maketrace_config_free(&alone);
	return rc;
}

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, OFF(output), "FILE",
	  "write the trace to FILE instead of standard output", 0, 0, NULL },
	{ "truth", 't', OPT_STRING, OFF(truth), "FILE", "write which message caused which", 0, 0,
	  NULL },
	{ "set", 's', OPT_LIST, OFF(settings), "LINE",
	  "a line of configuration after the file's, e.g. 'seed 2' or 'copies 64'", 0, 0, NULL,
	  check_setting },
	{ 0 },
};

/* A file that is written a piece at a time. */
struct sink {
	struct outfile *file;
	struct buf text;
};

static void drain(struct sink *s, size_t above_bytes)
{
	if (s->text.len_bytes <= above_bytes)
		return;
	outfile_write(s->file, s->text.data, s->text.len_bytes, NULL); /* commit reports errors */
	buf_reset(&s->text);
}

static int finish(struct sink *s, struct err *err)
{
	int rc;

	drain(s, 0);
	rc = outfile_commit(s->file, err);
	outfile_close(s->file);
	buf_free(&s->text);
	return rc;
}

static int read_config(struct maketrace_config *c, const char *path,
		       const struct opt_list *settings, struct err *err)
{
	struct input *in;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = maketrace_config_read(c, in, err);
	input_close(in);
	for (size_t i = 0; i < settings->cnt && !rc; i++)
		rc = read_setting(c, settings->items[i], err);
	if (!rc && !c->tracelets)
		rc = err_set(err, -EINVAL, "%s: no tracelet in it", path);
	return rc;
}

/* Ids number the calls in order of time, so that they tell nothing about causes. */
static uint32_t *number_calls(const struct maketrace_result *r)
{
	uint32_t *ids = xcalloc(r->cnt + 1, sizeof(*ids)), next = 1;

	for (size_t i = 0; i < r->cnt; i++) {
		if (r->msgs[i].op == MSG_CALL)
			ids[i] = next++;
		else if (r->msgs[i].op == MSG_RET)
			ids[i] = ids[r->msgs[i].cause];
	}
	return ids;
}

static int write_trace(const struct maketrace_config *c, const struct maketrace_result *r,
		       const uint32_t *order, const char *path, struct err *err)
{
	struct msgtrace *names = msgtrace__new();
	uint32_t *ids = number_calls(r);
	struct sink s = { 0 };
	int rc = outfile_open(path, OUTFILE_REPLACE, &s.file, err);

	for (uint32_t i = 0; i < c->nodes.cnt; i++) /* gives each the number it has in c */
		msgtrace__node(names, strtab_get(&c->nodes, i), strtab_len_bytes(&c->nodes, i));
	for (size_t i = 0; i < r->cnt - r->lost_cnt && !rc; i++) {
		const struct maketrace_msg *from = &r->msgs[order[i]];
		struct msg m = { .time_ns = maketrace_stamp_ns(c, from),
				 .sender = from->sender,
				 .receiver = from->receiver,
				 .op = from->op };
		char id[16];

		if (ids[order[i]] && !c->no_ids) {
			snprintf(id, sizeof(id), "%u", ids[order[i]]);
			m.id = msgtrace__id(names, id, strlen(id));
		}
		msgtext_put(&s.text, names, &m, NULL);
		drain(&s, FLUSH_BYTES);
	}
	free(ids);
	msgtrace__free(names);
	return rc ? rc : finish(&s, err);
}

static void put_truth_line(struct buf *out, const struct maketrace_config *c,
			   const struct maketrace_msg *m, uint32_t number, const char *tracelet)
{
	static const char *const ops[] = { "?", "CALL", "RET", "MSG" };
	const char *from = strtab_get(&c->nodes, m->sender);
	const char *to = strtab_get(&c->nodes, m->receiver);

	if (number)
		buf_put_u64(out, number);
	else
		buf_putc(out, '-');
	buf_putc(out, ' ');
	buf_put_u64(out, m->instance);
	buf_putc(out, ' ');
	if (m->cause == UINT32_MAX)
		buf_putc(out, '-');
	else
		buf_put_u64(out, m->cause + 1);
	buf_putc(out, ' ');
	msgtext_put_name(out, tracelet, strlen(tracelet));
	buf_putc(out, ' ');
	buf_puts(out, ops[m->op & 3]);
	buf_putc(out, ' ');
	msgtext_put_name(out, from, strlen(from));
	buf_putc(out, ' ');
	msgtext_put_name(out, to, strlen(to));
	buf_putc(out, '\n');
}

static int write_truth(const struct maketrace_config *c, const struct maketrace_result *r,
		       const uint32_t *order, const char *path, struct err *err)
{
	uint32_t *number = xcalloc(r->cnt + 1, sizeof(*number));
	const char **names = NULL;
	size_t cnt = 0, cap = 0;
	struct sink s = { 0 };
	int rc = outfile_open(path, OUTFILE_REPLACE, &s.file, err);

	for (const struct maketrace_tracelet *t = c->tracelets; t; t = t->next) {
		names = xgrow(names, &cap, cnt + 1, sizeof(*names));
		names[cnt++] = t->name;
	}
	for (size_t i = 0; i < r->cnt - r->lost_cnt; i++)
		number[order[i]] = (uint32_t)i + 1;
	if (!rc)
		buf_puts(&s.text, "# truth: number instance parent-line tracelet operation sender "
				  "receiver\n");
	for (size_t i = 0; i < r->cnt && !rc; i++) {
		put_truth_line(&s.text, c, &r->msgs[i], number[i], names[r->msgs[i].tracelet]);
		drain(&s, FLUSH_BYTES);
	}
	free(names);
	free(number);
	return rc ? rc : finish(&s, err);
}

static int make(const struct maketrace_opts *o, const char *path, struct err *err)
{
	struct maketrace_config c = { 0 };
	struct maketrace_result r = { 0 };
	uint32_t *order = NULL;
	int rc = read_config(&c, path, &o->settings, err);

	if (!rc) {
		rc = maketrace_run(&c, &r, err);
		if (rc)
			err_prefix(err, "%s", path);
	}
	if (!rc) {
		order = maketrace_captured(&c, &r);
		rc = write_trace(&c, &r, order, o->output ? o->output : "-", err);
	}
	if (!rc && o->truth)
		rc = write_truth(&c, &r, order, o->truth, err);
	if (!rc && r.lost_cnt)
		fprintf(stderr, "%zu of %zu messages lost by the capture (%.2f %%)\n", r.lost_cnt,
			r.cnt, 100.0 * (double)r.lost_cnt / (double)r.cnt);
	free(order);
	maketrace_result_free(&r);
	maketrace_config_free(&c);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct maketrace_opts o = { 0 };
	struct opt_operands operands;
	int status = STATUS_USAGE;

	if (!opt_parse(options, argc, argv, &o, &operands, err)) {
		if (operands.argc != 1)
			err_set(err, -EINVAL,
				"maketrace takes one configuration, or - for standard "
				"input");
		else
			status = make(&o, operands.argv[0], err);
	}
	opt_list_free(&o.settings);
	return status;
}

const struct command command_maketrace = {
	.name = "maketrace",
	.usage = "[OPTIONS] CONFIG",
	.summary = "Make a synthetic message trace with a known truth",
	.details = "docs/CAUSAL.md describes configurations; tests/traces holds the standard ones. "
		   "The same configuration gives the same bytes on every machine.",
	.options = options,
	.run = run,
};
