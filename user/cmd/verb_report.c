/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof report: the summary, tables and trees of a profile. */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "user/cmd/command.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/operand.h"
#include "user/cmd/profile_source.h"
#include "user/cmd/report.h"
#include "user/cmd/summary.h"

struct settings {
	struct filter_options filter;
	uint64_t top_cnt, width_cols;
	double min_percent;
	const char *kinds;
	bool threads, tree, slices, unknown, json, lines, annotate, unfold_asleep;
	int root;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ "top", 0, OPT_U64, AT(top_cnt), "N", "Show the N stacks with most time of each kind", 0,
	  1e6, NULL },
	{ "threads", 0, OPT_FLAG, AT(threads), NULL,
	  "A line a thread: its time beside the kernel's own account", 0, 0, NULL },
	{ "slices", 0, OPT_FLAG, AT(slices), NULL,
	  "A line a slice of time (record --slice): where the phases are", 0, 0, NULL },
	{ "tree", 0, OPT_FLAG, AT(tree), NULL, "Time by stack as a tree", 0, 0, NULL },
	{ "unknown", 0, OPT_FLAG, AT(unknown), NULL,
	  "Frames without a name and stacks without a root, by reason and file", 0, 0, NULL },
	{ "kinds", 0, OPT_STRING, AT(kinds), "KINDS",
	  "Trees and JSON stacks: only this time (as in fold; default: all)", 0, 0, NULL },
	{ "root", 0, OPT_CHOICE, AT(root), "WHAT",
	  "Trees and JSON stacks begin with: comm (default), none, pid, tid, gate, cgroup or container",
	  0, 0, fold_root_words },
	{ "min-share", 0, OPT_F64, AT(min_percent), "PERCENT",
	  "Leave out smaller branches of a tree (default 1)", 0, 100, NULL },
	{ "lines", 0, OPT_FLAG, AT(lines), NULL,
	  "Add the source file and line to frames that have them (record --lines, symbolize --lines)" },
	{ "annotate", 'a', OPT_FLAG, AT(annotate), NULL,
	  "Mark frames _[k] kernel, _[i] inlined, _[j] JIT, _[p] Python", 0, 0, NULL },
	{ "unfold-asleep", 0, OPT_FLAG, AT(unfold_asleep), NULL,
	  "Show the stacks of threads that never ran", 0, 0, NULL },
	{ "width", 0, OPT_U64, AT(width_cols), "COLUMNS", "Width of a line", 0, 1e6, NULL },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "Everything as JSON", 0, 0, NULL },
	FILTER_OPTIONS(struct settings),
	{ 0 },
};

static int parse(int argc, char **argv, struct settings *s, struct report_opts *o,
		 const char **path, struct err *err)
{
	int status = operand__one(options, argc, argv, s, "FILE", path, err);

	if (status)
		return status;
	o->fold.kinds = FOLD_KINDS_ALL;
	if (s->kinds && fold_parse_kinds(s->kinds, &o->fold.kinds, err))
		return STATUS_USAGE;
	o->fold.root = (enum fold_root)s->root;
	o->fold.flags = (s->annotate ? FOLD_SUFFIXES : 0) | (s->lines ? FOLD_LINES : 0) |
			(s->unfold_asleep ? FOLD_UNFOLD_ASLEEP : 0);
	o->width_cols = s->width_cols ? s->width_cols : summary__terminal_cols(STDOUT_FILENO);
	if (!o->width_cols)
		o->width_cols = SUMMARY_WIDTH_DEFAULT;
	o->top_cnt = s->top_cnt;
	o->min_percent = s->min_percent;
	o->tree = s->tree;
	return STATUS_DONE;
}

static void put_report(const struct profile *p, const struct settings *s,
		       const struct report_opts *o, struct buf *out)
{
	const struct summary_opts summary = { .width_cols = o->width_cols, .top_cnt = o->top_cnt };

	if (s->json) {
		report__put_json(p, o, out);
		return;
	}
	if (s->threads)
		report__put_threads(p, o, out);
	if (s->slices)
		report__put_slices(p, out);
	if (s->tree)
		report__put_tree(p, o, out);
	if (s->unknown)
		report__put_unknown(p, o, out);
	if (!s->threads && !s->tree && !s->slices && !s->unknown)
		summary__put(p, &summary, out);
}

static int run(int argc, char **argv, struct err *err)
{
	const struct source_options source = { 0 };
	struct settings s = { .top_cnt = SUMMARY_TOP_DEFAULT, .min_percent = 1 };
	struct report_opts opts = { 0 };
	struct profile *p = NULL;
	struct buf text = { 0 };
	const char *path;
	int status = parse(argc, argv, &s, &opts, &path, err);

	if (status)
		goto out;
	status = STATUS_FAILED;
	if (source_load(path, &source, &p, err) || filter_profile(p, &s.filter, err))
		goto out;
	put_report(p, &s, &opts, &text);
	status = operand__put(NULL, false, &text, err);
out:
	filter_options_free(&s.filter);
	buf_free(&text);
	profile__free(p);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "[OPTIONS] FILE",
	.summary = "Where the time went: summary, tables and trees",
	.details =
		"Without options: time by class beside the kernel's own account of it, the stacks with\n"
		"most running and most blocked time, switch rate, whether the books balance, what was\n"
		"lost, what the capture cost. Running time is spread over stacks by sampling; \"±\" is\n"
		"how far such a number may be off, 19 times in 20.",
	.options = options,
	.run = run,
};
