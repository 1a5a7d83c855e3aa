/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows compiled in the sandbox. */
#ifndef CP_SYMBOLIZE_ROWS_REMOTE_H
#define CP_SYMBOLIZE_ROWS_REMOTE_H

#include "symbolize/rows.h"
#include "symbolize/sandbox.h"

/* To be put at SANDBOX_ROWS in the table of handlers. */
int rows_sandbox_handler(struct sandbox_job *job, struct err *err);

/* Several files in one worker: for files that may spoil each other's rows, since one process runs the code of all of
 * them. cnt is at most SANDBOX_FD_MAX. */
struct rows_file_result {
	int rc; /* of this file; 0: table is to be released with rows_free */
	struct row_table table;
};

int rows_remote_start(struct sandbox *s, const int *fds, size_t cnt, struct sandbox_ticket *ret,
		      struct err *err);
/* Errors are the whole request's: the worker died, or its answer makes no sense. */
int rows_remote_finish(struct sandbox *s, const struct sandbox_ticket *t,
		       struct rows_file_result *files, size_t cnt, struct err *err);

/* As rows_compile_fd, and what comes back was checked. Errors: those of rows_compile_fd and sandbox_run. */
int rows_compile_remote(struct sandbox *s, int fd, struct row_table *ret, struct err *err);

#endif
