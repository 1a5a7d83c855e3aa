/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof doctor: what this kernel and this user can do, by trying. */
#include <stdio.h>

#include "user/cmd/command.h"
#include "gen/version.h"

static const struct opt options[] = { { 0 } };

static int run(int argc, char **argv, struct err *err)
{
	struct opt_operands operands;

	if (opt_parse(options, argc, argv, NULL, &operands, err))
		return STATUS_USAGE;
	puts("causeprof " CAUSEPROF_VERSION);
	return STATUS_DONE;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "",
	.summary = "What this kernel and this user can do",
	.options = options,
	.run = run,
};
