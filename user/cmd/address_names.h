/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for a stream of addresses of one file, a line each: what symbolize --elf does when it is asked for functions
 * alone. Lines are read, looked up and answered in batches; the text of an answer is made once for each function. */
#ifndef CP_USER_CMD_ADDRESS_NAMES_H
#define CP_USER_CMD_ADDRESS_NAMES_H

#include "symbolize/symbolizer.h"
#include "user/base/err.h"
#include "user/base/input.h"

/* Answers to standard output. 0, or -EINVAL with the number of the line that is no address; what came before it is
 * answered. O(1) an address in most files, and O(n log n) once in the file's symbols. */
int address_names_answer(struct symbolizer *s, const char *path, enum sym_pc pc, struct input *in,
			 struct err *err);

#endif
