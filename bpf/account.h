/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state machine of a thread's time, compiled into the kernel programs and into user space (for tests
 * and for --intervals). A pure function of (event, state): it reads no clock and no memory but its
 * arguments, so recorded sequences of events can be replayed anywhere.
 *
 * A thread is always in one of these kinds, and every event closes the open piece of time and opens the next:
 *
 *	running --switch out, wants to run--> preempted --switch in--> running
 *	running --switch out, sleeps--> blocked --first wake-up--> woken --switch in--> running
 *
 * What is easy to get wrong, and how it is here:
 *  - A switch-out is a sleep only if it was voluntary, the state argument of the tracepoint is not 0, and
 *    the task left the run queue or stays there as a delayed dequeue (6.12 and later: a third of all real
 *    sleeps). On 6.1 a task with a signal pending "sleeps" in state S but stays on the queue: runnable.
 *  - A wake-up counts from sched_wakeup, and only the first after the switch-out. It may arrive while the
 *    sleeper is still on its CPU; then the switch-out that follows clears it.
 *  - A sleep that ends without a wake-up is blocked to its end, and counted as such.
 *  - A switch that was not seen (the kernel skips a program that would nest, and some contexts altogether) is
 *    put where the kernel's own run time clock says that it was, and counted.
 *  - Time outside of the window is cut off here, in one place. */
#ifndef CP_BPF_ACCOUNT_H
#define CP_BPF_ACCOUNT_H

#include <linux/types.h>

#define ACCOUNT_INLINE static inline __attribute__((always_inline, unused))

/* Equal to enum kind in user/model/kinds.h (asserted in user/capture). */
enum account_kind {
	ACCOUNT_NONE = 0, /* nothing seen yet */
	ACCOUNT_RUNNING = 1,
	ACCOUNT_PREEMPTED = 2,
	ACCOUNT_WOKEN = 3,
	ACCOUNT_SLEEP = 4,
	ACCOUNT_DISK = 5,
	ACCOUNT_STOPPED = 6,
	ACCOUNT_TRACED = 7,
	ACCOUNT_PARKED = 8,
	ACCOUNT_IDLE = 9,
	ACCOUNT_DEAD = 15, /* closed for good */
	/* or-ed in: opened by the census, which keeps its stack in a slot of its own */
	ACCOUNT_BY_CENSUS = 16,
};

/* Task states as the tracepoint gives them; flags above the low byte qualify S and D. */
enum account_state {
	STATE_INTERRUPTIBLE = 0x01,
	STATE_UNINTERRUPTIBLE = 0x02,
	STATE_STOPPED = 0x04,
	STATE_TRACED = 0x08,
	STATE_PARKED = 0x40,
	STATE_DEAD = 0x80,
	STATE_NOLOAD = 0x400,
	STATE_RTLOCK_WAIT = 0x1000,
	STATE_FROZEN = 0x8000,
};

/* Equal to enum part_flag. */
enum account_flag {
	ACCOUNT_CUT_START = 1,
	ACCOUNT_CUT_END = 2,
	ACCOUNT_THROUGHOUT = 4,
};

struct account_window {
	__u64 start_ns;
	__u64 end_ns; /* ~0 while it is open-ended */
};

struct account {
	__u64 since_ns;	    /* start of the open piece */
	__u64 wake_ns;	    /* first wake-up since the switch-out, 0 = none */
	__u64 unsampled_ns; /* running time inside the window since the last sample */
	__u32 kind;	    /* enum account_kind, perhaps with ACCOUNT_BY_CENSUS */
	__u32 ran;	    /* was on a CPU inside the window */
};

struct account_piece {
	__u64 start_ns, end_ns; /* inside the window */
	__u64 whole_ns;		/* length before it was clipped, for filters by duration */
	__u32 kind;		/* ACCOUNT_NONE = there is no piece */
	__u32 flags;		/* enum account_flag */
};

struct account_switch {
	__u64 now_ns;
	__u64 ran_ns; /* what the kernel's run time clock gained since the open piece began */
	__u32 prev_state;
	__u8 preempt;
	__u8 on_rq;
	__u8 sched_delayed;
	__u8 pad;
};

/* Whether what happens now is to be counted. */
ACCOUNT_INLINE int account_in_window(const struct account_window *w, __u64 now_ns)
{
	return now_ns >= w->start_ns && now_ns < w->end_ns;
}

ACCOUNT_INLINE __u32 account_kind_of(const struct account *a)
{
	return a->kind & ~(__u32)ACCOUNT_BY_CENSUS;
}

ACCOUNT_INLINE int account_is_blocked(__u32 kind)
{
	return kind >= ACCOUNT_SLEEP && kind <= ACCOUNT_IDLE;
}

