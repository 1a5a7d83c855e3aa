/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path of names; see stack_names.h. */
#include "user/cmd/stack_names.h"

#include <stdlib.h>

#include "user/base/mem.h"
#include "user/model/nametree.h"

void stack_names_reset(struct stack_names *n)
{
	buf_reset(&n->text);
	n->cnt = 0;
}

static void end_name(struct stack_names *n)
{
	n->ends = xgrow(n->ends, &n->cap, n->cnt + 1, sizeof(*n->ends));
	n->ends[n->cnt++] = n->text.len_bytes;
}

void stack_names_put(struct stack_names *n, const char *name)
{
	buf_puts(&n->text, name);
	end_name(n);
}

void stack_names_put_comm(struct stack_names *n, const struct profile *p, uint32_t process)
{
	stack_names_put(n, profile__str(p, p->processes.items[process].comm_sid));
}

void stack_names_put_stack(struct stack_names *n, const struct profile *p, uint32_t stack,
			   bool turned)
{
	size_t cnt = profile__frames(p, stack, &n->stack, &n->stack_cap);

	for (size_t i = 0; i < cnt; i++) {
		frame_label(p, n->stack[turned ? cnt - 1 - i : i], NAMETREE_SUFFIXES, &n->text);
		end_name(n);
	}
}

const struct flame_str *stack_names_frames(struct stack_names *n)
{
	n->frames = xgrow(n->frames, &n->frames_cap, n->cnt + 1, sizeof(*n->frames));
	for (size_t i = 0; i < n->cnt; i++) {
		size_t start = i ? n->ends[i - 1] : 0;

		n->frames[i] = (struct flame_str){ buf_str(&n->text) + start, n->ends[i] - start };
	}
	return n->frames;
}

void stack_names_free(struct stack_names *n)
{
	buf_free(&n->text);
	free(n->ends);
	free(n->frames);
	free(n->stack);
}
