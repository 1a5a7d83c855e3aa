/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces of watched processes: what they map executable, and the unwind rows of those files, in the
 * arrays that the kernel's walker reads. Files are compiled once, whoever maps them. The symbolizer is told
 * of the same mappings at the same moment, so that names and walks agree. */
#ifndef CP_USER_CAPTURE_SPACES_H
#define CP_USER_CAPTURE_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "symbolize/python_layout.h"
#include "symbolize/symbolizer.h"
#include "user/base/err.h"
#include "user/capture/row_files.h"

struct spaces;

/* Sizes of the shared arrays, each a power of two. */
struct spaces_sizes {
	uint32_t row_cnt, block_cnt, mapping_cnt;
};

struct spaces *spaces__new(void);    /* owned by the caller */
void spaces__free(struct spaces *s); /* NULL is fine */

/* Walks go by frame pointers: from here on nothing is compiled, and nothing lies in the arrays. */
void spaces__without_rows(struct spaces *s);

/* All that is prepared is the code of one process: one worker may read all of its files. */
void spaces__together(struct spaces *s);
/* Before the arrays exist: starts to compile what pid maps, and does not wait for it. A process that is gone is not
 * an error (counted). */
void spaces__prepare(struct spaces *s, pid_t pid);
/* Room for what was prepared, and for as much again that may come; for process_cnt_max executable mappings at
 * least (0 = the default). What is still being compiled is estimated by the size of the file's unwind section. */
struct spaces_sizes spaces__sizes(const struct spaces *s, uint32_t process_cnt_max);
/* Waits for what is being compiled. False: it needs more room than sizes have, look at spaces__sizes again. */
bool spaces__settle(struct spaces *s, const struct spaces_sizes *sizes);
/* The arrays, as mapped memory of at least these sizes; borrowed until spaces__free. */
void spaces__use(struct spaces *s, const struct spaces_sizes *sizes, uint64_t *rows,
		 uint32_t *blocks, struct cp_mapping *mappings);

/* Makes what pid maps address space number space: compiles what is new, fills the arrays, gives the range, and tells
 * the symbolizer. The process may be gone: then only files that are known already have rows. One process holds the
 * space from now on. 0, or -ENOSPC (no room for so many mappings): *ret is then an empty range, by which the walker
 * knows that it will get no rows and goes by frame pointers. A file without room for its rows costs its own code the
 * rows (counted). O(mappings + new rows). */
int spaces__publish(struct spaces *s, uint32_t space, pid_t pid, const struct maps *maps,
		    struct symbolizer *sym, struct cp_range *ret, struct err *err);
/* One process more has the space: a forked one. True: the parent's other threads have already gone on to another space,
 * so that it had no process any more; *ret must be published again. (When its room has been given to others already, the
 * new process stays without rows: one that forks beside a change of mappings, in a storm of others.) */
bool spaces__hold(struct spaces *s, uint32_t space, struct cp_range *ret);
/* One less. True when it was the last: take the range from the kernel, now; what it pointed to is used again
 * when there is need, after the walks that are on their way. Spaces that were never published are nobody's. */
bool spaces__drop(struct spaces *s, uint32_t space);

/* Where a space's mappings and their rows lie in the shared arrays; borrowed until the next spaces__publish. False: it
 * has none (any more). O(1). */
struct spaces_view {
	const struct cp_mapping *mappings; /* sorted */
	uint32_t mapping_cnt;
	const uint64_t *rows;
	const uint32_t *blocks;
};
bool spaces__view(const struct spaces *s, uint32_t space, struct spaces_view *ret);

/* The Python interpreter of an address space, if ret->python said that it has one; borrowed until the next
 * spaces__publish. */
const struct python_layout *spaces__python(const struct spaces *s, uint32_t space);

struct spaces_stats {
	struct row_files_stats files;
	uint32_t row_cnt, mapping_cnt, publish_cnt;
	uint32_t no_room_cnt; /* mappings whose file found no room for its rows */
};
struct spaces_stats spaces__stats(const struct spaces *s);

#endif
