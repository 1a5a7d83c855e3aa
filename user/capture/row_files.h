/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that watched processes map executable, each with its unwind rows. A file is compiled once, whoever maps
 * it: in the sandbox, at once or, while a capture is prepared, in batches that nobody waits for yet. */
#ifndef CP_USER_CAPTURE_ROW_FILES_H
#define CP_USER_CAPTURE_ROW_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolize/maps.h"
#include "symbolize/rows.h"
#include "symbolize/sandbox.h"

/* The vdso is the one with inode 0. What does not concern the file itself belongs to the one who places it. */
struct rows_file {
	uint64_t dev, inode, size_bytes;
	uint64_t mapped_dev,
		mapped_inode; /* as /proc/PID/maps has them: not the same on overlay and btrfs */
	int64_t mtime_ns;
	struct row_table table; /* rows and blocks freed once they are in the arrays */
	uint32_t row, block;	/* where */
	uint32_t space_cnt;	/* spaces whose mappings point to it */
	uint32_t last_space;	/* the newest of them */
	uint32_t row_guess_cnt, block_guess_cnt;
	bool pending; /* being compiled: the table is still empty */
	bool placed;
	bool failed;
	bool evicted; /* this element can hold another file */
};

struct row_files;

struct row_files *row_files__new(void);	   /* owned by the caller */
void row_files__free(struct row_files *s); /* NULL is fine */

/* The file of an executable mapping as a number, or -1: memory without rows. A file that is new is compiled, or put
 * into a batch; if it cannot be opened, since the process is gone, it is the one that was mapped last with the same
 * device and inode. */
int64_t row_files__of(struct row_files *s, pid_t pid, const struct maps_entry *e);
struct rows_file *row_files__at(struct row_files *s,
				size_t i); /* until the next new file; NULL: no more */
/* Forgets a file: its number may be another's from here on, and it is compiled again when somebody maps it again. */
void row_files__evict(struct row_files *s, size_t i);

/* One worker may read many files: they are the code of one process. */
void row_files__together(struct row_files *s);
/* true: new files go into batches; false: what has been gathered is started. */
void row_files__prepare(struct row_files *s, bool preparing);
void row_files__settle(struct row_files *s); /* waits for all batches */
/* For other questions about the same files; no batch is under way then. NULL: there is none. Borrowed. */
struct sandbox *row_files__sandbox(struct row_files *s);
/* Rows and blocks of all files, estimated for those that are being compiled. */
void row_files__count(const struct row_files *s, uint64_t *row_cnt, uint64_t *block_cnt);

struct row_files_stats {
	uint32_t file_cnt, failed_file_cnt, evicted_file_cnt;
	uint64_t compile_ns;
	uint64_t helper_cpu_ns; /* of the processes that compiled */
};
struct row_files_stats row_files__stats(const struct row_files *s);

#endif
