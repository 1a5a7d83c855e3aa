/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums made of intervals, by the kernel's rules: running time waits for the next sample of its thread. */
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/capture/events.h"

struct pending {
	uint32_t tid;
	uint64_t ns;
};

struct interval_sums {
	bool per_thread;
	struct cp_sum_key *keys;
	struct cp_sum *values;
	size_t cnt, key_cap, value_cap;
	struct index index;
	struct pending *pending; /* running time without a sample, by thread */
	size_t pending_cnt, pending_cap;
	struct index pending_index;
};

struct interval_sums *interval_sums__new(bool per_thread)
{
	struct interval_sums *s = xzalloc(sizeof(*s));

	s->per_thread = per_thread;
	return s;
}

void interval_sums__free(struct interval_sums *s)
{
	if (!s)
		return;
	free(s->keys);
	free(s->values);
	free(s->pending);
	index_free(&s->index);
	index_free(&s->pending_index);
	free(s);
}

static struct cp_sum *sum_of(struct interval_sums *s, const struct cp_sum_key *key)
{
	uint64_t hash = hash_bytes(key, sizeof(*key));
	struct index_iter it = index_find(&s->index, hash);

	for (; index_hit(&s->index, &it); index_next(&s->index, &it))
		if (!memcmp(&s->keys[it.elem], key, sizeof(*key)))
			return &s->values[it.elem];
	s->keys = xgrow(s->keys, &s->key_cap, s->cnt + 1, sizeof(*s->keys));
	s->values = xgrow(s->values, &s->value_cap, s->cnt + 1, sizeof(*s->values));
	index_add(&s->index, hash, (uint32_t)s->cnt);
	s->keys[s->cnt] = *key;
	s->values[s->cnt] = (struct cp_sum){ 0 };
	return &s->values[s->cnt++];
}

static uint64_t *pending_of(struct interval_sums *s, uint32_t tid)
{
	uint64_t hash = hash_u64(tid);
	struct index_iter it = index_find(&s->pending_index, hash);

	for (; index_hit(&s->pending_index, &it); index_next(&s->pending_index, &it))
		if (s->pending[it.elem].tid == tid)
			return &s->pending[it.elem].ns;
	s->pending = xgrow(s->pending, &s->pending_cap, s->pending_cnt + 1, sizeof(*s->pending));
	index_add(&s->pending_index, hash, (uint32_t)s->pending_cnt);
	s->pending[s->pending_cnt] = (struct pending){ .tid = tid };
	return &s->pending[s->pending_cnt++].ns;
}

void interval_sums__add(struct interval_sums *s, const struct cp_event_interval *e)
{
	struct cp_sum_key key = {
		.stack = e->stack,
		.process = e->process,
		.tid = s->per_thread ? e->tid : 0,
		.kind = e->kind,
		.flags = e->flags,
	};
	uint64_t ns = e->end_ns - e->start_ns, *pending;
	struct cp_sum *sum;

	if (e->kind == 1 /* running */) {
		pending = pending_of(s, e->tid);
		*pending += ns;
		if (e->sampled == CP_NOT_SAMPLED)
			return;
		ns = *pending;
		*pending = 0;
		key.flags =
			e->flags & CP_SUM_NOT_SAMPLED; /* cuts are of the piece, not of the sum */
	}
	sum = sum_of(s, &key);
	sum->ns += ns;
	sum->cnt += e->sampled != CP_FLUSHED;
}

void interval_sums__put(struct interval_sums *s, const struct cp_sum_key *key,
			const struct cp_sum *value)
{
	struct cp_sum *sum = sum_of(s, key);

	sum->ns += value->ns;
	sum->cnt += value->cnt;
}

size_t interval_sums__get(const struct interval_sums *s, const struct cp_sum_key **keys,
			  const struct cp_sum **values)
{
	*keys = s->keys;
	*values = s->values;
	return s->cnt;
}
