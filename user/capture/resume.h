/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --hook finish: which place of this kernel runs in every thread that gets its CPU back. In order of preference:
 *	sched_exit_tp	   a tracepoint at the end of __schedule (6.16 and later): no breakpoint, interrupts are on
 *	finish_task_switch by fentry, where BTF and the symbol table agree on the name
 *	finish_task_switch by a kprobe, under the name that the symbol table gives: compilers add .isra.0, .constprop.0
 * A function that was inlined has no such place. */
#ifndef CP_USER_CAPTURE_RESUME_H
#define CP_USER_CAPTURE_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/err.h"

enum {
	RESUME_NAME_BYTES = 128,
};

enum resume_way {
	RESUME_NOT = 0, /* waits are booked with the stack of the switch-out */
	RESUME_SCHED_EXIT,
	RESUME_FENTRY,
	RESUME_KPROBE,
};

struct resume {
	enum resume_way way;
	char function
		[RESUME_NAME_BYTES]; /* as the kernel's symbol table spells it; "" for the tracepoint */
};

/* Looks into the kernel's types (btf_path: NULL = the running kernel's) and symbols. -ENOENT: it has no such place. */
int resume_find(const char *btf_path, const char *kallsyms_path, struct resume *r, struct err *err);
/* Whether a symbol is the function itself: its name, perhaps with what a compiler adds to a changed copy of the
 * whole, but no part that was split off (.cold, .part.0). */
bool resume_is_function(const char *symbol);
/* "switch", "finish (sched_exit_tp)", "finish (kprobe finish_task_switch.isra.0)": for the header of a profile.
 * In text of size_bytes; returns text. */
const char *resume_words(const struct resume *r, char *text, size_t size_bytes);

#endif
