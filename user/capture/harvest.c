/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums taken out of the kernel; see harvest.h. */
#include "user/capture/harvest.h"

#include <stdlib.h>

static void keep(struct harvest *h, const struct events *ev, const struct cp_sum_key *keys,
		 const struct cp_sum *values, size_t cnt)
{
	if (!h->sums)
		h->sums = interval_sums__new(false);
	for (size_t i = 0; i < cnt; i++) {
		struct cp_sum_key key = keys[i];

		key.stack = events_same_stack(ev, key.stack);
		interval_sums__put(h->sums, &key, &values[i]);
	}
}

/* A sum may have been taken out before its stack came out of the ring, so that nobody knew yet which one it is. */
static void name_stacks_again(struct harvest *h, const struct events *ev)
{
	struct interval_sums *before = h->sums;
	const struct cp_sum_key *keys;
	const struct cp_sum *values;
	size_t cnt;

	if (!before)
		return;
	cnt = interval_sums__get(before, &keys, &values);
	h->sums = NULL;
	keep(h, ev, keys, values, cnt);
	interval_sums__free(before);
}

enum {
	DUE_CNT_MAX = 65536, /* so that a long capture does not hold more memory than it needs */
};

static uint32_t due_at(uint32_t cnt_max)
{
	return cnt_max / 4 * 3 < DUE_CNT_MAX ? cnt_max / 4 * 3 : DUE_CNT_MAX;
}

int harvest_if_due(struct harvest *h, struct kernel *k, const struct events *ev, bool kernel_sums,
		   struct err *err)
{
	struct cp_sum_key *keys = NULL;
	struct cp_sum *values = NULL;
	struct kernel_fill fill;
	size_t cnt = 0;
	int rc = 0;

	kernel__fill(k, &fill);
	if (fill.sum_cnt - h->sum_base < due_at(fill.sum_cnt_max) &&
	    fill.stack_cnt - h->stack_base < due_at(fill.stack_cnt_max))
		return 0;
	h->sum_base = fill.sum_cnt;
	h->stack_base = fill.stack_cnt;
	h->time_cnt++;
	if (kernel_sums)
		rc = kernel__take_sums(k, &keys, &values, &cnt, err);
	if (!rc) {
		keep(h, ev, keys, values, cnt);
		rc = kernel__forget_stacks(k, err);
	}
	free(keys);
	free(values);
	return rc;
}

int harvest_finish(struct harvest *h, struct kernel *k, const struct events *ev,
		   const struct cp_sum_key **keys, const struct cp_sum **values, size_t *cnt,
		   struct err *err)
{
	struct cp_sum_key *last_keys;
	struct cp_sum *last_values;
	size_t last_cnt;
	int rc = kernel__sums(k, &last_keys, &last_values, &last_cnt, err);

	if (!rc) {
		name_stacks_again(h, ev);
		keep(h, ev, last_keys, last_values, last_cnt);
		*cnt = interval_sums__get(h->sums, keys, values);
	}
	free(last_keys);
	free(last_values);
	return rc;
}

void harvest_free(struct harvest *h)
{
	interval_sums__free(h->sums);
	*h = (struct harvest){ 0 };
}
