/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof export: a profile in another tool's format. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/profile_source.h"

struct export_values {
	struct source_options source;
	struct filter_options filter;
	const char *output, *format, *in_unit;
	bool suffixes, kinds, force;
};

static int check_time_unit(const char *text, struct err *err)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	for (size_t i = 0; i < ARRAY_CNT(units); i++)
		if (!strcmp(text, units[i]))
			return 0;
	return err_set(err, -EINVAL, "'%s' is not one of ns, us, ms, s", text);
}

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, offsetof(struct export_values, output), "FILE",
	  "where to write (default: standard output)", 0, 0, NULL },
	{ "format", 0, OPT_STRING, offsetof(struct export_values, format), "FORMAT",
	  "format of the output (default: by the output's extension)", 0, 0, NULL },
	{ "in", 0, OPT_STRING, offsetof(struct export_values, in_unit), "UNIT",
	  "folded: write times in ns, us, ms or s, rounded half up", 0, 0, NULL, check_time_unit },
	{ "suffixes", 0, OPT_FLAG, offsetof(struct export_values, suffixes), NULL,
	  "mark frames _[k] kernel, _[i] inlined, _[j] JIT, _[p] Python (default; --no-suffixes)",
	  0, 0, NULL },
	{ "kinds", 0, OPT_FLAG, offsetof(struct export_values, kinds), NULL,
	  "say what the thread did in a leaf frame [running], [sleep], ... (default; --no-kinds)",
	  0, 0, NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct export_values, force), NULL,
	  "replace the output if it exists", 0, 0, NULL },
	FILTER_OPTIONS(struct export_values),
	SOURCE_OPTIONS(struct export_values),
	{ 0 },
};

static int write_piece(void *ctx, const void *data, size_t len_bytes, struct err *err)
{
	return outfile_write(ctx, data, len_bytes, err);
}

static int write_profile(const struct profile *p, const struct exchange_format *format,
			 const struct export_values *v, struct err *err)
{
	const struct export_options opts = { .unit = v->in_unit,
					     .suffixes = v->suffixes,
					     .kinds = v->kinds };
	struct outfile *f;
	struct export_sink sink = { .write = write_piece };
	int rc = outfile_open(v->output ? v->output : "-", v->force ? OUTFILE_REPLACE : OUTFILE_NEW,
			      &f, err);

	if (rc)
		return rc;
	sink.ctx = f;
	rc = format->export(p, &opts, &sink, err);
	if (!rc)
		rc = outfile_commit(f, err);
	outfile_close(f);
	return rc;
}

static const struct exchange_format *choose_format(const struct export_values *v, struct err *err)
{
	const struct exchange_format *f;

	if (v->format)
		f = exchange_find(v->format);
	else
		f = v->output ? exchange_by_extension(v->output) : exchange_find("folded");
	if (!f)
		err_set(err, -EINVAL, "unknown %s '%s'; causeprof import --list names the formats",
			v->format ? "format" : "extension of", v->format ? v->format : v->output);
	else if (!f->export)
		err_set(err, -ENOTSUP, "%s can be read but not written", f->name);
	return f && f->export ? f : NULL;
}

static int export_file(const char *path, const struct exchange_format *format,
		       const struct export_values *v, struct err *err)
{
	struct profile *p;
	int rc = source_load(path, &v->source, &p, err);

	if (rc)
		return STATUS_FAILED;
	rc = filter_profile(p, &v->filter, err);
	if (!rc)
		rc = write_profile(p, format, v, err);
	profile__free(p);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct export_values v = { .suffixes = true, .kinds = true };
	const struct exchange_format *format = NULL;
	struct opt_operands operands;
	int status = STATUS_USAGE;

	if (opt_parse(options, argc, argv, &v, &operands, err))
		goto out;
	if (operands.argc != 1)
		err_set(err, -EINVAL, "export takes one profile; \"-\" is standard input");
	else
		format = choose_format(&v, err);
	if (format)
		status = export_file(operands.argv[0], format, &v, err);
out:
	filter_options_free(&v.filter);
	return status;
}

const struct command command_export = {
	.name = "export",
	.usage = "[OPTIONS] PROFILE",
	.summary = "Write a profile in another tool's format",
	.details =
		"PROFILE is a .cprof file or anything that import reads, so that this verb also\n"
		"converts from one foreign format to another.",
	.options = options,
	.run = run,
};
