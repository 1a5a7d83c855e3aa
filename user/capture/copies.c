/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copied stacks; see copies.h. */
#include "user/capture/copies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/walk.h"
#include "user/base/mem.h"

_Static_assert((int)WALK_FRAME_MAX == (int)CP_FRAMES_MAX, "one limit");
_Static_assert((int)WALK_REG_CNT == (int)CP_REG_CNT, "one order of registers");

/* The space that was walked last, as symbolize/walk.h wants it. */
struct copies {
	uint32_t space; /* 0: none */
	struct walk_mapping *mappings;
	struct row_table *tables; /* one a mapping; rows and blocks lie in the shared arrays */
	size_t cnt, mapping_cap, table_cap;
};

struct copies *copies__new(void)
{
	return xzalloc(sizeof(struct copies));
}

void copies__free(struct copies *c)
{
	if (!c)
		return;
	free(c->mappings);
	free(c->tables);
	free(c);
}

/* False: the space has no rows (any more). */
static bool look_at_space(struct copies *c, const struct spaces *s, uint32_t number)
{
	struct spaces_view view;

	if (!spaces__view(s, number, &view))
		return false;
	if (c->space == number)
		return true;
	c->mappings = xgrow(c->mappings, &c->mapping_cap, view.mapping_cnt, sizeof(*c->mappings));
	c->tables = xgrow(c->tables, &c->table_cap, view.mapping_cnt, sizeof(*c->tables));
	c->cnt = view.mapping_cnt;
	c->space = number;
	for (size_t i = 0; i < c->cnt; i++) {
		const struct cp_mapping *m = &view.mappings[i];

		c->tables[i] = (struct row_table){ .rows = (uint64_t *)view.rows + m->row,
						   .blocks = (uint32_t *)view.blocks + m->block,
						   .row_cnt = m->row_cnt,
						   .block_cnt = m->block_cnt };
		c->mappings[i] =
			(struct walk_mapping){ .start = m->start,
					       .end = m->end,
					       .bias = m->base,
					       .table = m->row_cnt ? &c->tables[i] : NULL };
	}
	return true;
}

static const char *copied_stack(const struct cp_event_copy *e)
{
	return (const char *)(e->words + e->kernel_cnt);
}

static int read_copy(void *ctx, uint64_t addr, uint64_t *word)
{
	const struct cp_event_copy *e = ctx;
	uint64_t off_bytes = addr - e->regs[WALK_RSP];

	if (off_bytes >= e->stack_bytes || e->stack_bytes - off_bytes < sizeof(*word))
		return -1;
	memcpy(word, copied_stack(e) + off_bytes, sizeof(*word));
	return 0;
}

/* What lies beyond a copy that was cut may well be in memory. */
static uint8_t stop_of(const struct walk_stack *s, const struct cp_event_copy *e)
{
	return s->stop == WALK_UNREADABLE && e->cut ? (uint8_t)CP_STOP_COPY_SHORT :
						      (uint8_t)s->stop;
}

static void put_frames(struct cp_event_stack *ret, const struct walk_stack *from)
{
	for (uint32_t i = 0; i < from->frame_cnt; i++) {
		ret->frames[ret->kernel_cnt + i] = from->frames[i].addr;
		if (from->frames[i].flags & WALK_BY_FP)
			ret->fp_mask[i >> 6] |= 1ULL << (i & 63);
		if (from->frames[i].flags & WALK_SIGNAL)
			ret->signal_mask[i >> 6] |= 1ULL << (i & 63);
	}
	ret->user_cnt = (uint8_t)from->frame_cnt;
}

void copies__walk(struct copies *c, const struct spaces *s, uint32_t space,
		  const struct cp_event_copy *e, struct cp_event_stack *ret)
{
	struct walk_space where = { .read = read_copy, .ctx = (void *)e };
	struct walk_regs regs;
	struct walk_stack stack;

	*ret = (struct cp_event_stack){
		.event = CP_EVENT_STACK, .id = e->id, .stop = e->stop, .kernel_cnt = e->kernel_cnt
	};
	memcpy(ret->frames, e->words, e->kernel_cnt * sizeof(e->words[0]));
	if (!look_at_space(c, s, space))
		return;
	where.mappings = c->mappings;
	where.mapping_cnt = c->cnt;
	memcpy(regs.r, e->regs, sizeof(regs.r));
	walk_rows(&where, &regs, &stack);
	put_frames(ret, &stack);
	ret->stop = stop_of(&stack, e);
}
