/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over rows as an unwinder; see unwind.h. */
#include "symbolize/unwind.h"

static int rows_open(const struct walk_space *space, void **state, struct err *err)
{
	(void)err;
	*state = (void *)space;
	return 0;
}

static void rows_walk(void *state, const struct walk_regs *regs, struct walk_stack *ret)
{
	walk_rows(state, regs, ret);
}

static void rows_close(void *state)
{
	(void)state;
}

const struct unwinder unwinder_rows = {
	.name = "rows",
	.open = rows_open,
	.walk = rows_walk,
	.close = rows_close,
};
