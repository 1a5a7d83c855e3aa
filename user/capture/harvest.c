/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums taken out of the kernel; see harvest.h. */
#include "user/capture/harvest.h"

#include <stdlib.h>
#include <time.h>

#include "user/base/mem.h"

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A sum whose stack has not come out of the ring yet, so that nobody knows which one it is. */
struct early_sum {
	struct cp_sum_key key;
	struct cp_sum value;
};

static void keep(struct harvest *h, const struct events *ev, const struct cp_sum_key *key,
		 const struct cp_sum *value)
{
	struct cp_sum_key same = *key;

	same.stack = events_same_stack(ev, key->stack);
	if (key->stack && same.stack < EVENTS_STACK_KEPT) {
		h->early = xgrow(h->early, &h->early_cap, h->early_cnt + 1, sizeof(*h->early));
		h->early[h->early_cnt++] = (struct early_sum){ *key, *value };
	} else {
		sum_table_add(&h->sums, &same, value);
	}
}

void harvest_keep(struct harvest *h, const struct events *ev, const struct cp_sum_key *keys,
		  const struct cp_sum *values, size_t cnt)
{
	size_t early_cnt = h->early_cnt;

	h->early_cnt = 0; /* what stays early goes to a place that was read */
	for (size_t i = 0; i < early_cnt; i++) {
		const struct early_sum early = h->early[i];

		keep(h, ev, &early.key, &early.value);
	}
	for (size_t i = 0; i < cnt; i++)
		keep(h, ev, &keys[i], &values[i]);
}

/* New keys since the last time: how many must be taken, since there is little room for more, or since they come faster
 * than memory is worth it; and how many are taken if a minute has passed. A stack that the kernel has forgotten gets
 * another number, which is remembered, so this is done less often. */
enum {
	DUE_CNT_MAX = 65536,
	SUMS_SOON_CNT = 16384,
	STACKS_SOON_CNT = 32768,
};

static const uint64_t SOON_NS = 60000000000;

static bool due(uint32_t new_cnt, uint32_t cnt_max, uint32_t soon_cnt, uint64_t since_ns)
{
	uint32_t most = cnt_max / 4 * 3 < DUE_CNT_MAX ? cnt_max / 4 * 3 : DUE_CNT_MAX;

	return new_cnt >= most || (new_cnt >= soon_cnt && since_ns >= SOON_NS);
}

static int take_sums(struct harvest *h, struct kernel *k, const struct events *ev, struct err *err)
{
	struct cp_sum_key *keys;
	struct cp_sum *values;
	size_t cnt;
	int rc = kernel__take_sums(k, &keys, &values, &cnt, err);

	if (!rc)
		harvest_keep(h, ev, keys, values, cnt);
	free(keys);
	free(values);
	return rc;
}

int harvest_if_due(struct harvest *h, struct kernel *k, const struct events *ev, bool kernel_sums,
		   struct err *err)
{
	uint64_t now_ns = clock_ns(), since_ns;
	struct kernel_fill fill;
	int rc = 0;

	if (!h->last_ns)
		h->last_ns = now_ns;
	since_ns = now_ns - h->last_ns;
	kernel__fill(k, &fill);
	if (kernel_sums &&
	    due(fill.sum_cnt - h->sum_base, fill.sum_cnt_max, SUMS_SOON_CNT, since_ns)) {
		h->last_ns = now_ns;
		h->sum_base = fill.sum_cnt;
		rc = take_sums(h, k, ev, err);
	}
	if (!rc &&
	    due(fill.stack_cnt - h->stack_base, fill.stack_cnt_max, STACKS_SOON_CNT, since_ns)) {
		h->last_ns = now_ns;
		h->stack_base = fill.stack_cnt;
		rc = kernel__forget_stacks(k, err);
	}
	return rc;
}

int harvest_finish(struct harvest *h, struct kernel *k, const struct events *ev,
		   const struct sum_table **ret, struct err *err)
{
	struct cp_sum_key *keys;
	struct cp_sum *values;
	size_t cnt;
	int rc = kernel__sums(k, &keys, &values, &cnt, err);

	if (!rc) {
		harvest_keep(h, ev, keys, values, cnt);
		for (size_t i = 0; i < h->early_cnt; i++) /* their stacks were lost */
			sum_table_add(&h->sums, &h->early[i].key, &h->early[i].value);
		h->early_cnt = 0;
		*ret = &h->sums;
	}
	free(keys);
	free(values);
	return rc;
}

void harvest_free(struct harvest *h)
{
	sum_table_free(&h->sums);
	free(h->early);
	*h = (struct harvest){ 0 };
}
