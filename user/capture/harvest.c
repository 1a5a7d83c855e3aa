/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of ended processes; see harvest.h. */
#include "user/capture/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

static bool has_ended(const struct events *ev, uint32_t process)
{
	const struct event_process *p = process ? events_process(ev, process) : NULL;

	return p && p->ended;
}

static void keep(struct harvest *h, const struct cp_sum_key *key, const struct cp_sum *value)
{
	h->keys = xgrow(h->keys, &h->key_cap, h->cnt + 1, sizeof(*h->keys));
	h->values = xgrow(h->values, &h->value_cap, h->cnt + 1, sizeof(*h->values));
	h->keys[h->cnt] = *key;
	h->values[h->cnt++] = *value;
}

static struct cp_stack_key stack_key(const struct cp_event_stack *e)
{
	struct cp_stack_key key = { (uint64_t)e->kernel_cnt | (uint64_t)e->user_cnt << 8 |
					    (uint64_t)e->stop << 16,
				    e->fp_mask[0] };

	for (size_t i = 0; i < (size_t)e->kernel_cnt + e->user_cnt; i++)
		cp_stack_hash(&key, e->frames[i]);
	return key;
}

/* Stacks that only ended processes have; those of kernel frames alone are everybody's. */
static void forget_stacks(struct harvest *h, struct kernel *k, const struct events *ev,
			  const struct cp_sum_key *keys, size_t cnt)
{
	uint8_t *in_use = xcalloc(ev->stack_cap, 1), *seen = xcalloc(ev->stack_cap, 1);
	struct cp_stack_key *gone = NULL;
	size_t gone_cnt = 0, gone_cap = 0, old_cap = h->stack_cap;

	if (ev->stack_cap > old_cap) {
		h->stack_gone = xgrow(h->stack_gone, &h->stack_cap, ev->stack_cap, 1);
		memset(h->stack_gone + old_cap, 0, h->stack_cap - old_cap);
	}
	for (size_t i = 0; i < cnt; i++)
		if (keys[i].stack < ev->stack_cap)
			(has_ended(ev, keys[i].process) ? seen : in_use)[keys[i].stack] = 1;
	for (uint32_t id = 1; id < ev->stack_cap; id++) {
		const struct cp_event_stack *e = events_stack(ev, id);

		if (!e || !seen[id] || in_use[id] || h->stack_gone[id] || !e->user_cnt)
			continue;
		gone = xgrow(gone, &gone_cap, gone_cnt + 1, sizeof(*gone));
		gone[gone_cnt++] = stack_key(e);
		h->stack_gone[id] = 1;
	}
	kernel__forget_stacks(k, gone, gone_cnt);
	h->stack_cnt += (uint32_t)gone_cnt;
	free(gone);
	free(in_use);
	free(seen);
}

/* Moves the sums of ended processes from the kernel to h. */
static void take_sums(struct harvest *h, struct kernel *k, const struct events *ev,
		      const struct cp_sum_key *keys, const struct cp_sum *values, size_t cnt)
{
	size_t first = h->cnt;

	for (size_t i = 0; i < cnt; i++)
		if (has_ended(ev, keys[i].process))
			keep(h, &keys[i], &values[i]);
	kernel__forget_sums(k, h->keys + first, h->cnt - first);
}

/* At three quarters; if that brought little, half of what is left later, so that a map full of living
 * processes is not looked at again and again. */
static uint32_t next_mark(uint32_t used, uint32_t max)
{
	uint32_t mark = max / 4 * 3;

	return used < mark - mark / 8 ? mark :
					used + (max > used ? (max - used) / 2 : 0) + max / 64;
}

int harvest_if_due(struct harvest *h, struct kernel *k, const struct events *ev, bool kernel_sums,
		   struct err *err)
{
	struct cp_sum_key *keys = NULL;
	struct cp_sum *values = NULL;
	struct kernel_fill fill;
	size_t cnt;
	int rc = 0;

	kernel__fill(k, &fill);
	if (!h->sum_mark) {
		h->sum_mark = next_mark(0, fill.sum_cnt_max);
		h->stack_mark = next_mark(0, fill.stack_cnt_max);
	}
	if (fill.sum_cnt - (uint32_t)h->cnt < h->sum_mark &&
	    fill.stack_cnt - h->stack_cnt < h->stack_mark)
		return 0;
	if (kernel_sums) {
		rc = kernel__sums(k, &keys, &values, &cnt, err);
		if (!rc) {
			forget_stacks(h, k, ev, keys, cnt);
			take_sums(h, k, ev, keys, values, cnt);
		}
		free(keys);
		free(values);
	} else {
		const struct cp_sum_key *all;
		const struct cp_sum *unused;

		cnt = interval_sums__get(ev->sums, &all, &unused);
		forget_stacks(h, k, ev, all, cnt);
	}
	h->time_cnt++;
	h->sum_mark = next_mark(fill.sum_cnt - (uint32_t)h->cnt, fill.sum_cnt_max);
	h->stack_mark = next_mark(fill.stack_cnt - h->stack_cnt, fill.stack_cnt_max);
	return rc;
}

struct keyed {
	struct cp_sum_key key;
	struct cp_sum value;
};

static int compare_keyed(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cp_sum_key));
}

/* A thread that took its last steps when its process had ended has made a key anew: it is added up. */
static void join(struct cp_sum_key *keys, struct cp_sum *values, size_t *cnt)
{
	struct keyed *all = xcalloc(*cnt, sizeof(*all));
	size_t kept = 0;

	for (size_t i = 0; i < *cnt; i++)
		all[i] = (struct keyed){ keys[i], values[i] };
	qsort(all, *cnt, sizeof(*all), compare_keyed);
	for (size_t i = 0; i < *cnt; i++) {
		if (i && !compare_keyed(&all[i], &all[i - 1])) {
			values[kept - 1].ns += all[i].value.ns;
			values[kept - 1].cnt += all[i].value.cnt;
			continue;
		}
		keys[kept] = all[i].key;
		values[kept++] = all[i].value;
	}
	*cnt = kept;
	free(all);
}

int harvest_finish(struct harvest *h, struct kernel *k, struct cp_sum_key **keys,
		   struct cp_sum **values, size_t *cnt, struct err *err)
{
	int rc = kernel__sums(k, keys, values, cnt, err);
	size_t all = *cnt + h->cnt;

	if (rc || !h->cnt)
		return rc;
	*keys = xreallocarray(*keys, all, sizeof(**keys));
	*values = xreallocarray(*values, all, sizeof(**values));
	memcpy(*keys + *cnt, h->keys, h->cnt * sizeof(**keys));
	memcpy(*values + *cnt, h->values, h->cnt * sizeof(**values));
	*cnt = all;
	join(*keys, *values, cnt);
	return 0;
}

void harvest_free(struct harvest *h)
{
	free(h->keys);
	free(h->values);
	free(h->stack_gone);
	*h = (struct harvest){ 0 };
}
