/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program's own work cost, phase by phase: one after another, each with its wall time and the CPU time of
 * all threads of the process. Helper processes are not seen by that clock: who has some says what they used.
 * Functions take NULL for "nobody wants to know". */
#ifndef CP_USER_BASE_PHASES_H
#define CP_USER_BASE_PHASES_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

enum {
	PHASES_MAX = 24 /* later ones are added to the last */
};

struct phase {
	const char *name; /* borrowed; usually a literal */
	uint64_t wall_ns, cpu_ns, helper_cpu_ns;
};

/* All zero: no phase yet. The CPU time before the first one (the program's start) is the first one's. */
struct phases {
	struct phase items[PHASES_MAX];
	size_t cnt;
	uint64_t wall_mark_ns, cpu_mark_ns;
	uint64_t helpers_ns, helpers_mark_ns; /* so far; at the last border */
};

/* Ends the phase before, if there is one. */
void phases_begin(struct phases *p, const char *name);
void phases_end(struct phases *p);
/* What helper processes have used so far, altogether; never less than the last time. */
void phases_helpers(struct phases *p, uint64_t cpu_ns);
/* A table: a line a phase, and their sum. */
void phases_put(const struct phases *p, struct buf *out);

#endif
