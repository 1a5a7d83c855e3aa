/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one-line facts of a profile; see totals.h. */
#include "user/analysis/totals.h"

#include <math.h>
#include <stdlib.h>

#include "user/base/mem.h"

static void add(uint64_t *sum, uint64_t v)
{
	*sum = *sum > UINT64_MAX - v ? UINT64_MAX : *sum + v;
}

static void add_class(struct totals *t, const struct sum *s)
{
	if (s->flags & PART_ASLEEP_THROUGHOUT) {
		add(&t->asleep_ns, s->ns);
		add(&t->asleep_cnt, s->cnt);
		return;
	}
	if (s->kind < KIND_MAX) {
		add(&t->kind_ns[s->kind], s->ns);
		add(&t->kind_cnt[s->kind], s->cnt);
	}
	if (s->kind == KIND_RUNNING)
		add(&t->running_ns, s->ns);
	else if (model_kind_is_runnable(s->kind))
		add(&t->runnable_ns, s->ns);
	else if (model_kind_is_blocked(s->kind))
		add(&t->blocked_ns, s->ns);
	else
		add(&t->other_ns, s->ns);
}

static void add_sum(struct totals *t, const struct sum *s)
{
	add(&t->all_ns, s->ns);
	add_class(t, s);
	if (s->kind == KIND_RUNNING && !(s->flags & PART_NOT_SAMPLED))
		add(&t->sample_cnt, s->cnt);
	if (s->flags & PART_FILTERED)
		add(&t->filtered_ns, s->ns);
	if (s->flags & PART_NOT_SAMPLED)
		add(&t->not_sampled_ns, s->ns);
	if (s->flags & (PART_CUT_START | PART_CUT_END))
		add(&t->cut_ns, s->ns);
}

static void add_thread(struct totals *t, const struct thread *th)
{
	uint64_t wall = th->last_ns - th->first_ns, booked = 0, residue;

	if (th->flags & THREAD_IDLE)
		return;
	t->thread_cnt++;
	t->born_cnt += !!(th->flags & THREAD_BORN);
	t->died_cnt += !!(th->flags & THREAD_DIED);
	t->kernel_thread_cnt += !!(th->flags & THREAD_KERNEL);
	t->asleep_cnt += !!(th->flags & THREAD_ASLEEP_THROUGHOUT);
	add(&booked, th->running_ns);
	add(&booked, th->runnable_ns);
	add(&booked, th->blocked_ns);
	residue = booked > wall ? booked - wall : wall - booked;
	add(&t->wall_ns, wall);
	add(&t->residue_ns, residue);
	t->residue_cnt += residue > 0;
	add(&t->voluntary_cnt, th->voluntary_cnt);
	add(&t->involuntary_cnt, th->involuntary_cnt);
	if (th->flags & THREAD_NO_WITNESS)
		return;
	t->witness_cnt++;
	add(&t->witness_running_ns, th->kernel_running_ns);
	add(&t->witness_runnable_ns, th->kernel_runnable_ns);
	add(&t->witnessed_running_ns, th->running_ns);
	add(&t->witnessed_runnable_ns, th->runnable_ns);
}

void totals_init(struct totals *t, const struct profile *p)
{
	*t = (struct totals){ .window_ns = p->header.window_end_ns - p->header.window_start_ns };
	for (size_t i = 0; i < p->sums.cnt; i++)
		add_sum(t, &p->sums.items[i]);
	if (p->threads.cnt > 1) /* else it is known from the sums alone */
		t->asleep_cnt = 0;
	for (size_t i = 1; i < p->threads.cnt; i++)
		add_thread(t, &p->threads.items[i]);
	for (size_t i = 0; i < LOSS_SLOTS_CNT; i++) {
		add(&t->lost_cnt, p->losses[i].events);
		if (p->losses[i].ns == UINT64_MAX)
			t->lost_unknown = true;
		else
			add(&t->lost_ns, p->losses[i].ns);
	}
}

uint64_t totals_uncertainty_ns(uint64_t ns, uint64_t cnt, uint64_t sample_cnt)
{
	double share;

	if (!cnt || cnt > sample_cnt)
		return ns;
	share = (double)cnt / (double)sample_cnt;
	return (uint64_t)((double)ns * 1.96 * sqrt((1 - share) / (double)cnt) + 0.5);
}

struct weighted {
	uint64_t ns;
	uint32_t pid, process;
};

static int compare_pids(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

uint32_t totals_main_process(const struct profile *p, size_t *pid_cnt)
{
	const size_t cnt = p->processes.cnt;
	struct weighted *w = xcalloc(cnt, sizeof(*w));
	uint64_t best_ns = 0;
	uint32_t best = 0;

	*pid_cnt = 0;
	for (uint32_t i = 1; i < cnt; i++) {
		w[i].process = i;
		w[i].pid = p->processes.items[i].pid;
	}
	for (size_t i = 0; i < p->sums.cnt; i++)
		add(&w[p->sums.items[i].process].ns, p->sums.items[i].ns);
	if (cnt > 2)
		qsort(w + 1, cnt - 1, sizeof(*w), compare_pids);
	for (size_t i = 1, next; i < cnt; i = next) {
		uint64_t ns = 0;

		for (next = i; next < cnt && w[next].pid == w[i].pid; next++)
			add(&ns, w[next].ns);
		*pid_cnt += ns > 0;
		if (ns > best_ns || !best) {
			best_ns = ns;
			best = w[i].process;
		}
	}
	free(w);
	return best;
}
