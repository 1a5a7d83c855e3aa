/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What verbs that read profiles do with their operands. */
#ifndef CP_USER_CMD_OPERAND_H
#define CP_USER_CMD_OPERAND_H

#include <stdbool.h>

#include "user/base/buf.h"
#include "user/base/opt.h"
#include "user/cmd/command.h"
#include "user/model/profile.h"

/* Options and exactly one operand, what ("FILE.cprof") names it in the message. STATUS_DONE with *path
 * borrowed from argv, or STATUS_USAGE. */
int operand__one(const struct opt *options, int argc, char **argv, void *values, const char *what,
		 const char **path, struct err *err);

/* Text to a file that is whole or absent ("-" or NULL: standard output): an enum status. */
int operand__put(const char *path, bool force, const struct buf *text, struct err *err);

#endif
