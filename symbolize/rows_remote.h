/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows compiled in the sandbox. */
#ifndef CP_SYMBOLIZE_ROWS_REMOTE_H
#define CP_SYMBOLIZE_ROWS_REMOTE_H

#include "symbolize/rows.h"
#include "symbolize/sandbox.h"

/* To be put at SANDBOX_ROWS in the table of handlers. */
int rows_sandbox_handler(struct sandbox_job *job, struct err *err);

/* As rows_compile_fd, and what comes back was checked. Errors: those of rows_compile_fd and sandbox_run. */
int rows_compile_remote(struct sandbox *s, int fd, struct row_table *ret, struct err *err);

#endif
