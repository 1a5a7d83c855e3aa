/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of a fixed array, handed out and taken back: a buddy system (Knuth, The Art of Computer Programming,
 * volume 1, section 2.5) that keeps no more of a block than was asked for. A range may fail to be found
 * though as many slots are free, when none of them lie together. */
#ifndef CP_USER_BASE_SLOTS_H
#define CP_USER_BASE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct slots {
	uint32_t cnt, free_cnt;
	uint32_t *next, *prev; /* of a free block, by its first slot; ~0 = none */
	uint8_t *order_plus_1; /* of the free block that begins here; 0 = none does */
	uint32_t heads[32];    /* first free block of each order */
};

/* cnt must be a power of two, at most 2^31. All slots are free. O(cnt) memory: 9 bytes a slot. */
void slots_init(struct slots *s, uint32_t cnt);
void slots_fini(struct slots *s); /* zero-initialised is fine */
/* False when there is no such room. A range of none begins at 0. O(log cnt). */
bool slots_take(struct slots *s, uint32_t cnt, uint32_t *ret_first);
/* What slots_take gave, whole or in parts. O(log^2 cnt). */
void slots_give(struct slots *s, uint32_t first, uint32_t cnt);

#endif
