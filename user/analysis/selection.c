/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a profile; see selection.h. */
#include "user/analysis/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/model/container.h"

struct selecting {
	struct profile *p;
	const struct selection *s;
	struct selection_report *report;
	bool *keeps; /* by process */
	bool cuts_time;
	uint64_t start_ns, end_ns; /* of what is kept, on the profile's clock */
	struct sum *old;	   /* the sums of the whole */
	size_t old_cnt;
};

bool selection_is_all(const struct selection *s)
{
	return !s->comm && !s->cgroup && !s->pid && !s->has_since && !s->has_until;
}

static bool cgroup_matches(const char *pattern, const char *path)
{
	struct buf name = { 0 };
	bool match;

	container_name(path, &name);
	match = !fnmatch(pattern, path, 0) || !fnmatch(pattern, buf_str(&name), 0);
	buf_free(&name);
	return match;
}

static void choose_processes(struct selecting *c)
{
	const struct selection *s = c->s;

	for (size_t i = 0; i < c->p->processes.cnt; i++) {
		const struct process *pr = &c->p->processes.items[i];

		c->keeps[i] =
			(!s->pid || pr->pid == s->pid || pr->ns_pid == s->pid) &&
			(!s->comm || !fnmatch(s->comm, profile__str(c->p, pr->comm_sid), 0)) &&
			(!s->cgroup ||
			 cgroup_matches(s->cgroup, profile__str(c->p, pr->cgroup_sid)));
	}
}

/* Where the time begins and ends; slices are taken whole. */
static int choose_time(struct selecting *c, struct err *err)
{
	const struct header *h = &c->p->header;
	uint64_t window_ns = h->window_end_ns - h->window_start_ns, slice_ns = h->slice_ns;
	uint64_t since_ns = c->s->has_since ? c->s->since_ns : 0;
	uint64_t until_ns =
		c->s->has_until && c->s->until_ns < window_ns ? c->s->until_ns : window_ns;

	c->cuts_time = c->s->has_since || c->s->has_until;
	if (c->cuts_time && !c->p->intervals.cnt && !slice_ns)
		return err_set(err, -EINVAL,
			       "the profile does not tell when: record it with --slice TIME or "
			       "--intervals");
	if (c->cuts_time && since_ns >= until_ns) {
		struct buf text = { 0 };

		buf_put_duration(&text, window_ns);
		err_set(err, -EINVAL, "nothing lies between --since and --until in a window of %s",
			buf_str(&text));
		buf_free(&text);
		return -EINVAL;
	}
	if (c->cuts_time && !c->p->intervals.cnt) {
		uint64_t end_ns = (until_ns + slice_ns - 1) / slice_ns * slice_ns;

		c->report->widened =
			since_ns % slice_ns || (until_ns % slice_ns && until_ns != window_ns);
		since_ns -= since_ns % slice_ns;
		until_ns = end_ns < window_ns ? end_ns : window_ns;
	}
	c->report->since_ns = since_ns;
	c->report->until_ns = until_ns;
	c->start_ns = h->window_start_ns + since_ns;
	c->end_ns = h->window_start_ns + until_ns;
	return 0;
}

static void add(struct selecting *c, const struct sum *s)
{
	c->report->kept += s->ns;
	profile__add_sum(c->p, s);
}

/* Intervals -------------------------------------------------------------------------------------------- */

/* Running time of a thread that waits for its next sample, as at the capture. */
struct runner {
	uint32_t thread, stack; /* of its last sample; 0 = none */
	uint64_t ns;
};

static struct sum sum_of(const struct selecting *c, const struct interval *iv)
{
	return (struct sum){ .stack = iv->stack,
			     .process = c->p->threads.items[iv->thread].process,
			     .kind = iv->kind,
			     .flags = iv->flags };
}

static void flush(struct selecting *c, const struct runner *r)
{
	const struct sum rest = { .stack = r->stack,
				  .process = c->p->threads.items[r->thread].process,
				  .kind = KIND_RUNNING,
				  .flags = r->stack ? 0 : PART_NOT_SAMPLED,
				  .ns = r->ns };

	if (r->ns)
		add(c, &rest);
}

