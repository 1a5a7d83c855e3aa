/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/base/phases.h"

#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* What went by since the last border belongs to the phase that is open. */
static void settle(struct phases *p)
{
	uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	if (p->cnt) {
		struct phase *last = &p->items[p->cnt - 1];

		last->wall_ns += wall_ns - p->wall_mark_ns;
		last->cpu_ns += cpu_ns - p->cpu_mark_ns;
		last->helper_cpu_ns += p->helpers_ns - p->helpers_mark_ns;
		p->cpu_mark_ns = cpu_ns;
	}
	p->wall_mark_ns = wall_ns;
	p->helpers_mark_ns = p->helpers_ns;
}

void phases_begin(struct phases *p, const char *name)
{
	if (!p)
		return;
	settle(p);
	if (p->cnt < PHASES_MAX)
		p->items[p->cnt++].name = name;
}

void phases_end(struct phases *p)
{
	if (p)
		settle(p);
}

void phases_helpers(struct phases *p, uint64_t cpu_ns)
{
	if (p && cpu_ns > p->helpers_ns)
		p->helpers_ns = cpu_ns;
}

static void put_line(struct buf *out, const struct phase *ph)
{
	buf_printf(out, "%-24s %9.1f ms %9.1f ms CPU", ph->name, (double)ph->wall_ns / 1e6,
		   (double)ph->cpu_ns / 1e6);
	if (ph->helper_cpu_ns)
		buf_printf(out, " %9.1f ms CPU of helpers", (double)ph->helper_cpu_ns / 1e6);
	buf_putc(out, '\n');
}

void phases_put(const struct phases *p, struct buf *out)
{
	struct phase sum = { .name = "all" };

	if (!p)
		return;
	for (size_t i = 0; i < p->cnt; i++) {
		put_line(out, &p->items[i]);
		sum.wall_ns += p->items[i].wall_ns;
		sum.cpu_ns += p->items[i].cpu_ns;
		sum.helper_cpu_ns += p->items[i].helper_cpu_ns;
	}
	put_line(out, &sum);
}
