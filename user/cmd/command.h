/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verb of the command line. Each file user/cmd/verb_NAME.c defines "const struct command command_NAME";
 * the build collects them into the table that main.c walks, so a new verb is a new file. */
#ifndef CP_USER_CMD_COMMAND_H
#define CP_USER_CMD_COMMAND_H

#include "user/base/err.h"
#include "user/base/opt.h"

/* Exit statuses, the same for every verb. */
enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_LOST = 3, /* data were lost and --strict */
	STATUS_GATE = 4, /* a --fail-if condition is met */
};

struct command {
	const char *name;
	const char *usage;	   /* operands, e.g. "[OPTIONS] FILE..." */
	const char *summary;	   /* one line for the list of verbs */
	const char *details;	   /* paragraphs for --help and the man page; may be NULL */
	const struct opt *options; /* ends with an entry whose name is NULL */
	/* argv[0] is the verb. Returns an enum status; on failure *err holds the line to print, without
	 * "causeprof:". --help has been handled by the caller. */
	int (*run)(int argc, char **argv, struct err *err);
};

#endif