static void add_interval(struct selecting *c, struct runner *r, const struct interval *iv,
			 uint64_t ns)
{
	struct sum s = sum_of(c, iv);

	if (r->thread != iv->thread) {
		flush(c, r);
		*r = (struct runner){ .thread = iv->thread };
	}
	s.ns = ns;
	s.cnt = 1;
	if (iv->kind == KIND_RUNNING) {
		r->ns += ns;
		if (!iv->stack)
			return;
		r->stack = iv->stack;
		s.ns = r->ns;
		s.cnt = iv->end_ns > c->start_ns && iv->end_ns <= c->end_ns;
		s.flags = 0;
		r->ns = 0;
	}
	if (s.ns)
		add(c, &s);
}

static void book(struct thread *t, int kind, uint64_t ns)
{
	if (kind == KIND_RUNNING)
		t->running_ns += ns;
	else if (model_kind_is_runnable(kind))
		t->runnable_ns += ns;
	else
		t->blocked_ns += ns;
}

struct order {
	const struct interval *iv;
};

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *x = ((const struct order *)a)->iv,
			      *y = ((const struct order *)b)->iv;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Sums and books anew, of what of the intervals lies inside. */
static void sum_intervals(struct selecting *c)
{
	size_t cnt = c->p->intervals.cnt;
	struct order *order = xcalloc(cnt, sizeof(*order));
	struct runner r = { 0 };

	for (size_t i = 0; i < cnt; i++)
		order[i].iv = &c->p->intervals.items[i];
	qsort(order, cnt, sizeof(*order), compare_intervals);
	for (size_t i = 0; i < cnt; i++) {
		const struct interval *iv = order[i].iv;
		uint64_t from = iv->start_ns > c->start_ns ? iv->start_ns : c->start_ns;
		uint64_t to = iv->end_ns < c->end_ns ? iv->end_ns : c->end_ns;
		uint64_t ns = to > from ? to - from : 0;

		if (!c->keeps[c->p->threads.items[iv->thread].process])
			continue;
		book(&c->p->threads.items[iv->thread], iv->kind, ns);
		add_interval(c, &r, iv, ns);
	}
	flush(c, &r);
	free(order);
}

/* Cuts the intervals themselves; those of processes that are left out go. */
static void cut_intervals(struct selecting *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->p->intervals.cnt; i++) {
		struct interval iv = c->p->intervals.items[i];

		if (!c->keeps[c->p->threads.items[iv.thread].process] ||
		    (c->cuts_time && (iv.end_ns <= c->start_ns || iv.start_ns >= c->end_ns)))
			continue;
		if (c->cuts_time && iv.start_ns < c->start_ns)
			iv.start_ns = c->start_ns;
		if (c->cuts_time && iv.end_ns > c->end_ns)
			iv.end_ns = c->end_ns;
		c->p->intervals.items[kept++] = iv;
	}
	c->p->intervals.cnt = kept;
}

/* Sums ------------------------------------------------------------------------------------------------- */

/* The sums that are kept as they are. Threads that never ran are counted in their first slice: the count goes with
 * whatever is left of their time. */
static void filter_sums(struct selecting *c)
{
	uint64_t slice_ns = c->p->header.slice_ns;
	uint64_t first = slice_ns ? c->report->since_ns / slice_ns : 0;
	uint64_t end = slice_ns ? (c->report->until_ns + slice_ns - 1) / slice_ns : 0;

	for (size_t i = 0; i < c->old_cnt; i++) {
		struct sum s = c->old[i];
		bool inside = s.slice > first && s.slice <= end;

		if (!c->keeps[s.process])
			continue;
		if (c->cuts_time && !inside) {
			if (!(s.flags & PART_ASLEEP_THROUGHOUT) || !s.cnt)
				continue;
			s.ns = 0;
			s.slice = (uint32_t)first + 1;
		}
		if (c->cuts_time) {
			s.slice -= (uint32_t)first;
			book(&c->p->threads.items[s.thread], s.kind, s.ns);
		}
		add(c, &s);
	}
}

/* Threads ---------------------------------------------------------------------------------------------- */

static bool books_are_known(const struct selecting *c)
{
	if (c->p->intervals.cnt)
		return true;
	for (size_t i = 0; i < c->old_cnt; i++)
		if (!c->old[i].thread)
			return false;
	return true;
}

