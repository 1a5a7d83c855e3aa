/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wake-up graph; see flame_wakers.h. */
#include "user/cmd/flame_wakers.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/model/nametree.h"

struct wait {
	uint32_t thread;
	uint32_t interval;
	uint64_t end_ns;
};

struct chain {
	const struct profile *p;
	struct wait *waits; /* by thread, then by end */
	size_t wait_cnt;
	/* the path in the making: names in text, their ends in ends */
	struct buf text;
	size_t *ends;
	size_t cnt, ends_cap;
	struct flame_str *frames;
	size_t frames_cap;
	uint32_t *stack; /* scratch */
	size_t stack_cap;
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

static void end_frame(struct chain *c)
{
	c->ends = xgrow(c->ends, &c->ends_cap, c->cnt + 1, sizeof(*c->ends));
	c->ends[c->cnt++] = c->text.len_bytes;
}

static void put_comm(struct chain *c, uint32_t thread)
{
	uint32_t process = c->p->threads.items[thread].process;

	buf_puts(&c->text, profile__str(c->p, c->p->processes.items[process].comm_sid));
	end_frame(c);
}

static void put_stack(struct chain *c, uint32_t stack, bool turned)
{
	size_t cnt = profile__frames(c->p, stack, &c->stack, &c->stack_cap);

	for (size_t i = 0; i < cnt; i++) {
		frame_label(c->p, c->stack[turned ? cnt - 1 - i : i], NAMETREE_SUFFIXES, &c->text);
		end_frame(c);
	}
}

static void put_chain(struct chain *c, const struct interval *iv)
{
	put_comm(c, iv->thread);
	put_stack(c, iv->stack, false);
	for (int hop = 0; hop < FLAME_HOPS_MAX && iv && iv->waker; hop++) {
		buf_puts(&c->text, "--");
		end_frame(c);
		put_stack(c, iv->waker_stack, true);
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

	buf_reset(&c->text);
	c->cnt = 0;
	put_chain(c, iv);
	c->frames = xgrow(c->frames, &c->frames_cap, c->cnt, sizeof(*c->frames));
	for (size_t i = 0; i < c->cnt; i++) {
		size_t start = i ? c->ends[i - 1] : 0;

		c->frames[i] = (struct flame_str){ buf_str(&c->text) + start, c->ends[i] - start };
	}
	flame_tree__add(f->tree, c->frames, c->cnt, &w, 1);
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
	f->stack_cnt += cnt;
	free(c.waits);
	free(c.ends);
	free(c.frames);
	free(c.stack);
	buf_free(&c.text);
	return cnt;
}
