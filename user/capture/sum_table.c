/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/sum_table.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

struct kept_sum {
	uint32_t stack, rest;
	struct cp_sum value;
};

_Static_assert(sizeof(struct kept_sum) == 24, "there are many of them");

static uint32_t rest_of(struct sum_table *t, const struct cp_sum_key *key)
{
	struct cp_sum_key rest = *key;
	struct index_iter it;
	uint64_t hash;

	rest.stack = 0;
	hash = hash_bytes(&rest, sizeof(rest));
	it = index_find(&t->rest_index, hash);
	for (; index_hit(&t->rest_index, &it); index_next(&t->rest_index, &it))
		if (!memcmp(&t->rests[it.elem], &rest, sizeof(rest)))
			return it.elem;
	t->rests = xgrow(t->rests, &t->rest_cap, t->rest_cnt + 1, sizeof(*t->rests));
	t->rests[t->rest_cnt] = rest;
	index_add(&t->rest_index, hash, (uint32_t)t->rest_cnt);
	return (uint32_t)t->rest_cnt++;
}

static size_t home(const struct sum_table *t, uint32_t stack, uint32_t rest)
{
	return hash_u64((uint64_t)stack << 32 | rest) & (t->slot_cnt - 1);
}

static size_t next(const struct sum_table *t, size_t at)
{
	return (at + 1) & (t->slot_cnt - 1);
}

static void grow(struct sum_table *t)
{
	free(t->slots);
	t->slot_cnt = t->slot_cnt ? t->slot_cnt * 2 : 1024;
	t->slots = xcalloc(t->slot_cnt, sizeof(*t->slots));
	for (size_t i = 0; i < t->cnt; i++) {
		size_t at = home(t, t->sums[i].stack, t->sums[i].rest);

		while (t->slots[at])
			at = next(t, at);
		t->slots[at] = (uint32_t)i + 1;
	}
}

static struct cp_sum *sum_of(struct sum_table *t, uint32_t stack, uint32_t rest)
{
	size_t at;

	if (t->cnt + 1 > t->slot_cnt / 4 * 3)
		grow(t);
	for (at = home(t, stack, rest); t->slots[at]; at = next(t, at)) {
		struct kept_sum *s = &t->sums[t->slots[at] - 1];

		if (s->stack == stack && s->rest == rest)
			return &s->value;
	}
	t->sums = xgrow(t->sums, &t->cap, t->cnt + 1, sizeof(*t->sums));
	t->sums[t->cnt] = (struct kept_sum){ stack, rest, { 0 } };
	t->slots[at] = (uint32_t)t->cnt + 1;
	return &t->sums[t->cnt++].value;
}

void sum_table_add(struct sum_table *t, const struct cp_sum_key *key, const struct cp_sum *value)
{
	struct cp_sum *sum = sum_of(t, key->stack, rest_of(t, key));

	sum->ns += value->ns;
	sum->cnt += value->cnt;
}

struct cp_sum sum_table_get(const struct sum_table *t, size_t i, struct cp_sum_key *key)
{
	*key = t->rests[t->sums[i].rest];
	key->stack = t->sums[i].stack;
	return t->sums[i].value;
}

void sum_table_free(struct sum_table *t)
{
	free(t->sums);
	free(t->slots);
	free(t->rests);
	index_free(&t->rest_index);
	*t = (struct sum_table){ 0 };
}
