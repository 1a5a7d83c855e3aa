/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output files that are whole or absent: written under a temporary name in the same directory, moved into
 * place by outfile_commit, removed by outfile_close otherwise. Under sudo they belong to the invoking user.
 * "-" means standard output, which is neither renamed nor removed. */
#ifndef CP_USER_BASE_OUTFILE_H
#define CP_USER_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

struct outfile;

enum outfile_mode {
	OUTFILE_NEW,	 /* refuse when the name is taken (checked at open and again at commit) */
	OUTFILE_REPLACE, /* replace a regular file atomically; devices and pipes are written directly */
};

int outfile_open(const char *path, enum outfile_mode mode, struct outfile **ret, struct err *err);
/* Errors are kept and returned by every later call, so that a printer need not check each line. */
int outfile_write(struct outfile *f, const void *data, size_t len_bytes, struct err *err);
int outfile_pwrite(struct outfile *f, const void *data, size_t len_bytes, uint64_t off_bytes,
		   struct err *err); /* only on regular files; flushes first */
int outfile_fd(const struct outfile *f);
bool outfile_is_direct(const struct outfile *f);	/* not a regular file: no outfile_pwrite */
uint64_t outfile_size_bytes(const struct outfile *f);	/* bytes given to outfile_write so far */
int outfile_commit(struct outfile *f, struct err *err); /* 0 = whole and in place */
void outfile_close(struct outfile *f);			/* NULL is fine; uncommitted files vanish */

/* The three steps at once. */
int outfile_put(const char *path, enum outfile_mode mode, const void *data, size_t len_bytes,
		struct err *err);

#endif
