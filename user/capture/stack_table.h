/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All distinct stacks of a capture, as addresses. Threads are preempted and sampled at any instruction, so that a long
 * capture meets new stacks for hours, most of which differ from known ones in their last frame only. So a stack is a
 * chain of cells from the leaf to the root, (frame, cell of the caller), and equal cells exist once (hash consing:
 * Ershov, On Programming of Arithmetic Operations, 1958): a new stack costs the frames that it does not share with
 * others, 12 bytes each and about 7 of the table that finds them. */
#ifndef CP_USER_CAPTURE_STACK_TABLE_H
#define CP_USER_CAPTURE_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/events.h"

struct stack_cell;

/* Zero-initialised is empty. */
struct stack_table {
	struct stack_cell *cells; /* 0 ends all chains */
	size_t cnt, cap;
	uint32_t *slots; /* cells by content, open addressing; 0 = free */
	size_t slot_cnt; /* a power of two, or 0 */
};

enum {
	STACK_TABLE_CELLS_MAX = 1 << 30,
	STACK_ROOM_WORDS = 2 * UINT8_MAX + UINT8_MAX * sizeof(struct cp_python_frame) / 8,
};

/* Room for any stack. */
union stack_room {
	struct cp_event_stack stack;
	__u64 words[sizeof(struct cp_event_stack) / 8 + STACK_ROOM_WORDS];
};

/* The number of a stack, equal for all that differ in nothing but their id; 0 if the table is full. *is_new: nobody
 * added it before. O(frames). */
uint32_t stack_table_add(struct stack_table *t, const struct cp_event_stack *e, bool *is_new);
/* What was added, with its number as its id. number must come from stack_table_add. O(frames). */
const struct cp_event_stack *stack_table_get(const struct stack_table *t, uint32_t number,
					     union stack_room *room);
/* Only how it ended: its stop. O(1). */
uint8_t stack_table_stop(const struct stack_table *t, uint32_t number);
/* Bit i of a mask over user frames. */
static inline bool stack_bit(const __u64 mask[2], size_t i)
{
	return i < 128 && mask[i >> 6] >> (i & 63) & 1;
}
void stack_table_free(struct stack_table *t);

#endif
