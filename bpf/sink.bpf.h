/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where pieces of time go: into the kernel's sums, or as records to user space (--intervals), which makes
 * the same sums of them. */
#ifndef CP_BPF_SINK_BPF_H
#define CP_BPF_SINK_BPF_H

#include "bpf/state.bpf.h"

struct where {
	u32 tid;
	u32 stack;
	u32 process;
	u32 flags; /* enum cp_sum_flag */
};

/* verifier: global functions, so that they are verified once and not again at each of their callers */
__weak int cp_add_sum(struct cp_sum_key *key, u64 ns, u64 cnt)
{
	struct cp_sum *sum, first = {};
	struct cp_sum_key on_stack;
	long rc;

	if (!key)
		return 0;
	on_stack = *key; /* verifier: 6.1 takes no argument's memory as a key */
	sum = bpf_map_lookup_elem(&cp_sums, &on_stack);
	if (!sum) {
		rc = bpf_map_update_elem(&cp_sums, &on_stack, &first, BPF_NOEXIST);
		if (!rc)
			__sync_fetch_and_add(&cp_sum_cnt, 1);
		sum = bpf_map_lookup_elem(&cp_sums, &on_stack);
		if (!sum) {
			lose(rc == -16 /* EBUSY */ ? CP_LOSS_UPDATE_BUSY : CP_LOSS_SUM_MAP_FULL,
			     ns);
			return 0;
		}
	}
	__sync_fetch_and_add(&sum->ns, ns);
	__sync_fetch_and_add(&sum->cnt, cnt);
	return 0;
}

__weak int cp_put_interval(struct cp_event_interval *from)
{
	struct cp_event_interval *e;

	if (!from)
		return 0;
	e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e) {
		lose(CP_LOSS_RING_FULL_INTERVAL, from->end_ns - from->start_ns);
		return 0;
	}
	*e = *from;
	bpf_ringbuf_submit(e, ring_flags());
	return 0;
}

__weak int cp_put_raw(struct cp_event_raw *from)
{
	if (from && bpf_ringbuf_output(&cp_ring, from, sizeof(*from), ring_flags()))
		lose(CP_LOSS_RING_FULL_INTERVAL, 0);
	return 0;
}

static __always_inline void put_raw(const struct cp_thread *t, u32 raw,
				    const struct account_switch *sw, u32 value)
{
	struct cp_event_raw e;

	if (!cp_config.raw)
		return;
	e = (struct cp_event_raw){
		.event = CP_EVENT_RAW,
		.raw = raw,
		.preempt = sw->preempt,
		.on_rq = sw->on_rq,
		.sched_delayed = sw->sched_delayed,
		.tid = t->tid,
		.value = value,
		.now_ns = sw->now_ns,
		.ran_ns = sw->ran_ns,
	};
	cp_put_raw(&e);
}

static __always_inline void add_sum(const struct where *w, u32 kind, u32 flags, u64 ns, u64 cnt)
{
	struct cp_sum_key key = {
		.stack = w->stack,
		.process = w->process,
		.tid = cp_config.per_thread ? w->tid : 0,
		.kind = kind,
		.flags = flags | cp_side,
	};

	cp_add_sum(&key, ns, cnt);
}

static __always_inline void put_interval(const struct where *w, const struct account_piece *p,
					 u32 flags, u32 sampled, u64 charged_ns)
{
	struct cp_event_interval e = {
		.event = CP_EVENT_INTERVAL,
		.kind = p->kind,
		.flags = flags,
		.sampled = sampled,
		.tid = w->tid,
		.start_ns = p->start_ns,
		.end_ns = p->end_ns,
		.stack = w->stack,
		.process = w->process,
		.charged_ns = charged_ns,
	};

	cp_put_interval(&e);
}

static __always_inline bool filtered_out(const struct account_piece *p)
{
	if (!(cp_config.kind_mask >> p->kind & 1))
		return true;
	if (!account_is_blocked(p->kind))
		return false;
	return p->whole_ns < cp_config.min_ns ||
	       (cp_config.max_ns && p->whole_ns > cp_config.max_ns);
}

