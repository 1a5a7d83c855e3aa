/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of an array; see slots.h. */
#include "user/base/slots.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

static const uint32_t NONE = UINT32_MAX;

/* The least order of a block that holds cnt slots; cnt > 0. */
static uint32_t order_of(uint32_t cnt)
{
	return cnt == 1 ? 0 : 32 - (uint32_t)__builtin_clz(cnt - 1);
}

static void link_block(struct slots *s, uint32_t first, uint32_t order)
{
	uint32_t head = s->heads[order];

	s->next[first] = head;
	s->prev[first] = NONE;
	if (head != NONE)
		s->prev[head] = first;
	s->heads[order] = first;
	s->order_plus_1[first] = (uint8_t)(order + 1);
}

static void unlink_block(struct slots *s, uint32_t first)
{
	uint32_t order = s->order_plus_1[first] - 1U;

	if (s->prev[first] == NONE)
		s->heads[order] = s->next[first];
	else
		s->next[s->prev[first]] = s->next[first];
	if (s->next[first] != NONE)
		s->prev[s->next[first]] = s->prev[first];
	s->order_plus_1[first] = 0;
}

/* Frees a block, and joins it with its buddies as far as they are free. */
static void give_block(struct slots *s, uint32_t first, uint32_t order)
{
	uint32_t max_order = order_of(s->cnt);

	for (; order < max_order; order++) {
		uint32_t buddy = first ^ 1U << order;

		if (s->order_plus_1[buddy] != order + 1)
			break;
		unlink_block(s, buddy);
		first &= ~(1U << order);
	}
	link_block(s, first, order);
}

void slots_init(struct slots *s, uint32_t cnt)
{
	memset(s, 0, sizeof(*s));
	s->cnt = s->free_cnt = cnt;
	s->next = xcalloc(cnt, sizeof(*s->next));
	s->prev = xcalloc(cnt, sizeof(*s->prev));
	s->order_plus_1 = xcalloc(cnt, sizeof(*s->order_plus_1));
	memset(s->heads, 0xff, sizeof(s->heads));
	link_block(s, 0, order_of(cnt));
}

void slots_fini(struct slots *s)
{
	free(s->next);
	free(s->prev);
	free(s->order_plus_1);
	memset(s, 0, sizeof(*s));
}

bool slots_take(struct slots *s, uint32_t cnt, uint32_t *ret_first)
{
	uint32_t order, first;

	*ret_first = 0;
	if (!cnt)
		return true;
	if (cnt > s->free_cnt)
		return false;
	for (order = order_of(cnt); order < 32 && s->heads[order] == NONE;)
		order++;
	if (order == 32)
		return false;
	first = s->heads[order];
	unlink_block(s, first);
	s->free_cnt -= 1U << order;
	slots_give(s, first + cnt, (1U << order) - cnt);
	*ret_first = first;
	return true;
}

void slots_give(struct slots *s, uint32_t first, uint32_t cnt)
{
	s->free_cnt += cnt;
	while (cnt) {
		uint32_t order = order_of(cnt), aligned = (uint32_t)__builtin_ctz(first | 1U << 31);

		if (1U << order > cnt)
			order--;
		if (order > aligned)
			order = aligned;
		give_block(s, first, order);
		first += 1U << order;
		cnt -= 1U << order;
	}
}
