/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that the kernel copied instead of walking them (bpf/copy.bpf.h), walked here by the same rows. A copy comes
 * after the announcement of its process, so the rows have been fetched by then. */
#ifndef CP_USER_CAPTURE_COPIES_H
#define CP_USER_CAPTURE_COPIES_H

#include <stdint.h>

#include "bpf/events.h"
#include "user/capture/spaces.h"

struct copies;

struct copies *copies__new(void);    /* owned by the caller */
void copies__free(struct copies *c); /* NULL is fine */

/* The stack that the kernel would have sent; ret has room for the frames of any. Where the space has no rows it ends
 * as the kernel said. The record was checked by its receiver. O(frames * log mappings), and O(mappings) for the first
 * of several in one space. */
void copies__walk(struct copies *c, const struct spaces *s, uint32_t space,
		  const struct cp_event_copy *e, struct cp_event_stack *ret);

#endif
