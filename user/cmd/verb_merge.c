/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof merge: several profiles as one. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/merge.h"
#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/cmd/command.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/profile_source.h"
#include "user/store/writer.h"

struct merge_values {
	struct source_options source;
	struct filter_options filter;
	const char *output;
	bool force, json;
};

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, offsetof(struct merge_values, output), "FILE",
	  "the profile to write", 0, 0, NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct merge_values, force), NULL,
	  "replace the output if it exists", 0, 0, NULL },
	{ "json", 0, OPT_FLAG, offsetof(struct merge_values, json), NULL,
	  "print what was merged as JSON", 0, 0, NULL },
	FILTER_OPTIONS(struct merge_values),
	SOURCE_OPTIONS(struct merge_values),
	{ 0 },
};

static int add_file(struct profile *dst, const char *path, const struct merge_values *v,
		    struct err *err)
{
	struct profile *p;
	int rc = source_load(path, &v->source, &p, err);

	if (rc)
		return rc;
	rc = merge_profile(dst, p, err);
	if (rc)
		err_prefix(err, "%s", path);
	profile__free(p);
	return rc;
}

static void print_summary(const struct profile *p, int file_cnt)
{
	struct buf out = { 0 };
	struct json j;
	uint64_t total = 0;

	for (size_t i = 0; i < p->sums.cnt; i++)
		total += p->sums.items[i].ns;
	json_init(&j, &out);
	json_begin_object(&j, NULL);
	json_u64(&j, "profiles", (uint64_t)file_cnt);
	json_str(&j, "unit", profile__str(p, p->header.unit_sid));
	json_u64(&j, "total", total);
	json_u64(&j, "stacks", p->stacks.cnt - 1);
	json_u64(&j, "sums", p->sums.cnt);
	json_u64(&j, "intervals", p->intervals.cnt);
	json_end_object(&j);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
}

static int merge_files(const struct opt_operands *files, const struct merge_values *v,
		       struct err *err)
{
	struct profile *p = profile__new();
	int rc = 0;

	for (int i = 0; i < files->argc && !rc; i++)
		rc = add_file(p, files->argv[i], v, err);
	if (!rc)
		rc = filter_profile(p, &v->filter, err);
	if (!rc)
		rc = writer__save(p, v->output, v->force ? OUTFILE_REPLACE : OUTFILE_NEW, err);
	if (!rc && v->json)
		print_summary(p, files->argc);
	profile__free(p);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct merge_values v = { 0 };
	struct opt_operands operands;
	int status = STATUS_USAGE;

	if (opt_parse(options, argc, argv, &v, &operands, err))
		goto out;
	if (!operands.argc || !v.output)
		err_set(err, -EINVAL, "merge takes profiles and -o FILE");
	else
		status = merge_files(&operands, &v, err);
out:
	filter_options_free(&v.filter);
	return status;
}

const struct command command_merge = {
	.name = "merge",
	.usage = "[OPTIONS] -o FILE PROFILE...",
	.summary = "Add profiles to one, exactly",
	.details =
		"All must have one unit: import --hz turns samples into time first. Profiles of running\n"
		"and of blocked time of one program make a combined picture.",
	.options = options,
	.run = run,
};
