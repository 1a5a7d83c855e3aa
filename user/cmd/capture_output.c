/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture leaves behind; see capture_output.h. */
#include "user/cmd/capture_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/picture.h"
#include "user/cmd/summary.h"
#include "user/store/writer.h"

static const char profile_suffix[] = ".cprof";

/* "x.cprof" -> "x.svg"; "x" -> "x.svg". Owned by the caller. */
static char *picture_path(const char *path)
{
	size_t len_bytes = strlen(path), cut_bytes = sizeof(profile_suffix) - 1;

	if (len_bytes > cut_bytes && !strcmp(path + len_bytes - cut_bytes, profile_suffix))
		len_bytes -= cut_bytes;
	return xasprintf("%.*s.svg", (int)len_bytes, path);
}

static enum outfile_mode mode(const struct output_opts *o)
{
	return o->replace ? OUTFILE_REPLACE : OUTFILE_NEW;
}

/* The picture of the profile "-" has no name. */
static bool wants_picture(const struct output_opts *o)
{
	return o->path && o->picture && strcmp(o->path, "-");
}

static int try_open(const char *path, const struct output_opts *o, struct err *err)
{
	struct outfile *f = NULL;
	struct stat st;
	int rc;

	if (!stat(path, &st) && S_ISFIFO(st.st_mode))
		return 0; /* who reads it would take this for the end */
	rc = outfile_open(path, mode(o), &f, err);
	outfile_close(f);
	return rc;
}

int capture_output__check(const struct output_opts *o, struct err *err)
{
	char *svg = wants_picture(o) ? picture_path(o->path) : NULL;
	int rc = o->path && strcmp(o->path, "-") ? try_open(o->path, o, err) : 0;

	if (!rc && svg)
		rc = try_open(svg, o, err);
	free(svg);
	return rc;
}

static void put_written(const char *path, const char *svg, struct buf *text)
{
	buf_puts(text, "written   ");
	escape_terminal(text, path, strlen(path));
	if (svg) {
		buf_puts(text, " and ");
		escape_terminal(text, svg, strlen(svg));
	}
	buf_putc(text, '\n');
}

static int put_text(const struct profile *p, const struct output_opts *o, const char *svg,
		    struct err *err)
{
	struct summary_opts summary = { .width_cols = summary__terminal_cols(STDOUT_FILENO),
					.top_cnt = SUMMARY_TOP_DEFAULT };
	struct buf text = { 0 };
	int rc = 0;

	if (o->folded) {
		folded_form__put(p, &o->form, &text);
		if (!text.len_bytes && p->sums.cnt)
			folded_form__tell_empty(p, stderr);
	} else if (o->summary) {
		summary__put(p, &summary, &text);
		if (o->path)
			put_written(o->path, svg, &text);
	}
	/* a profile on standard output must stay alone there */
	if (o->path && !strcmp(o->path, "-"))
		fputs(buf_str(&text), stderr);
	else if (text.len_bytes)
		rc = outfile_put("-", OUTFILE_REPLACE, text.data, text.len_bytes, err);
	buf_free(&text);
	return rc;
}

/* Ctrl-C while names were looked up: nothing else is missing, and it can be made up for. */
static void tell_pending(const struct profile *p, const char *path)
{
	size_t cnt = 0;

	for (size_t i = 1; i < p->frames.cnt; i++)
		cnt += p->frames.items[i].reason == NAME_PENDING;
	if (cnt)
		fprintf(stderr, "%zu frames were left without names%s%s\n", cnt,
			path ? ": causeprof symbolize finds them in " : "", path ? path : "");
}

int capture_output__put(const struct profile *p, const struct output_opts *o, struct err *err)
{
	char *svg = wants_picture(o) ? picture_path(o->path) : NULL;
	bool saved;
	int rc;

	phases_begin(o->phases, "compress and write");
	rc = o->path ? writer__save(p, o->path, mode(o), err) : 0;
	saved = o->path && !rc;
	if (svg)
		phases_begin(o->phases, "picture");
	if (!rc && svg)
		rc = picture__save(p, svg, mode(o), err);
	phases_begin(o->phases, "summary");
	if (!rc)
		rc = put_text(p, o, svg, err);
	if (rc && saved)
		err_prefix(err, "the profile is written, but");
	if (!rc)
		tell_pending(p, o->path);
	free(svg);
	return rc;
}

void capture_output__put_phases(struct phases *phases)
{
	struct buf text = { 0 };

	phases_end(phases);
	phases_put(phases, &text);
	fputs(buf_str(&text), stderr);
	buf_free(&text);
}
