/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that share their callers; see stack_table.h. A stack is three chains, of kernel, user and Python frames; what
 * is left of it is a chain as well, whose cells nearly all stacks have in common:
 *
 *	stack -> (user chain) -> (kernel chain, Python chain) -> (ends) -> masks
 */
#include "user/capture/stack_table.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

/* Three halves, so that none are lost to alignment. */
struct stack_cell {
	uint32_t parent, word_low, word_high;
};

_Static_assert(sizeof(struct stack_cell) == 12, "there are many of them");

/* The words of a stack that are no frames, leaf first. */
enum head_word {
	HEAD_USER,
	HEAD_KERNEL_PYTHON,
	HEAD_ENDS,
	HEAD_MASKS, /* 4 of them */
	HEAD_WORDS = HEAD_MASKS + 4,
};

static uint64_t word_of(const struct stack_cell *c)
{
	return (uint64_t)c->word_high << 32 | c->word_low;
}

static void place(struct stack_table *t, uint32_t cell)
{
	const struct stack_cell *c = &t->cells[cell];
	size_t at = hash_pair(c->parent, word_of(c)) & (t->slot_cnt - 1);

	while (t->slots[at])
		at = (at + 1) & (t->slot_cnt - 1);
	t->slots[at] = cell;
}

static void grow(struct stack_table *t)
{
	free(t->slots);
	t->slot_cnt = t->slot_cnt ? t->slot_cnt * 2 : 1024;
	t->slots = xcalloc(t->slot_cnt, sizeof(*t->slots));
	for (size_t i = 1; i < t->cnt; i++)
		place(t, (uint32_t)i);
}

static uint32_t cell_of(struct stack_table *t, uint32_t parent, uint64_t word)
{
	const struct stack_cell want = { parent, (uint32_t)word, (uint32_t)(word >> 32) };
	size_t at = hash_pair(parent, word) & (t->slot_cnt - 1);

	for (; t->slots[at]; at = (at + 1) & (t->slot_cnt - 1))
		if (!memcmp(&t->cells[t->slots[at]], &want, sizeof(want)))
			return t->slots[at];
	t->cells = xgrow(t->cells, &t->cap, t->cnt + 1, sizeof(*t->cells));
	t->cells[t->cnt++] = want;
	if (t->cnt > t->slot_cnt / 4 * 3)
		grow(t); /* places the new one, too */
	else
		t->slots[at] = (uint32_t)(t->cnt - 1);
	return (uint32_t)(t->cnt - 1);
}

static uint32_t chain_of(struct stack_table *t, const __u64 *words, size_t cnt)
{
	uint32_t cell = 0;

	while (cnt)
		cell = cell_of(t, cell, words[--cnt]);
	return cell;
}

static size_t unchain(const struct stack_table *t, uint32_t cell, __u64 *words)
{
	size_t cnt = 0;

	for (; cell; cell = t->cells[cell].parent)
		words[cnt++] = word_of(&t->cells[cell]);
	return cnt;
}

enum {
	PYTHON_WORDS = sizeof(struct cp_python_frame) / sizeof(__u64)
};

uint32_t stack_table_add(struct stack_table *t, const struct cp_event_stack *e, bool *is_new)
{
	const __u64 *user = e->frames + e->kernel_cnt, *python = user + e->user_cnt;
	__u64 head[HEAD_WORDS];
	uint32_t number;
	size_t cnt;

	*is_new = false;
	if (t->cnt > STACK_TABLE_CELLS_MAX - STACK_ROOM_WORDS - HEAD_WORDS)
		return 0;
	if (!t->cnt) {
		t->cells = xgrow(t->cells, &t->cap, 1, sizeof(*t->cells));
		t->cells[t->cnt++] = (struct stack_cell){ 0 };
		grow(t);
	}
	head[HEAD_USER] = chain_of(t, user, e->user_cnt);
	head[HEAD_KERNEL_PYTHON] = (uint64_t)chain_of(t, e->frames, e->kernel_cnt) << 32 |
				   chain_of(t, python, e->python_cnt * PYTHON_WORDS);
	head[HEAD_ENDS] = (uint64_t)e->process << 32 | e->stop | e->python_stop << 8;
	memcpy(&head[HEAD_MASKS], e->fp_mask, sizeof(e->fp_mask));
	memcpy(&head[HEAD_MASKS + 2], e->signal_mask, sizeof(e->signal_mask));
	cnt = t->cnt;
	number = chain_of(t, head, HEAD_WORDS);
	*is_new = t->cnt > cnt;
	return number;
}

const struct cp_event_stack *stack_table_get(const struct stack_table *t, uint32_t number,
					     union stack_room *room)
{
	struct cp_event_stack *e = &room->stack;
	__u64 head[HEAD_WORDS], *to = e->frames;

	unchain(t, number, head);
	*e = (struct cp_event_stack){
		.event = CP_EVENT_STACK,
		.id = number,
		.process = (uint32_t)(head[HEAD_ENDS] >> 32),
		.stop = (uint8_t)head[HEAD_ENDS],
		.python_stop = (uint8_t)(head[HEAD_ENDS] >> 8),
	};
	memcpy(e->fp_mask, &head[HEAD_MASKS], sizeof(e->fp_mask));
	memcpy(e->signal_mask, &head[HEAD_MASKS + 2], sizeof(e->signal_mask));
	e->kernel_cnt = (uint8_t)unchain(t, (uint32_t)(head[HEAD_KERNEL_PYTHON] >> 32), to);
	to += e->kernel_cnt;
	e->user_cnt = (uint8_t)unchain(t, (uint32_t)head[HEAD_USER], to);
	to += e->user_cnt;
	e->python_cnt =
		(uint8_t)(unchain(t, (uint32_t)head[HEAD_KERNEL_PYTHON], to) / PYTHON_WORDS);
	return e;
}

uint8_t stack_table_stop(const struct stack_table *t, uint32_t number)
{
	__u64 head[HEAD_WORDS];

	unchain(t, number, head);
	return (uint8_t)head[HEAD_ENDS];
}

void stack_table_free(struct stack_table *t)
{
	free(t->cells);
	free(t->slots);
	*t = (struct stack_table){ 0 };
}
