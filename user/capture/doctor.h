/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this kernel and this user can do for a capture, found by trying each thing alone and then all of
 * them together: versions and configurations say little about what a distribution or a container allows.
 * Everything that is tried is undone at once; nothing stays in the kernel. */
#ifndef CP_USER_CAPTURE_DOCTOR_H
#define CP_USER_CAPTURE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* missing, and costs a part of the result */
	DOCTOR_MISSING, /* missing, and without it there is no capture */
};

struct doctor_finding {
	const char *name; /* static */
	enum doctor_state state;
	struct buf detail;   /* what was seen */
	const char *cost;    /* static; what its absence costs */
	const char *way_out; /* static; what to do about it */
};

struct doctor {
	struct doctor_finding *findings;
	size_t cnt;
	bool capture_possible; /* the whole kernel side loaded and attached */
};

/* Whether a label of AppArmor, as /proc/self/attr has it, is of a profile that forbids things. */
bool doctor_apparmor_confines(const char *label);

/* Takes as long as the start of a capture (a fraction of a second on an idle machine). Cannot fail: what
 * does not work is a finding. Free with doctor__free. */
void doctor__examine(struct doctor *d);
void doctor__free(struct doctor *d);
const char *doctor_state_word(enum doctor_state state); /* "ok", "limited", "missing" */

#endif
