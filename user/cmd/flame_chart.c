/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flame chart of a profile; see flame_chart.h. Intervals of running time have no stack: samples tell
 * where a thread ran, not when. */
#include "user/cmd/flame_chart.h"

#include <inttypes.h>
#include <stdlib.h>

#include "user/base/mem.h"
#include "user/cmd/stack_names.h"

struct moment {
	uint32_t thread;
	uint32_t interval;
	uint64_t start_ns;
};

static int compare_moments(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void put_thread(struct stack_names *n, const struct profile *p, uint32_t thread)
{
	const struct thread *t = &p->threads.items[thread];
	const char *comm = profile__str(p, t->comm_sid);
	struct buf name = { 0 };

	if (!*comm)
		comm = profile__str(p, p->processes.items[t->process].comm_sid);
	buf_printf(&name, "%s/%" PRIu32, comm, t->tid);
	stack_names_put(n, buf_str(&name));
	buf_free(&name);
}

uint64_t flame_fill__chart(struct flame_fill *f, const struct profile *p)
{
	size_t cnt = p->intervals.cnt;
	struct moment *moments = xcalloc(cnt + 1, sizeof(*moments));
	struct stack_names names = { 0 };

	for (size_t i = 0; i < cnt; i++)
		moments[i] = (struct moment){ p->intervals.items[i].thread, (uint32_t)i,
					      p->intervals.items[i].start_ns };
	qsort(moments, cnt, sizeof(*moments), compare_moments);
	for (size_t i = 0; i < cnt; i++) {
		const struct interval *iv = &p->intervals.items[moments[i].interval];

		stack_names_reset(&names);
		put_thread(&names, p, iv->thread);
		stack_names_put_stack(&names, p, iv->stack, false);
		if (names.cnt == 1)
			stack_names_put(&names, flame_class_label(iv->kind));
		flame_fill__stack(f, &names,
				  &(struct flame_weight){
					  .value = (double)(iv->end_ns - iv->start_ns),
					  .cnt = 1,
					  .cls = iv->kind <= FLAME_IDLE ? iv->kind : FLAME_NONE });
	}
	free(moments);
	stack_names_free(&names);
	return cnt;
}
