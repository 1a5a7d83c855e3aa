/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums made of intervals, by the kernel's rules: a sample stands for the running time of its thread since the last one, as
 * much as the kernel says. By slices each part of that time waits for its sample, so that it lies in the slice in which
 * it was used; the oldest is taken first. */
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/capture/events.h"

enum {
	SLICES_MAX = 1 << 20 /* what comes later goes to the last one */
};

struct part {
	uint32_t slice; /* 0 = no slices, else 1 + its index */
	uint64_t ns;
};

struct pending {
	uint32_t tid;
	struct part *parts; /* by slice */
	size_t cnt, cap;
	uint32_t last_slice;
	uint64_t owed_ns; /* booked before its pieces came */
};

struct interval_sums {
	bool per_thread;
	uint64_t start_ns, slice_ns; /* slice_ns 0: no slices */
	struct sum_table table;
	struct pending *pending; /* running time without a sample, by thread */
	size_t pending_cnt, pending_cap;
	struct index pending_index;
};

struct interval_sums *interval_sums__new(bool per_thread)
{
	struct interval_sums *s = xzalloc(sizeof(*s));

	s->per_thread = per_thread;
	return s;
}

void interval_sums__slice(struct interval_sums *s, uint64_t start_ns, uint64_t slice_ns)
{
	s->start_ns = start_ns;
	s->slice_ns = slice_ns;
}

void interval_sums__free(struct interval_sums *s)
{
	if (!s)
		return;
	sum_table_free(&s->table);
	for (size_t i = 0; i < s->pending_cnt; i++)
		free(s->pending[i].parts);
	free(s->pending);
	index_free(&s->pending_index);
	free(s);
}

static struct pending *pending_of(struct interval_sums *s, uint32_t tid)
{
	uint64_t hash = hash_u64(tid);
	struct index_iter it = index_find(&s->pending_index, hash);

	for (; index_hit(&s->pending_index, &it); index_next(&s->pending_index, &it))
		if (s->pending[it.elem].tid == tid)
			return &s->pending[it.elem];
	s->pending = xgrow(s->pending, &s->pending_cap, s->pending_cnt + 1, sizeof(*s->pending));
	index_add(&s->pending_index, hash, (uint32_t)s->pending_cnt);
	s->pending[s->pending_cnt] = (struct pending){ .tid = tid };
	return &s->pending[s->pending_cnt++];
}

static void add(struct interval_sums *s, struct cp_sum_key *key, const struct part *part,
		uint64_t cnt)
{
	const struct cp_sum sum = { .ns = part->ns, .cnt = cnt };

	key->slice = part->slice;
	sum_table_add(&s->table, key, &sum);
}

static void wait_for_sample(struct pending *p, const struct part *part)
{
	uint64_t paid_ns = part->ns < p->owed_ns ? part->ns : p->owed_ns;

	p->owed_ns -= paid_ns;
	p->last_slice = part->slice;
	if (part->ns == paid_ns)
		return;
	if (!p->cnt || p->parts[p->cnt - 1].slice != part->slice) {
		p->parts = xgrow(p->parts, &p->cap, p->cnt + 1, sizeof(*p->parts));
		p->parts[p->cnt++] = (struct part){ .slice = part->slice };
	}
	p->parts[p->cnt - 1].ns += part->ns - paid_ns;
}

/* The first part of [*at_ns, end_ns): up to the next border; moves *at_ns there. */
static struct part next_part(const struct interval_sums *s, uint64_t *at_ns, uint64_t end_ns)
{
	uint64_t from_ns = *at_ns, slice, border_ns;
	struct part part = { 0 };

	*at_ns = end_ns;
	if (s->slice_ns) {
		slice = from_ns > s->start_ns ? (from_ns - s->start_ns) / s->slice_ns : 0;
		if (slice >= SLICES_MAX)
			slice = SLICES_MAX - 1;
		border_ns = s->start_ns + (slice + 1) * s->slice_ns;
		part.slice = (uint32_t)slice + 1;
		if (border_ns > from_ns && border_ns < end_ns)
			*at_ns = border_ns;
	}
	part.ns = *at_ns - from_ns;
	return part;
}

/* Takes the oldest of what waits, at most ns. */
static struct part take_oldest(struct pending *p, size_t at, uint64_t ns)
{
	struct part part = p->parts[at];

	if (part.ns > ns)
		part.ns = ns;
	p->parts[at].ns -= part.ns;
	return part;
}

/* So much of what waited lies where the thread is now. */
static void book_running(struct interval_sums *s, struct cp_sum_key *key, struct pending *p,
			 uint64_t charged_ns, uint64_t cnt)
{
	struct part rest = { p->last_slice ? p->last_slice : !!s->slice_ns, charged_ns };
	size_t used = 0;

	while (used < p->cnt && rest.ns) {
		struct part part = take_oldest(p, used, rest.ns);

		rest.ns -= part.ns;
		add(s, key, &part, rest.ns ? 0 : cnt);
		if (p->parts[used].ns)
			break;
		used++;
	}
	if (rest.ns ||
	    !charged_ns) /* events that come later, or a sample that stands for no time */
		add(s, key, &rest, cnt);
	p->owed_ns += rest.ns;
	p->cnt -= used;
	if (used && p->cnt)
		memmove(p->parts, p->parts + used, p->cnt * sizeof(*p->parts));
}

void interval_sums__add(struct interval_sums *s, const struct cp_event_interval *e)
{
	struct cp_sum_key key = {
		.stack = e->stack,
		.process = e->process,
		.tid = s->per_thread ? e->tid : 0,
		.kind = e->kind,
		.flags = e->flags,
	};
	bool running = e->kind == 1 /* ACCOUNT_RUNNING */;
	struct pending *p = running ? pending_of(s, e->tid) : NULL;
	uint64_t at_ns = e->start_ns, cnt = e->sampled != CP_FLUSHED;

	while (at_ns < e->end_ns) {
		struct part part = next_part(s, &at_ns, e->end_ns);

		if (running) {
			wait_for_sample(p, &part);
		} else {
			add(s, &key, &part, cnt);
			cnt = 0;
		}
	}
	if (!running || e->sampled == CP_NOT_SAMPLED)
		return;
	key.flags = e->flags & CP_SUM_NOT_SAMPLED; /* cuts are of the piece, not of the sum */
	book_running(s, &key, p, e->charged_ns, cnt);
}

const struct sum_table *interval_sums__table(const struct interval_sums *s)
{
	return &s->table;
}
