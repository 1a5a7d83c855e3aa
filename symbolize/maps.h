/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process's mappings as /proc/PID/maps tells them. Parsing is pure and bounded: the text comes from the
 * kernel, but the paths in it are chosen by the program that is watched. */
#ifndef CP_SYMBOLIZE_MAPS_H
#define CP_SYMBOLIZE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/base/err.h"

enum maps_perm {
	MAPS_READ = 1 << 0,
	MAPS_WRITE = 1 << 1,
	MAPS_EXEC = 1 << 2,
	MAPS_SHARED = 1 << 3,
};

struct maps_entry {
	uint64_t start, end;
	uint64_t off_bytes; /* of start in the file */
	uint64_t inode;	    /* 0 = no file */
	uint32_t dev_major, dev_minor;
	uint32_t perms; /* enum maps_perm */
	bool deleted;	/* the kernel said " (deleted)"; taken off the path */
	bool past;	/* what was mapped earlier: the process may map another file there by now */
	const char *
		path; /* "" for anonymous memory, else a path, "[heap]", "[vdso]", ...; in maps.text */
};

struct maps {
	struct maps_entry *entries; /* by start, not overlapping */
	size_t cnt, cap;
	char *text;	    /* owned; paths point into it */
	size_t skipped_cnt; /* lines that were not understood, overlapped or went beyond the limit */
};

enum {
	MAPS_ENTRIES_MAX = 1 << 20
};

/* Takes over a copy of text (not NUL-terminated). Never fails; what it cannot read is counted. O(n log n). */
void maps_parse(struct maps *m, const char *text, size_t len_bytes);
/* Reads /proc/PID/maps. 0, -ESRCH if the process is gone or has no memory of its own, or -errno. */
int maps_read(struct maps *m, pid_t pid, struct err *err);
/* The entry that covers addr, or NULL; borrowed. O(log n). */
const struct maps_entry *maps_find(const struct maps *m, uint64_t addr);
void maps_free(struct maps *m);

#endif
