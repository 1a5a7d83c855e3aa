/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for Python frames, read in the live process as soon as a stack with them arrives: the process may end, and its
 * code objects may be freed, so that an address that is looked up later may be another function's. A name is given only
 * if what lies at the address is a code object that holds the frame's instruction, and has the mark that the kernel
 * took of it together with the stack. One that was read before and has that mark needs no process any more. */
#ifndef CP_USER_CAPTURE_PYTHON_NAMES_H
#define CP_USER_CAPTURE_PYTHON_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "symbolize/python_layout.h"
#include "user/base/strtab.h"
#include "user/model/kinds.h"

struct python_name {
	uint32_t function_sid, file_sid; /* in the strings of python_names__strings */
	uint32_t line;			 /* 0 = none */
	uint32_t reason;		 /* enum name_reason; no names unless it is NAME_OK */
};

struct python_names;

struct python_names *python_names__new(void);	 /* owned by the caller */
void python_names__free(struct python_names *n); /* NULL is fine */

/* A stack of a process, by its number in the capture and its pid, has arrived. O(frames). */
void python_names__stack(struct python_names *n, const struct cp_event_stack *e,
			 const struct python_layout *l, uint32_t pid);
/* The names of the e->python_cnt frames of a stack that has arrived; NULL if it has not. Borrowed. */
const struct python_name *python_names__find(const struct python_names *n,
					     const struct cp_event_stack *e);
const char *python_names__str(const struct python_names *n, uint32_t sid);

#endif
