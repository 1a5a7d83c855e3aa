/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function symbols of files, read in the sandbox, and the readable names of those that are wanted. What comes back is
 * checked before anything of it is used. */
#ifndef CP_SYMBOLIZE_REMOTE_SYMBOLS_H
#define CP_SYMBOLIZE_REMOTE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/remote.h"
#include "symbolize/sandbox.h"
#include "symbolize/symfile.h"

enum {
	REMOTE_SYMBOLS_FILES_MAX = 15 /* two descriptors each, and one of the question */
};

struct remote_symbols_file {
	int fd, debug_fd;      /* debug_fd may be -1 */
	const uint64_t *addrs; /* whose names are wanted: sorted; borrowed */
	size_t addr_cnt;
	size_t expected_cnt; /* addresses that will be asked about later */
};

/* So many functions of a file are made readable for one address that will be asked about: a question costs a process. */
#define REMOTE_SYMBOLS_PER_ADDR 4

struct remote_symbols {
	int rc; /* of this file */
	struct symtab table;
	bool readable; /* the strings of the table are names as they are wanted, not as they stand in the file */
	struct symfile_counts counts;
	/* of each range that holds a wanted address, in order: NUL-terminated, name_cnt of them */
	struct buf names;
	size_t name_cnt;
};

/* Several files in one worker: for files that may spoil each other's names, since one process runs the code of all
 * of them. */
int remote_symbols_start(struct sandbox *s, const struct remote_symbols_file *files, size_t cnt,
			 const struct remote_style *style, struct sandbox_ticket *ret,
			 struct err *err);
/* Errors are the whole request's; else results[i] are to be released with remote_symbols_free. */
int remote_symbols_finish(struct sandbox *s, const struct sandbox_ticket *t,
			  struct remote_symbols *results, size_t cnt, struct err *err);
void remote_symbols_free(
	struct remote_symbols *r); /* what was taken out of it is set to 0 before */

int remote_symbols_handler(struct sandbox_job *job, struct err *err);

#endif