ACCOUNT_INLINE __u32 account_blocked_kind(__u32 state)
{
	if (state & STATE_TRACED)
		return ACCOUNT_TRACED;
	if (state & STATE_STOPPED)
		return ACCOUNT_STOPPED;
	if (state & STATE_PARKED)
		return ACCOUNT_PARKED;
	if (state & (STATE_UNINTERRUPTIBLE | STATE_RTLOCK_WAIT | STATE_FROZEN))
		return state & STATE_NOLOAD ? ACCOUNT_IDLE : ACCOUNT_DISK;
	return ACCOUNT_SLEEP;
}

/* The kind of a thread that left its CPU, or that the census finds off CPU. */
ACCOUNT_INLINE __u32 account_off_kind(const struct account_switch *sw)
{
	if (sw->prev_state & STATE_DEAD)
		return ACCOUNT_DEAD;
	if (sw->preempt || !sw->prev_state)
		return ACCOUNT_PREEMPTED;
	if (sw->on_rq && !sw->sched_delayed)
		return ACCOUNT_PREEMPTED;
	return account_blocked_kind(sw->prev_state);
}

/* What was read of a task that nobody has watched so far, member by member, while it went on. Whether it may be the
 * middle of a change that no event will tell any more: a thread that has left the run queue and not yet its CPU, or has
 * got a CPU and is not yet on it; or a delayed dequeue that comes to its end, which takes back the delay before it takes
 * the thread off the queue. It is then read again; what stays so is so (a thread that was preempted). */
ACCOUNT_INLINE int account_is_passing(const struct account_switch *sw, int on_cpu)
{
	int wants_cpu = sw->on_rq && !sw->sched_delayed;

	return wants_cpu != !!on_cpu;
}

/* The kind of a thread that was read so. One that is off the queue sleeps, though its CPU has not let it go yet. */
ACCOUNT_INLINE __u32 account_found_kind(const struct account_switch *sw, int on_cpu)
{
	return on_cpu && !account_is_passing(sw, on_cpu) ? ACCOUNT_RUNNING : account_off_kind(sw);
}

/* What the kernel's account of waiting has inside the window of one wait, which ended at end_ns. It is booked whole
 * when it ends, so one that is open when the window closes is not in it. */
ACCOUNT_INLINE __u64 account_waited_ns(const struct account_window *w, __u64 waited_ns,
				       __u64 end_ns)
{
	__u64 inside_ns = end_ns > w->start_ns ? end_ns - w->start_ns : 0;

	return waited_ns < inside_ns ? waited_ns : inside_ns;
}

/* part of whole, applied to ns: ns * part / whole, in steps of 1 us, or 0.3 ms for wholes of more than a minute,
 * so that the product fits 64 bits up to 2^50 ns (13 days). */
ACCOUNT_INLINE __u64 account_share_ns(__u64 ns, __u64 part_ns, __u64 whole_ns)
{
	if (whole_ns >> 36)
		return ((ns >> 18) * (part_ns >> 18) / ((whole_ns >> 18) + 1)) << 18;
	return ns * (part_ns >> 10) / ((whole_ns >> 10) + 1);
}

/* Cuts [start, end) to the window. */
ACCOUNT_INLINE void account_clip(struct account_piece *p, const struct account_window *w,
				 __u64 start_ns, __u64 end_ns, __u32 kind)
{
	p->kind = ACCOUNT_NONE;
	p->flags = 0;
	p->whole_ns = end_ns - start_ns;
	if (start_ns < w->start_ns) {
		start_ns = w->start_ns;
		p->flags |= ACCOUNT_CUT_START;
	}
	if (end_ns > w->end_ns) {
		end_ns = w->end_ns;
		p->flags |= ACCOUNT_CUT_END;
	}
	p->start_ns = start_ns;
	p->end_ns = end_ns;
	if (start_ns < end_ns)
		p->kind = kind;
}

ACCOUNT_INLINE void account_run(struct account *a, const struct account_window *w, __u64 now_ns,
				struct account_piece *running)
{
	account_clip(running, w, a->since_ns, now_ns, ACCOUNT_RUNNING);
	if (!running->kind)
		return;
	a->unsampled_ns += running->end_ns - running->start_ns;
	a->ran = 1;
}

/* Splits the open off-CPU time at its wake-up: first is what it was, second the wait for a CPU. */
ACCOUNT_INLINE void account_split(const struct account *a, const struct account_window *w,
				  __u64 end_ns, struct account_piece *first,
				  struct account_piece *second)
{
	__u32 kind = account_kind_of(a);
	__u64 wake_ns = a->wake_ns;

	first->kind = second->kind = ACCOUNT_NONE;
	if (kind == ACCOUNT_NONE || kind == ACCOUNT_DEAD || end_ns <= a->since_ns)
		return;
	if (!account_is_blocked(kind) || wake_ns <= a->since_ns || wake_ns >= end_ns) {
		account_clip(first, w, a->since_ns, end_ns, kind);
		return;
	}
	account_clip(first, w, a->since_ns, wake_ns, kind);
	account_clip(second, w, wake_ns, end_ns, ACCOUNT_WOKEN);
}

