/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a profile as a profile: some of its processes, some of its time. Stretches of time are cut out to
 * the nanosecond where there are intervals, else in whole slices. Threads have the books of what is left as far as
 * it is known; facts that hold for the whole capture only (its cost, its switch rate, the kernel's own accounts of
 * threads) go away with a cut in time. */
#ifndef CP_USER_ANALYSIS_SELECTION_H
#define CP_USER_ANALYSIS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/model/profile.h"

struct selection {
	const char *comm;   /* glob(7): name of the process; NULL = any */
	const char *cgroup; /* glob(7): path of its cgroup, or its container's name; NULL = any */
	uint32_t pid;	    /* as seen from outside or inside of its PID namespace; 0 = any */
	bool has_since, has_until;
	uint64_t since_ns, until_ns; /* from the begin of the window */
};

struct selection_report {
	uint64_t kept, dropped;	     /* of the sums, in the profile's unit */
	uint64_t since_ns, until_ns; /* what was taken: slices are not cut */
	bool widened;
};

bool selection_is_all(const struct selection *s);

/* 0, or -EINVAL with the reason: no intervals and no slices, nothing between the two times. O(n log n) in intervals,
 * else O(sums + threads). */
int selection_apply(struct profile *p, const struct selection *s, struct selection_report *ret,
		    struct err *err);

#endif
