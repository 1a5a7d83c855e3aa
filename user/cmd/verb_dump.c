/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof dump: a profile as lossless text. */
#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"
#include "user/cmd/command.h"
#include "user/cmd/operand.h"
#include "user/store/reader.h"
#include "user/store/redact.h"
#include "user/store/text.h"

struct settings {
	const char *out_path;
	const char *redact_key;
	bool force, redact;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, AT(out_path), "FILE",
	  "Write to FILE instead of standard output", 0, 0, NULL },
	{ "force", 0, OPT_FLAG, AT(force), NULL, "Replace FILE if it exists", 0, 0, NULL },
	{ "redact", 0, OPT_FLAG, AT(redact), NULL,
	  "Hash names, paths, labels and command lines; drop addresses and build ids", 0, 0, NULL },
	{ "redact-key", 0, OPT_STRING, AT(redact_key), "TEXT",
	  "Redact with a secret key: without it nobody can check a guessed name", 0, 0, NULL },
	{ 0 },
};

static int run(int argc, char **argv, struct err *err)
{
	struct settings s = { 0 };
	struct profile *p = NULL;
	struct buf text = { 0 };
	const char *path;
	int status = operand__one(options, argc, argv, &s, "FILE.cprof", &path, err);

	if (status)
		return status;
	if (reader__load(path, &p, err))
		return STATUS_FAILED;
	if (s.redact || s.redact_key) {
		struct profile *redacted = profile__redact(p, s.redact_key ? s.redact_key : "");

		profile__free(p);
		p = redacted;
	}
	text__dump(p, &text);
	status = operand__put(s.out_path, s.force, &text, err);
	buf_free(&text);
	profile__free(p);
	return status;
}

const struct command command_dump = {
	.name = "dump",
	.usage = "[OPTIONS] FILE.cprof",
	.summary = "A profile as lossless text",
	.details =
		"Every record is one line; \"causeprof load\" makes the same file of it again. With\n"
		"--redact the text shows shapes and times and no names, and can be given to others.",
	.options = options,
	.run = run,
};
