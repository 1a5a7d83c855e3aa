/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and stacks of processes that have ended, taken out of the kernel's maps while the capture goes on, so that
 * a long capture with many short processes does not fill them. Nothing is added to such a sum any more; a stack
 * that somebody else has too is merely sent again, under another number. */
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
	struct cp_sum_key *keys; /* taken out */
	struct cp_sum *values;
	size_t cnt, key_cap, value_cap;
	uint32_t stack_cnt;	       /* taken out, and never to come back */
	uint32_t sum_mark, stack_mark; /* the next harvest is due at these fills */
	uint8_t *stack_gone;	       /* by number of a stack */
	size_t stack_cap;
	uint32_t time_cnt;
};

/* When the maps are three quarters full: O(sums); otherwise two comparisons. kernel_sums: the kernel adds up;
 * else only stacks are taken. */
int harvest_if_due(struct harvest *h, struct kernel *k, const struct events *ev, bool kernel_sums,
		   struct err *err);
/* All sums, those in the kernel and those taken out, each key once: arrays owned by the caller. */
int harvest_finish(struct harvest *h, struct kernel *k, struct cp_sum_key **keys,
		   struct cp_sum **values, size_t *cnt, struct err *err);
void harvest_free(struct harvest *h);

#endif
