/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and stacks taken out of the kernel's maps while the capture goes on, so that however long it is, and however
 * many processes come and go, the maps do not fill. To take a sum nobody may be adding to it: the programs write
 * under two sides of the keys in turn (CP_SUM_SIDE); what the side that is not written to holds is taken when all
 * programs that began before have ended. A stack that the kernel has forgotten is sent again under another
 * number, which user/capture/events.h knows to be the same. */
#ifndef CP_USER_CAPTURE_HARVEST_H
#define CP_USER_CAPTURE_HARVEST_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "user/base/err.h"
#include "user/capture/events.h"
#include "user/capture/kernel.h"

/* Zero-initialised is empty. */
struct harvest {
	struct sum_table sums;	 /* what was taken */
	struct early_sum *early; /* ... before its stack was known */
	size_t early_cnt, early_cap;
	uint64_t last_ns;	       /* of CLOCK_MONOTONIC: the last harvest */
	uint32_t sum_base, stack_base; /* keys and stacks that had come at the last harvest */
};

/* Takes out the sums, and forgets the stacks, when their map is three quarters full or holds 65,536 new keys, or a
 * minute after the last time if there are 16,384 new sums or 32,768 new stacks; otherwise a few comparisons.
 * kernel_sums: the kernel adds up; else only stacks are taken. O(room of the maps), which as many new sums and stacks,
 * or a minute, have paid for. */
int harvest_if_due(struct harvest *h, struct kernel *k, const struct events *ev, bool kernel_sums,
		   struct err *err);
/* What is done with sums that were taken out: those whose stack has not come yet are kept apart until it has. O(cnt + those). */
void harvest_keep(struct harvest *h, const struct events *ev, const struct cp_sum_key *keys,
		  const struct cp_sum *values, size_t cnt);
/* When all events have been taken: all sums, those in the kernel and those taken out; borrowed until harvest_free. */
int harvest_finish(struct harvest *h, struct kernel *k, const struct events *ev,
		   const struct sum_table **ret, struct err *err);
void harvest_free(struct harvest *h);

#endif