/* What a thread had in the whole window is not what it had in a part of it. */
static void clear_books(struct selecting *c)
{
	for (size_t i = 1; i < c->p->threads.cnt; i++) {
		struct thread *t = &c->p->threads.items[i];

		t->running_ns = t->runnable_ns = t->blocked_ns = 0;
		t->kernel_running_ns = t->kernel_runnable_ns = 0;
		t->voluntary_cnt = t->involuntary_cnt = t->sample_cnt = 0;
		t->flags |= THREAD_NO_WITNESS;
		if (t->first_ns < c->start_ns) {
			t->first_ns = c->start_ns;
			t->flags &= ~(uint32_t)THREAD_BORN;
		}
		if (t->last_ns > c->end_ns) {
			t->last_ns = c->end_ns;
			t->flags &= ~(uint32_t)THREAD_DIED;
		}
		if (t->last_ns < t->first_ns)
			t->last_ns = t->first_ns;
	}
}

static struct sum *take_sums(struct profile *p, size_t *cnt)
{
	struct sum *sums = p->sums.items;

	*cnt = p->sums.cnt;
	p->sums.items = NULL;
	p->sums.cnt = p->sums.cap = 0;
	index_free(&p->sum_index);
	return sums;
}

/* The thread is a part of a sum's key: they are added anew. */
static void renumber_sums(struct profile *p, const uint32_t *number)
{
	size_t cnt;
	struct sum *old = take_sums(p, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		old[i].thread = number[old[i].thread];
		profile__add_sum(p, &old[i]);
	}
	free(old);
}

/* Threads that are left out go, but those that something still refers to. */
static void drop_threads(struct selecting *c, bool books_known)
{
	struct profile *p = c->p;
	uint32_t *number = xcalloc(p->threads.cnt, sizeof(*number));
	bool *used = xcalloc(p->threads.cnt, sizeof(*used));
	size_t kept = 1;

	for (size_t i = 0; i < p->intervals.cnt; i++)
		used[p->intervals.items[i].waker] = true;
	for (size_t i = 0; i < p->requests.cnt; i++)
		used[p->requests.items[i].thread] = true;
	for (size_t i = 0; i < p->messages.cnt; i++)
		used[p->messages.items[i].thread] = true;
	for (size_t i = 0; i < p->sums.cnt; i++)
		used[p->sums.items[i].thread] = true;
	for (size_t i = 1; i < p->threads.cnt; i++) {
		const struct thread *t = &p->threads.items[i];
		bool lives = books_known && c->keeps[t->process] && t->last_ns > t->first_ns;

		if (!used[i] && !lives)
			continue;
		number[i] = (uint32_t)kept;
		p->threads.items[kept++] = *t;
	}
	p->threads.cnt = kept;
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		p->intervals.items[i].thread = number[p->intervals.items[i].thread];
		p->intervals.items[i].waker = number[p->intervals.items[i].waker];
	}
	for (size_t i = 0; i < p->requests.cnt; i++)
		p->requests.items[i].thread = number[p->requests.items[i].thread];
	for (size_t i = 0; i < p->messages.cnt; i++)
		p->messages.items[i].thread = number[p->messages.items[i].thread];
	renumber_sums(p, number);
	free(used);
	free(number);
}

/* What was measured once for all of the capture is not that of a part of it. */
static void fit_header(const struct selecting *c, struct header *h)
{
	h->realtime_ns += h->realtime_ns ? c->start_ns - h->window_start_ns : 0;
	h->window_start_ns = c->start_ns;
	h->window_end_ns = c->end_ns;
	h->switch_cnt = h->target_switch_cnt = 0;
	h->bpf_ns = h->bpf_sampled_cnt = h->user_cpu_ns = h->attach_ns = 0;
}

int selection_apply(struct profile *p, const struct selection *s, struct selection_report *ret,
		    struct err *err)
{
	struct selecting c = { .p = p, .s = s, .report = ret };
	bool known;
	int rc;

	*ret = (struct selection_report){ 0 };
	if (selection_is_all(s))
		return 0;
	rc = choose_time(&c, err);
	if (rc)
		return rc;
	c.keeps = xcalloc(p->processes.cnt, sizeof(*c.keeps));
	choose_processes(&c);
	c.old = take_sums(p, &c.old_cnt);
	known = !c.cuts_time || books_are_known(&c);
	if (c.cuts_time)
		clear_books(&c);
	if (c.cuts_time && p->intervals.cnt)
		sum_intervals(&c);
	else
		filter_sums(&c);
	for (size_t i = 0; i < c.old_cnt; i++)
		ret->dropped += c.old[i].ns;
	ret->dropped -= ret->kept < ret->dropped ? ret->kept : ret->dropped;
	cut_intervals(&c);
	drop_threads(&c, known);
	if (c.cuts_time)
		fit_header(&c, &p->header);
	free(c.old);
	free(c.keeps);
	return 0;
}
