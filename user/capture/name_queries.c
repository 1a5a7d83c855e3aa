/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/name_queries.h"

#include <stdlib.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

/* Each address of a process once for each way of looking it up, though most are in many stacks. */
struct queries {
	struct sym_query *items;
	size_t cnt, cap;
	struct index index;
};

static void add_query(struct queries *q, uint64_t space, uint64_t addr, bool exact)
{
	const struct sym_query want = {
		.proc_key = space,
		.addr = addr,
		.pc = exact ? SYM_PC_EXACT : SYM_PC_RETURN,
	};
	uint64_t hash = hash_pair(space << 1 | exact, addr);
	struct index_iter it = index_find(&q->index, hash);

	for (; index_hit(&q->index, &it); index_next(&q->index, &it)) {
		const struct sym_query *have = &q->items[it.elem];

		if (have->addr == addr && have->proc_key == space && have->pc == want.pc)
			return;
	}
	index_add(&q->index, hash, (uint32_t)q->cnt);
	q->items = xgrow(q->items, &q->cap, q->cnt + 1, sizeof(*q->items));
	q->items[q->cnt++] = want;
}

static void queries_fini(struct queries *q)
{
	free(q->items);
	index_free(&q->index);
}

static void add_user(struct queries *q, const struct cp_event_stack *e, uint64_t space)
{
	for (size_t i = 0; i < e->user_cnt; i++)
		add_query(q, space, e->frames[e->kernel_cnt + i],
			  !i || stack_bit(e->signal_mask, i - 1));
}

/* The first one is asked for in two ways: a stack that is trimmed there takes it for a caller. */
static void add_kernel(struct queries *q, const struct cp_event_stack *e)
{
	for (size_t i = 0; i < e->kernel_cnt; i++)
		add_query(q, 0, e->frames[i], false);
	if (e->kernel_cnt)
		add_query(q, 0, e->frames[0], true);
}

/* Each stack of each process once; a stack may be in many slices. */
static bool first_time(const struct sum_table *sums, struct index *seen, size_t at,
		       const struct cp_sum_key *key)
{
	uint64_t hash = hash_pair(key->stack, key->process);
	struct index_iter it = index_find(seen, hash);

	for (; index_hit(seen, &it); index_next(seen, &it)) {
		struct cp_sum_key k;

		sum_table_get(sums, it.elem, &k);
		if (k.stack == key->stack && k.process == key->process)
			return false;
	}
	index_add(seen, hash, (uint32_t)at);
	return true;
}

void name_queries_ask(const struct result_input *in)
{
	struct queries user = { 0 }, kernel = { 0 };
	struct index seen = { 0 };
	union stack_room room;

	for (size_t i = 0; i < in->sums->cnt; i++) {
		const struct event_process *process;
		const struct cp_event_stack *e;
		struct cp_sum_key k;

		sum_table_get(in->sums, i, &k);
		if (result_without_stack(k.flags) || !first_time(in->sums, &seen, i, &k))
			continue;
		e = events_stack(in->events, k.stack, &room);
		process = events_process(in->events, k.process);
		if (e && process && process->space)
			add_user(&user, e, process->space);
		if (e)
			add_kernel(&kernel, e);
	}
	index_free(&seen);
	symbolizer__prepare(in->symbolizer, user.items, user.cnt, kernel.items, kernel.cnt);
	queries_fini(&user);
	queries_fini(&kernel);
}
