/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwinders in user space: one table of hooks, several back ends, so that each can check the others.
 *
 *   rows       symbolize/walk.c: what the kernel's walker does
 *   libunwind  a full DWARF interpreter over remote memory: slower by far, but with all registers and all
 *              expressions; for what rows cannot say, and as the oracle of the tests
 *
 * Both read the thread through struct walk_space: registers and memory may be copies. For libunwind the
 * memory includes .eh_frame where the file is mapped, and the mappings need their tables (eh_frame_hdr). */
#ifndef CP_SYMBOLIZE_UNWIND_H
#define CP_SYMBOLIZE_UNWIND_H

#include "symbolize/walk.h"
#include "user/base/err.h"

struct unwinder {
	const char *name;
	/* State for stacks of one process as long as its mappings stay the same. The space is borrowed until
	 * close, and may read other memory (another thread, another moment) from walk to walk. */
	int (*open)(const struct walk_space *space, void **state, struct err *err);
	/* Returns frames and a stop reason; the flags WALK_BY_FP are only known to rows. */
	void (*walk)(void *state, const struct walk_regs *regs, struct walk_stack *ret);
	void (*close)(void *state);
};

extern const struct unwinder unwinder_rows;
extern const struct unwinder unwinder_libunwind;

#endif
