/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof report: the summary, tables and trees of a profile. */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "user/cmd/command.h"
#include "user/cmd/operand.h"
#include "user/cmd/profile_source.h"
#include "user/cmd/summary.h"

struct settings {
	uint64_t top_cnt, width_cols;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ "top", 0, OPT_U64, AT(top_cnt), "N", "Show N stacks of each kind", 0, 1e6, NULL },
	{ "width", 0, OPT_U64, AT(width_cols), "COLUMNS", "Width of a line", 0, 1e6, NULL },
	{ 0 },
};

static int run(int argc, char **argv, struct err *err)
{
	const struct source_options source = { 0 };
	struct settings s = { .top_cnt = SUMMARY_TOP_DEFAULT };
	struct profile *p = NULL;
	struct buf text = { 0 };
	const char *path;
	int status = operand__one(options, argc, argv, &s, "FILE", &path, err);
	struct summary_opts opts;

	if (status)
		return status;
	if (source_load(path, &source, &p, err))
		return STATUS_FAILED;
	opts.top_cnt = s.top_cnt;
	opts.width_cols = s.width_cols ? s.width_cols : summary__terminal_cols(STDOUT_FILENO);
	summary__put(p, &opts, &text);
	status = operand__put(NULL, false, &text, err);
	buf_free(&text);
	profile__free(p);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "[OPTIONS] FILE",
	.summary = "Where the time went: summary, tables and trees",
	.options = options,
	.run = run,
};
