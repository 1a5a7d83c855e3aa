/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof import: anybody's profile into a .cprof file. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/cmd/command.h"
#include "user/cmd/profile_source.h"
#include "user/store/writer.h"

struct import_values {
	struct source_options source;
	const char *output;
	bool list, force;
};

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, offsetof(struct import_values, output), "FILE",
	  "the profile to write (default: the input's name with .cprof)", 0, 0, NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct import_values, force), NULL,
	  "replace the output if it exists", 0, 0, NULL },
	{ "list", 0, OPT_FLAG, offsetof(struct import_values, list), NULL, "list the formats", 0, 0,
	  NULL },
	SOURCE_OPTIONS(struct import_values),
	{ 0 },
};

static int list_formats(void)
{
	const struct exchange_format *f;

	for (size_t i = 0; (f = exchange_format_at(i)); i++)
		printf("%-10s %-6s %s%s%s\n", f->name,
		       f->import && f->export ? "in,out" :
		       f->import	      ? "in" :
						"out",
		       f->summary, *f->extensions ? "; " : "", f->extensions);
	return STATUS_DONE;
}

static char *default_output(const char *path)
{
	size_t n = strlen(path);

	for (const char *dot = strrchr(path, '.');
	     dot && dot > path && dot[-1] != '/' && dot[1] != '/';) {
		n = (size_t)(dot - path);
		break;
	}
	return xasprintf("%.*s.cprof", (int)n, path);
}

static int import_file(const char *path, const struct import_values *v, struct err *err)
{
	struct profile *p;
	char *output = v->output ? xstrdup(v->output) : default_output(path);
	int rc = source_load(path, &v->source, &p, err);

	if (!rc) {
		rc = writer__save(p, output, v->force ? OUTFILE_REPLACE : OUTFILE_NEW, err);
		profile__free(p);
	}
	free(output);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct import_values v = { 0 };
	struct opt_operands operands;

	if (opt_parse(options, argc, argv, &v, &operands, err))
		return STATUS_USAGE;
	if (v.list)
		return list_formats();
	if (operands.argc != 1) {
		err_set(err, -EINVAL, "import takes one input file; \"-\" is standard input");
		return STATUS_USAGE;
	}
	if (!strcmp(operands.argv[0], "-") && !v.output) {
		err_set(err, -EINVAL, "say with -o where the profile from standard input goes");
		return STATUS_USAGE;
	}
	return import_file(operands.argv[0], &v, err);
}

const struct command command_import = {
	.name = "import",
	.usage = "[OPTIONS] FILE",
	.summary = "Read a profile of another tool and write it as a .cprof file",
	.details =
		"The format is told by the file's first bytes. --list names what can be read and\n"
		"written. Times become nanoseconds; --hz turns samples into time, so that profiles\n"
		"of running and of blocked time can be merged.",
	.options = options,
	.run = run,
};
