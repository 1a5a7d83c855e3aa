/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cgroups (v2) of tasks, as a filter and as a label. The helpers for it know the current task alone; this walks
 * from any task's cgroup to the root. Only at a census, a birth and a move: never at a switch. */
#ifndef CP_BPF_CGROUP_BPF_H
#define CP_BPF_CGROUP_BPF_H

#include "bpf/state.bpf.h"

enum {
	CP_CGROUP_DEPTH_MAX = 256
};

struct cgroup_climb {
	struct cgroup *at;
	u32 found;
};

/* The number of a cgroup: the inode of its directory, too. */
static __always_inline u64 cgroup_number(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

static __always_inline struct cgroup *cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp);
}

static long cgroup_climb(u32 i, struct cgroup_climb *c)
{
	struct cgroup *at = c->at;
	u64 number;

	if (!at)
		return 1;
	number = cgroup_number(at);
	if (bpf_map_lookup_elem(&cp_cgroups, &number)) {
		c->found = 1;
		return 1;
	}
	/* not through ancestors[], which has had two forms; of a cgroup's own state .cgroup is itself */
	c->at = BPF_CORE_READ(at, self.parent, cgroup);
	return 0;
}

/* Whether the task is in a cgroup that is asked for, or below one. */
static __always_inline bool in_cgroups(struct task_struct *task)
{
	struct cgroup_climb c = { .at = cgroup_of(task) };

	bpf_loop(CP_CGROUP_DEPTH_MAX, cgroup_climb, &c, 0);
	return c.found;
}

#endif