/* A piece of waiting time is known: books it for the thread, and sends it to the sink. */
__weak int cp_interval_done(struct cp_thread *t, struct where *w, struct account_piece *p)
{
	struct where at;
	u32 flags;
	u64 ns;

	if (!t || !w || !p || !p->kind)
		return 0;
	at = *w;
	flags = p->flags | w->flags;
	ns = p->end_ns - p->start_ns;
	if (account_is_blocked(p->kind))
		t->blocked_ns += ns;
	else
		t->runnable_ns += ns;
	if (filtered_out(p)) {
		flags = (flags & ~ACCOUNT_THROUGHOUT) | CP_SUM_FILTERED;
		at.stack = 0;
	}
	if (cp_config.intervals)
		put_interval(&at, p, flags, CP_NOT_SAMPLED, 0);
	if (cp_config.sums)
		add_sum(&at, p->kind, flags, ns, 1);
	return 0;
}

/* Pieces of waiting go where the thread was when it last left a CPU. */
__weak int cp_waiting_done(struct cp_thread *t, struct pieces *p, u32 by_census)
{
	struct where w = {};

	if (!t || !p)
		return 0;
	w.tid = t->tid;
	w.stack = by_census ? t->census_stack : t->stack;
	w.process = by_census ? t->census_process : t->process;
	cp_interval_done(t, &w, &p->first);
	cp_interval_done(t, &w, &p->second);
	return 0;
}

/* Waits that were kept until their stack was known; once, whoever comes first. */
static __always_inline void book_waits(struct cp_thread *t, u32 stack, u32 process)
{
	u32 waiting = __sync_lock_test_and_set(&t->waiting, 0);

	if (!waiting)
		return;
	t->stack = stack;
	t->process = process;
	cp_waiting_done(t, &t->waits, 0);
	if (waiting == CP_WAITING_LAST)
		t->done = 1;
}

/* A piece of running time ended without a sample: it waits in the thread's state for the next one. */
__weak int cp_running_done(struct cp_thread *t, struct where *w, struct account_piece *p)
{
	if (!t || !w || !p || !p->kind)
		return 0;
	t->running_ns += p->end_ns - p->start_ns;
	if (cp_config.intervals)
		put_interval(w, p, p->flags, CP_NOT_SAMPLED, 0);
	return 0;
}

/* What is left of the running time when a thread ends goes to its last sampled stack. */
static __always_inline void flush_unsampled(struct cp_thread *t, u32 process)
{
	/* in one step: a sample that interrupts takes all of it or nothing */
	u64 ns = __sync_lock_test_and_set(&t->account.unsampled_ns, 0);
	struct where w = { .tid = t->tid, .stack = t->sample_stack, .process = t->sample_process };
	u32 flags = 0;

	if (!ns)
		return;
	if (!t->sampled) {
		w.process = process;
		flags = CP_SUM_NOT_SAMPLED;
	}
	if (cp_config.intervals) {
		struct account_piece rest = { .kind = ACCOUNT_RUNNING };

		put_interval(&w, &rest, flags, CP_FLUSHED, ns);
	}
	if (cp_config.sums)
		add_sum(&w, ACCOUNT_RUNNING, flags, ns, 0);
}

static __always_inline void report_thread(struct cp_thread *t, struct task_struct *task,
					  u64 last_ns)
{
	struct cp_event_thread *e;
	u64 unsampled_ns = t->account.unsampled_ns;

	if (t->first_ns >= cp_window.end_ns || __sync_lock_test_and_set(&t->reported, 1))
		return;
	flush_unsampled(t, t->process);
	e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e) {
		lose(CP_LOSS_RING_FULL_THREAD, t->running_ns + t->runnable_ns + t->blocked_ns);
		return;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->event = CP_EVENT_THREAD;
	e->flags = t->flags & ~(CP_THREAD_ALONE | CP_WANTED);
	if (!t->account.ran && t->blocked_ns && !t->runnable_ns)
		e->flags |= CP_THREAD_ASLEEP;
	e->tid = t->tid;
	e->tgid = t->tgid;
	e->process = t->process;
	e->first_ns = t->first_ns < cp_window.start_ns ? cp_window.start_ns : t->first_ns;
	e->last_ns = last_ns;
	e->running_ns = t->running_ns;
	e->runnable_ns = t->runnable_ns;
	e->blocked_ns = t->blocked_ns;
	e->exec_ns = t->exec_ns;
	e->delay_ns = t->delay_ns;
	e->voluntary_cnt = t->voluntary_cnt;
	e->involuntary_cnt = t->involuntary_cnt;
	e->sample_cnt = t->sample_cnt;
	e->unsampled_ns = unsampled_ns;
	e->ns_tid = t->ns_tid;
	e->ns_tgid = t->ns_tgid;
	__builtin_memcpy(e->comm, task->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, ring_flags());
}

#endif
