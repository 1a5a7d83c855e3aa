/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof fold: a profile as folded stacks. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/fold.h"
#include "user/base/buf.h"
#include "user/cmd/command.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/folded_form.h"
#include "user/cmd/operand.h"
#include "user/cmd/profile_source.h"

static const char *const units[] = { "us", "ns", NULL };

struct settings {
	struct filter_options filter;
	const char *out_path, *kinds;
	bool force, lines, annotate, delimiter, user_only, kernel_only, unfold_asleep;
	int root, unit;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ "kinds", 0, OPT_STRING, AT(kinds), "KINDS",
	  "Which time: all, off, blocked, runnable, or kinds with commas (running, preempted, woken, "
	  "sleep, disk, stopped, traced, parked, idle); default: blocked, without leaf frames",
	  0, 0, NULL },
	{ "lines", 0, OPT_FLAG, AT(lines), NULL,
	  "Add the source file and line to frames that have them (record --lines, symbolize --lines)" },
	{ "annotate", 'a', OPT_FLAG, AT(annotate), NULL,
	  "Mark frames _[k] kernel, _[i] inlined, _[j] JIT, _[p] Python", 0, 0, NULL },
	{ "delimiter", 'd', OPT_FLAG, AT(delimiter), NULL,
	  "A frame \"-\" between the user and the kernel part", 0, 0, NULL },
	{ "user-stacks-only", 'U', OPT_FLAG, AT(user_only), NULL, "Leave out kernel frames", 0, 0,
	  NULL },
	{ "kernel-stacks-only", 'K', OPT_FLAG, AT(kernel_only), NULL, "Leave out user frames", 0, 0,
	  NULL },
	{ "root", 0, OPT_CHOICE, AT(root), "WHAT",
	  "First frame: comm (default), none, pid (comm-PID), tid (comm-PID/TID), gate, cgroup (its path, "
	  "then comm), container (its name, then comm)",
	  0, 0, fold_root_words },
	{ "unfold-asleep", 0, OPT_FLAG, AT(unfold_asleep), NULL,
	  "Show the stacks of threads that never ran, not one frame for all of them", 0, 0, NULL },
	{ "unit", 0, OPT_CHOICE, AT(unit), "UNIT", "us (default) or ns", 0, 0, units },
	{ "output", 'o', OPT_STRING, AT(out_path), "FILE",
	  "Write to FILE instead of standard output", 0, 0, NULL },
	{ "force", 0, OPT_FLAG, AT(force), NULL, "Replace FILE if it exists", 0, 0, NULL },
	FILTER_OPTIONS(struct settings),
	{ 0 },
};

static unsigned int fold_flags(const struct settings *s)
{
	return (s->annotate ? FOLD_SUFFIXES : 0) | (s->lines ? FOLD_LINES : 0) |
	       (s->delimiter ? FOLD_DELIMITER : 0) | (s->user_only ? FOLD_USER_ONLY : 0) |
	       (s->kernel_only ? FOLD_KERNEL_ONLY : 0) |
	       (s->unfold_asleep ? FOLD_UNFOLD_ASLEEP : 0);
}

static int parse(int argc, char **argv, struct settings *s, struct folded_form *form,
		 const char **path, struct err *err)
{
	int status = operand__one(options, argc, argv, s, "FILE", path, err);

	if (status)
		return status;
	if (s->user_only && s->kernel_only) {
		err_set(err, -EINVAL, "-U and -K leave nothing: give one of them");
		return STATUS_USAGE;
	}
	if (s->kinds && fold_parse_kinds(s->kinds, &form->opts.kinds, err))
		return STATUS_USAGE;
	form->opts.flags = fold_flags(s);
	form->opts.root = (enum fold_root)s->root;
	form->show_kinds = s->kinds && form->opts.kinds & (form->opts.kinds - 1);
	form->value_ns = s->unit == 1 ? 1 : 1000;
	return STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	const struct source_options source = { 0 };
	struct settings s = { 0 };
	struct folded_form form = { .opts.kinds = 0 };
	struct profile *p = NULL;
	struct buf text = { 0 };
	const char *path;
	int status = parse(argc, argv, &s, &form, &path, err);

	if (status)
		goto out;
	status = STATUS_FAILED;
	if (source_load(path, &source, &p, err) || filter_profile(p, &s.filter, err))
		goto out;
	folded_form__put(p, &form, &text);
	if (!text.len_bytes && p->sums.cnt)
		folded_form__tell_empty(p, stderr);
	status = operand__put(s.out_path, s.force, &text, err);
out:
	filter_options_free(&s.filter);
	buf_free(&text);
	profile__free(p);
	return status;
}

const struct command command_fold = {
	.name = "fold",
	.usage = "[OPTIONS] FILE",
	.summary = "Folded stacks of a profile",
	.details =
		"One stack a line, root first, and its time in whole microseconds (rounded to nearest;\n"
		"stacks below half a microsecond are left out). Without options these are the lines of\n"
		"bcc's \"offcputime -f\": blocked time, the name of the process first. With --kinds the\n"
		"last frame tells the kind of time: [running], [sleep], ...; with --annotate, too, such a\n"
		"file can be read back into the picture of everything. A \";\" in a name is written \\x3b.",
	.options = options,
	.run = run,
};
