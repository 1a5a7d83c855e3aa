/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof load: lossless text back to a profile. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "user/cmd/command.h"
#include "user/cmd/operand.h"
#include "user/store/text.h"
#include "user/store/writer.h"

struct settings {
	const char *out_path;
	bool force;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, AT(out_path), "FILE.cprof", "The profile to write", 0, 0,
	  NULL },
	{ "force", 0, OPT_FLAG, AT(force), NULL, "Replace FILE.cprof if it exists", 0, 0, NULL },
	{ 0 },
};

static int load(const char *path, struct profile **ret, struct err *err)
{
	struct input *in = NULL;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = text__load(in, ret, err);
	input_close(in);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct settings s = { 0 };
	struct profile *p = NULL;
	const char *path;
	int status = operand__one(options, argc, argv, &s, "FILE", &path, err);

	if (status)
		return status;
	if (!s.out_path) {
		err_set(err, -EINVAL, "load needs -o FILE.cprof");
		return STATUS_USAGE;
	}
	if (load(path, &p, err))
		return STATUS_FAILED;
	if (writer__save(p, s.out_path, s.force ? OUTFILE_REPLACE : OUTFILE_NEW, err))
		status = STATUS_FAILED;
	profile__free(p);
	return status;
}

const struct command command_load = {
	.name = "load",
	.usage = "-o FILE.cprof FILE",
	.summary = "Lossless text back to a profile",
	.details =
		"FILE (\"-\" is standard input) is what \"causeprof dump\" printed, or was written by hand:\n"
		"\n"
		"  causeprof-text 1\n"
		"  header window_end_ns=100000000 unit=\"ns\"\n"
		"  process pid=10 comm=\"server\"\n"
		"  sum stack=\"main;read;vfs_read_[k]\" process=1 kind=sleep ns=70000 cnt=2",
	.options = options,
	.run = run,
};
