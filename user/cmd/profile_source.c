/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where verbs get their profile from; see profile_source.h. */
#include "user/cmd/profile_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/escape.h"
#include "user/base/num.h"
#include "user/store/format.h"
#include "user/store/reader.h"

/* In the order of enum kind. */
const char *const source_kinds[] = { "any",	"running", "preempted", "woken", "sleep", "disk",
				     "stopped", "traced",  "parked",	"idle",	 NULL };

static void show_progress(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
	const char *path = ctx;
	struct buf line = { 0 };

	buf_puts(&line, "\r");
	escape_terminal(&line, path, strlen(path));
	buf_puts(&line, ": ");
	buf_put_size(&line, done_bytes);
	if (total_bytes)
		buf_printf(&line, " (%" PRIu64 "%%)", done_bytes * 100 / total_bytes);
	buf_puts(&line, "\x1b[K");
	fputs(buf_str(&line), stderr);
	buf_free(&line);
}

static void say(const char *path, uint64_t cnt, const char *what, const char *why)
{
	struct buf line = { 0 };

	if (!cnt)
		return;
	buf_puts(&line, "causeprof: ");
	escape_terminal(&line, path, strlen(path));
	buf_printf(&line, ": %" PRIu64 " %s%s", cnt, what, *why ? ": " : "");
	escape_terminal(&line, why, strlen(why));
	fprintf(stderr, "%s\n", buf_str(&line));
	buf_free(&line);
}

static void tell(const char *path, const struct import_report *r)
{
	char first[256];

	snprintf(first, sizeof(first), "the first is number %" PRIu64 ", %s", r->first_rejected,
		 r->first_why);
	say(path, r->rejected_cnt,
	    r->rejected_cnt == 1 ? "line or record refused or mended" :
				   "lines or records refused or mended",
	    first);
	say(path, r->ignored_cnt, "samples left out", r->ignored_why);
	say(path, r->saturated_cnt, "values cut to 2^64 - 1", "");
	say(path, r->rounded_cnt, "stacks rounded to a whole unit, each by at most one half", "");
}

/* By content; the name decides only where the content does not. */
static const struct exchange_format *guess_format(struct input *in, struct err *err)
{
	struct err why = { 0 };
	const struct exchange_format *f = exchange_sniff(in, &why);

	if (!f && why.code == -EINVAL)
		f = exchange_by_extension(input_path(in));
	if (!f)
		err_set(err, why.code, "%s", why.msg);
	return f;
}

int source_check_format(const char *name, struct err *err)
{
	if (exchange_find(name))
		return 0;
	return err_set(err, -EINVAL, "unknown format '%s'; causeprof import --list names them",
		       name);
}

static int import(struct input *in, const struct source_options *s, struct profile *p,
		  struct err *err)
{
	const struct exchange_format *format = s->from ? exchange_find(s->from) : NULL;
	struct import_report report = { 0 };
	struct import_options opts = { .unit = s->unit,
				       .samples_hz = s->hz,
				       .kind = s->kind,
				       .tidy = s->tidy,
				       .event = s->event,
				       .progress_ctx = (void *)input_path(in) };
	int rc;

	if (!format)
		format = guess_format(in, err);
	if (!format)
		return err->code;
	if (isatty(STDERR_FILENO))
		opts.progress = show_progress;
	rc = exchange_import(in, format, &opts, p, &report, err);
	if (opts.progress)
		fputs("\r\x1b[K", stderr);
	tell(input_path(in), &report);
	return rc;
}

static bool is_cprof(struct input *in)
{
	const char *head;
	ssize_t n = input_peek(in, strlen(FORMAT_MAGIC), &head, NULL);

	return n >= (ssize_t)strlen(FORMAT_MAGIC) &&
	       !memcmp(head, FORMAT_MAGIC, strlen(FORMAT_MAGIC));
}

/* The store reads whole files by name; from a pipe the bytes are gathered first. */
static int load_cprof(struct input *in, const char *path, struct profile **ret, struct err *err)
{
	struct buf all = { 0 };
	ssize_t n;
	int rc;

	if (strcmp(path, "-"))
		return reader__load(path, ret, err);
	do {
		buf_reserve(&all, 1 << 20);
		n = input_read(in, all.data + all.len_bytes, 1 << 20, err);
		if (n > 0)
			all.len_bytes += (size_t)n;
		if (all.len_bytes > READER_TOTAL_MAX_BYTES)
			n = err_set(err, -E2BIG, "standard input: the profile is too large");
	} while (n > 0);
	rc = n < 0 ? (int)n :
		     reader__parse(all.data, all.len_bytes, READER_TOTAL_MAX_BYTES, ret, err);
	buf_free(&all);
	return rc;
}

int source_read(struct input *in, const char *path, const struct source_options *opts,
		struct profile **ret, struct err *err)
{
	struct profile *p;
	int rc;

	if (!opts->from && is_cprof(in))
		return load_cprof(in, path, ret, err);
	p = profile__new();
	rc = import(in, opts, p, err);
	if (rc)
		profile__free(p);
	else
		*ret = p;
	return rc;
}

int source_load(const char *path, const struct source_options *opts, struct profile **ret,
		struct err *err)
{
	struct input *in;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = source_read(in, path, opts, ret, err);
	input_close(in);
	return rc;
}
