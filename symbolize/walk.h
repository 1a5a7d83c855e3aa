/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking a user stack over unwind rows, in user space: for threads whose registers and memory can be read
 * from outside, and as the reference that the walker in the kernel is compared with.
 *
 * The walker never guesses: a frame that rows cannot describe ends the walk with a reason, and a frame whose
 * caller was found by its frame pointer (code without rows: JIT) is marked. */
#ifndef CP_SYMBOLIZE_WALK_H
#define CP_SYMBOLIZE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/rows.h"

enum {
	WALK_FRAME_MAX = 127,
};

/* The registers of frame 0, by DWARF number. */
enum walk_reg {
	WALK_RAX = 0,
	WALK_RDX = 1,
	WALK_RCX = 2,
	WALK_RBX = 3,
	WALK_RSI = 4,
	WALK_RDI = 5,
	WALK_RBP = 6,
	WALK_RSP = 7,
	WALK_R8 = 8, /* up to r15 = 15 */
	WALK_RIP = 16,
	WALK_REG_CNT = 17,
};

struct walk_regs {
	uint64_t r[WALK_REG_CNT];
};

/* An executable mapping. Without a table (JIT code, files without rows) frame pointers are tried. */
struct walk_mapping {
	uint64_t start, end;
	uint64_t bias; /* address - vaddr; rows_bias */
	const struct row_table *table;
};

struct walk_space {
	const struct walk_mapping *mappings; /* sorted by start, not overlapping */
	size_t mapping_cnt;
	/* Reads an 8-byte word of the thread's memory: 0, or nonzero if that is not possible. */
	int (*read)(void *ctx, uint64_t addr, uint64_t *word);
	void *ctx;
};

struct walk_frame {
	uint64_t addr;	/* frame 0: the pc; others: a return address, unless WALK_EXACT_PC */
	uint32_t flags; /* enum walk_flag */
};

struct walk_stack {
	struct walk_frame frames[WALK_FRAME_MAX]; /* innermost first */
	uint32_t frame_cnt;
	enum walk_stop stop;
	enum row_why why; /* of WALK_UNSUPPORTED, if a row says it */
};

/* O(frames * log mappings). */
void walk_rows(const struct walk_space *space, const struct walk_regs *regs,
	       struct walk_stack *ret);

#endif
