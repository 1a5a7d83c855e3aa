/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress on a terminal; see progress_line.h. */
#include "user/cmd/progress_line.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define QUIET_NS 2000000000
#define STEP_NS	 200000000

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void tick(void *ctx, const char *what, uint64_t done, uint64_t total)
{
	struct progress_line *l = ctx;
	int64_t now = now_ns();

	if (now - l->start_ns < QUIET_NS || now - l->drawn_ns < STEP_NS)
		return;
	if (total)
		fprintf(stderr, "\r%s: %.0f %%  \033[K", what,
			100.0 * (double)done / (double)total);
	else
		fprintf(stderr, "\r%s ...  \033[K", what);
	l->drawn_ns = now;
	l->drawn = true;
}

void progress_line_init(struct progress_line *l)
{
	*l = (struct progress_line){ .start_ns = now_ns(), .terminal = isatty(STDERR_FILENO) };
	if (l->terminal)
		l->progress = (struct progress){ tick, l };
}

void progress_line_end(struct progress_line *l)
{
	if (l->drawn)
		fputs("\r\033[K", stderr);
	l->drawn = false;
}
