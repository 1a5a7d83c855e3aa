/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path of names in the making: a picture's stack put together from parts of a profile. */
#ifndef CP_USER_CMD_STACK_NAMES_H
#define CP_USER_CMD_STACK_NAMES_H

#include <stdbool.h>

#include "flamegraph/folded.h"
#include "user/base/buf.h"
#include "user/model/profile.h"

/* Zero-initialised is empty. */
struct stack_names {
	struct buf text; /* all names, one behind the other */
	size_t *ends;
	size_t cnt, cap;
	struct flame_str *frames;
	size_t frames_cap;
	uint32_t *stack; /* scratch */
	size_t stack_cap;
};

void stack_names_reset(struct stack_names *n);
void stack_names_put(struct stack_names *n, const char *name);
void stack_names_put_comm(struct stack_names *n, const struct profile *p, uint32_t process);
/* Frames from the root on, or turned from the leaf on. */
void stack_names_put_stack(struct stack_names *n, const struct profile *p, uint32_t stack,
			   bool turned);
/* n->cnt frames, borrowed until the next call. */
const struct flame_str *stack_names_frames(struct stack_names *n);
void stack_names_free(struct stack_names *n);

#endif
