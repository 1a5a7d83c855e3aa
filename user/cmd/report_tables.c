/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of threads; see report.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/columns_text.h"
#include "user/cmd/report.h"

enum {
	TIME_COLS = 9,
};

struct thread_rank {
	const struct thread *t;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = ((const struct thread_rank *)a)->t;
	const struct thread *y = ((const struct thread_rank *)b)->t;

	if (x->running_ns != y->running_ns)
		return x->running_ns > y->running_ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x > y) - (x < y);
}

static void put_flags(const struct thread *t, struct buf *out)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{ THREAD_KERNEL, "kernel" },
		{ THREAD_BORN, "born" },
		{ THREAD_DIED, "died" },
		{ THREAD_ASLEEP_THROUGHOUT, "never ran" },
		{ THREAD_NO_WITNESS, "no kernel account" },
		{ THREAD_IDLE, "idle task" },
	};
	const char *separator = "  ";

	if (t->ns_tid && t->ns_tid != t->tid) {
		buf_printf(out, "%s%" PRIu32 " inside", separator, t->ns_tid);
		separator = ", ";
	}
	for (size_t i = 0; i < ARRAY_CNT(flags); i++) {
		if (!(t->flags & flags[i].flag))
			continue;
		buf_printf(out, "%s%s", separator, flags[i].text);
		separator = ", ";
	}
}

static void put_witness(const struct thread *t, uint64_t ns, struct buf *out)
{
	if (t->flags & THREAD_NO_WITNESS)
		put_right(out, "-", TIME_COLS);
	else
		put_duration_right(out, ns, TIME_COLS);
}

static void put_thread(const struct profile *p, const struct thread *t, struct buf *out)
{
	const uint64_t life_ns = t->last_ns - t->first_ns;
	const uint64_t booked_ns = t->running_ns + t->runnable_ns + t->blocked_ns;

	buf_printf(out, "%8" PRIu32 " ", t->tid);
	put_left(out, profile__str(p, t->comm_sid), 15);
	put_duration_right(out, life_ns, TIME_COLS);
	put_duration_right(out, t->running_ns, TIME_COLS);
	put_witness(t, t->kernel_running_ns, out);
	put_duration_right(out, t->runnable_ns, TIME_COLS);
	put_witness(t, t->kernel_runnable_ns, out);
	put_duration_right(out, t->blocked_ns, TIME_COLS);
	put_duration_right(out, booked_ns > life_ns ? booked_ns - life_ns : life_ns - booked_ns,
			   TIME_COLS);
	buf_printf(out, "%9" PRIu64 "%8" PRIu64 "%8" PRIu64, t->voluntary_cnt, t->involuntary_cnt,
		   t->sample_cnt);
	put_flags(t, out);
	buf_putc(out, '\n');
}

void report__put_threads(const struct profile *p, const struct report_opts *o, struct buf *out)
{
	const size_t cnt = p->threads.cnt - 1;
	struct thread_rank *ranks = xcalloc(cnt + 1, sizeof(*ranks));

	(void)o;
	for (size_t i = 0; i < cnt; i++)
		ranks[i].t = &p->threads.items[i + 1];
	if (cnt)
		qsort(ranks, cnt, sizeof(*ranks), compare_threads);
	buf_printf(out, "%8s %-15s%9s%9s%9s%9s%9s%9s%9s%9s%8s%8s\n", "tid", "name", "lifetime",
		   "running", "kernel's", "runnable", "kernel's", "blocked", "residue", "waits",
		   "preempt", "samples");
	for (size_t i = 0; i < cnt; i++)
		put_thread(p, ranks[i].t, out);
	free(ranks);
}