/* The thread leaves its CPU: gives the running piece that ends here. Where it was not seen to get the CPU,
 * also the waiting before that; then it returns 1. */
ACCOUNT_INLINE int account_switch_out(struct account *a, const struct account_window *w,
				      const struct account_switch *sw,
				      struct account_piece *running, struct account_piece *first,
				      struct account_piece *second)
{
	__u32 kind = account_kind_of(a);
	int unseen = 0;

	running->kind = first->kind = second->kind = ACCOUNT_NONE;
	if (kind != ACCOUNT_RUNNING && kind != ACCOUNT_NONE && kind != ACCOUNT_DEAD) {
		__u64 in_ns = sw->now_ns - sw->ran_ns;

		if (in_ns < a->since_ns || in_ns > sw->now_ns)
			in_ns = a->since_ns;
		account_split(a, w, in_ns, first, second);
		a->since_ns = in_ns;
		kind = ACCOUNT_RUNNING;
		unseen = 1;
	}
	if (kind == ACCOUNT_RUNNING && sw->now_ns > a->since_ns)
		account_run(a, w, sw->now_ns, running);
	a->since_ns = sw->now_ns;
	a->wake_ns = 0;
	a->kind = account_off_kind(sw);
	return unseen;
}

enum account_unseen {
	ACCOUNT_UNSEEN_WAKEUP = 1,
	ACCOUNT_UNSEEN_SWITCH = 2,
};

/* The thread gets a CPU: gives up to two pieces of waiting, and a running piece where it was not seen to
 * leave its last CPU. Returns what was not seen (enum account_unseen). */
ACCOUNT_INLINE int account_switch_in(struct account *a, const struct account_window *w,
				     const struct account_switch *sw, struct account_piece *running,
				     struct account_piece *first, struct account_piece *second)
{
	int unseen =
		account_is_blocked(account_kind_of(a)) && !a->wake_ns ? ACCOUNT_UNSEEN_WAKEUP : 0;

	running->kind = ACCOUNT_NONE;
	if (account_kind_of(a) == ACCOUNT_RUNNING) {
		__u64 out_ns = a->since_ns + sw->ran_ns;

		if (out_ns > sw->now_ns)
			out_ns = sw->now_ns;
		account_run(a, w, out_ns, running);
		a->since_ns = out_ns;
		a->kind = a->wake_ns > out_ns ? ACCOUNT_SLEEP : ACCOUNT_PREEMPTED;
		unseen = ACCOUNT_UNSEEN_SWITCH;
	}
	account_split(a, w, sw->now_ns, first, second);
	a->since_ns = sw->now_ns;
	a->kind = ACCOUNT_RUNNING;
	if (account_in_window(w, sw->now_ns))
		a->ran = 1;
	return unseen;
}

/* sched_wakeup: the thread may run from now on. */
ACCOUNT_INLINE void account_wakeup(struct account *a, __u64 now_ns)
{
	if (!a->wake_ns)
		a->wake_ns = now_ns;
}

/* sched_wakeup_new: the thread exists. Gives 1 if it had not been seen yet. */
ACCOUNT_INLINE int account_born(struct account *a, __u64 now_ns)
{
	if (a->kind != ACCOUNT_NONE)
		return 0;
	a->since_ns = now_ns;
	a->kind = ACCOUNT_WOKEN;
	return 1;
}

/* A sample of the running thread. Gives the running piece up to now, and returns all running time since
 * the last sample, which this sample stands for. */
ACCOUNT_INLINE __u64 account_sample(struct account *a, const struct account_window *w, __u64 now_ns,
				    struct account_piece *running)
{
	__u64 charged_ns;

	running->kind = ACCOUNT_NONE;
	if (account_kind_of(a) != ACCOUNT_RUNNING || now_ns <= a->since_ns)
		return 0;
	account_run(a, w, now_ns, running);
	if (!running->kind)
		return 0;
	charged_ns = a->unsampled_ns;
	a->unsampled_ns = 0;
	a->since_ns = now_ns;
	return charged_ns;
}

/* The window has closed: gives what is still open, up to its end. Only one caller may close a thread. */
ACCOUNT_INLINE void account_close(struct account *a, const struct account_window *w, __u64 now_ns,
				  struct account_piece *first, struct account_piece *second)
{
	if (account_kind_of(a) == ACCOUNT_RUNNING) {
		second->kind = ACCOUNT_NONE;
		account_run(a, w, now_ns, first);
	} else {
		account_split(a, w, now_ns, first, second);
	}
	if (!a->ran && first->kind && !second->kind && (first->flags & ACCOUNT_CUT_START) &&
	    account_is_blocked(first->kind))
		first->flags |= ACCOUNT_THROUGHOUT;
	a->since_ns = now_ns;
	a->wake_ns = 0;
	a->kind = ACCOUNT_NONE;
}

#endif
