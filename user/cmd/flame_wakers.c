/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wake-up graph; see flame_wakers.h. */
#include "user/cmd/flame_wakers.h"

#include <stdlib.h>

#include "user/base/mem.h"
#include "user/cmd/stack_names.h"

struct wait {
	uint32_t thread;
	uint32_t interval;
	uint64_t end_ns;
};

struct chain {
	const struct profile *p;
	struct wait *waits; /* by thread, then by end */
	size_t wait_cnt;
	struct stack_names names; /* the path in the making */
};

static int compare_waits(const void *pa, const void *pb)
{
	const struct wait *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static bool is_wait(const struct interval *iv)
{
	return model_kind_is_blocked(iv->kind) && iv->end_ns > iv->start_ns;
}

static void collect_waits(struct chain *c)
{
	size_t cap = 0;

	for (size_t i = 0; i < c->p->intervals.cnt; i++) {
		const struct interval *iv = &c->p->intervals.items[i];

		if (!is_wait(iv))
			continue;
		c->waits = xgrow(c->waits, &cap, c->wait_cnt + 1, sizeof(*c->waits));
		c->waits[c->wait_cnt++] = (struct wait){ iv->thread, (uint32_t)i, iv->end_ns };
	}
	if (c->wait_cnt)
		qsort(c->waits, c->wait_cnt, sizeof(*c->waits), compare_waits);
}

/* The last wait of the thread that ended inside of (from, to], or NULL. */
static const struct interval *last_wait(const struct chain *c, uint32_t thread, uint64_t from_ns,
					uint64_t to_ns)
{
	size_t lo = 0, hi = c->wait_cnt;

	while (lo < hi) { /* the first behind (thread, to) */
		size_t mid = lo + (hi - lo) / 2;
		const struct wait *w = &c->waits[mid];

		if (w->thread < thread || (w->thread == thread && w->end_ns <= to_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || c->waits[lo - 1].thread != thread || c->waits[lo - 1].end_ns <= from_ns)
		return NULL;
	return &c->p->intervals.items[c->waits[lo - 1].interval];
}

static void put_comm(struct chain *c, uint32_t thread)
{
	stack_names_put_comm(&c->names, c->p, c->p->threads.items[thread].process);
}

static void put_chain(struct chain *c, const struct interval *iv)
{
	put_comm(c, iv->thread);
	stack_names_put_stack(&c->names, c->p, iv->stack, false);
	for (int hop = 0; hop < FLAME_HOPS_MAX && iv && iv->waker; hop++) {
		stack_names_put(&c->names, "--");
		stack_names_put_stack(&c->names, c->p, iv->waker_stack, true);
		put_comm(c, iv->waker);
		iv = last_wait(c, iv->waker, iv->start_ns, iv->end_ns);
	}
}

static void add_chain(struct flame_fill *f, struct chain *c, const struct interval *iv)
{
	const struct flame_weight w = {
		.value = (double)(iv->end_ns - iv->start_ns),
		.cnt = 1,
		.cls = iv->kind <= FLAME_IDLE ? iv->kind : FLAME_NONE,
	};

	stack_names_reset(&c->names);
	put_chain(c, iv);
	flame_fill__stack(f, &c->names, &w);
}

uint64_t flame_fill__wakers(struct flame_fill *f, const struct profile *p)
{
	struct chain c = { .p = p };
	uint64_t cnt = 0;

	collect_waits(&c);
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		if (!is_wait(&p->intervals.items[i]))
			continue;
		add_chain(f, &c, &p->intervals.items[i]);
		cnt++;
	}
	free(c.waits);
	stack_names_free(&c.names);
	return cnt;
}
