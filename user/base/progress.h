/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far long work has come, told to whoever wants to know; user/cmd draws it on a terminal. */
#ifndef CP_USER_BASE_PROGRESS_H
#define CP_USER_BASE_PROGRESS_H

#include <stdint.h>

struct progress {
	/* Called now and then. done and total share a unit; total is 0 when it cannot be known. */
	void (*tick)(void *ctx, const char *what, uint64_t done, uint64_t total);
	void *ctx;
};

/* p may be NULL. */
static inline void progress_tick(const struct progress *p, const char *what, uint64_t done,
				 uint64_t total)
{
	if (p && p->tick)
		p->tick(p->ctx, what, done, total);
}

#endif
