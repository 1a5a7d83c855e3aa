/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done when the kernel programs announce a process, or new code in one: its mappings are read, its files get
 * unwind rows, and both the kernel's walker and the symbolizer are told. */
#ifndef CP_USER_CAPTURE_PROCESSES_H
#define CP_USER_CAPTURE_PROCESSES_H

#include <stdint.h>

#include "symbolize/symbolizer.h"
#include "user/capture/cgroups.h"
#include "user/capture/events.h"
#include "user/capture/kernel.h"
#include "user/capture/spaces.h"
#include "user/capture/vma_maps.h"

struct processes {
	struct kernel *kernel;
	struct spaces *spaces;
	struct symbolizer *symbolizer;
	struct cgroups *cgroups;
	struct vma_maps *vma_maps;
	uint64_t unpublished_cnt; /* new code that got no unwind rows for want of room */
};

/* All but the last are borrowed. */
void processes_init(struct processes *w, struct kernel *kernel, struct spaces *spaces,
		    struct symbolizer *symbolizer, struct cgroups *cgroups);
void processes_fini(struct processes *w); /* fine on one that is all zero */

/* Answers an announcement: sets p's space, exe and cgroup. told: the announcement's, or NULL. */
void processes_seen(struct processes *w, struct events *ev, struct event_process *p,
		    const struct cp_told *told);
/* A process generation needs its space no more. Room that nobody points to is used again. */
void processes_leave(struct processes *w, struct event_process *p);

#endif
