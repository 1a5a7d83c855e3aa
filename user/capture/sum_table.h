/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by key. A long capture has as many as it has distinct stacks, so a sum keeps its stack and the number of all
 * the rest of its key, of which there are few: 24 bytes, and about 7 of the table that finds it. */
#ifndef CP_USER_CAPTURE_SUM_TABLE_H
#define CP_USER_CAPTURE_SUM_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/events.h"
#include "user/base/index.h"

/* Zero-initialised is empty. */
struct sum_table {
	struct kept_sum *sums; /* in order of arrival */
	size_t cnt, cap;
	uint32_t *slots;	  /* 1 + number of a sum, open addressing; 0 = free */
	size_t slot_cnt;	  /* a power of two, or 0 */
	struct cp_sum_key *rests; /* keys without their stack */
	size_t rest_cnt, rest_cap;
	struct index rest_index;
};

/* Adds to the sum of this key. O(1) amortised. */
void sum_table_add(struct sum_table *t, const struct cp_sum_key *key, const struct cp_sum *value);
/* The i-th of cnt; each key comes once. */
struct cp_sum sum_table_get(const struct sum_table *t, size_t i, struct cp_sum_key *key);
void sum_table_free(struct sum_table *t);

#endif
