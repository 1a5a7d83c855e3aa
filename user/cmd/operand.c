/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What verbs that read profiles do with their operands; see operand.h. */
#include <errno.h>

#include "user/base/outfile.h"
#include "user/cmd/operand.h"

int operand__one(const struct opt *options, int argc, char **argv, void *values, const char *what,
		 const char **path, struct err *err)
{
	struct opt_operands operands;

	if (opt_parse(options, argc, argv, values, &operands, err))
		return STATUS_USAGE;
	if (operands.argc != 1) {
		err_set(err, -EINVAL, operands.argc ? "%s takes one %s, not %d" : "%s needs a %s",
			argv[0], what, operands.argc);
		return STATUS_USAGE;
	}
	*path = operands.argv[0];
	return STATUS_DONE;
}

int operand__put(const char *path, bool force, const struct buf *text, struct err *err)
{
	return outfile_put(path ? path : "-", force ? OUTFILE_REPLACE : OUTFILE_NEW, buf_str(text),
			   text->len_bytes, err) ?
		       STATUS_FAILED :
		       STATUS_DONE;
}
