// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The scheduler's tracepoints: every change of a watched thread's state, and the birth of threads and
 * processes.
 *
 * A stack does not change while its thread is off the CPU, so it may be walked at either end. By default that is
 * the switch-out. With --hook finish it is the moment when the thread goes on: sched_switch still takes all stamps and
 * states, but the waits stay in the thread's state until a second program, which runs in the thread that resumes, has
 * walked the stack, and it walks only what the filters keep. Which program that is depends on the kernel
 * (user/capture/resume.h). Threads that are still off the CPU when the window closes are left to the census. */
#include "bpf/stack.bpf.h"
#include "bpf/sink.bpf.h"
#include "bpf/process.bpf.h"

char cp_license[] SEC("license") = "Dual BSD/GPL";

/* After the window the first event of a thread accounts its last piece; the census may do it instead. */
static __always_inline bool may_account(struct cp_thread *t, u64 now_ns)
{
	if (now_ns < cp_window.end_ns)
		return true;
	return !__sync_lock_test_and_set(&t->closed, 1);
}

static __always_inline void account_done(struct cp_thread *t, u64 now_ns)
{
	if (now_ns >= cp_window.end_ns)
		t->done = 1;
}

static __always_inline void count_switch(struct cp_thread *t, struct task_struct *task, u64 now_ns)
{
	u64 nvcsw = task->nvcsw;
	bool voluntary = nvcsw != t->nvcsw;

	t->nvcsw = nvcsw;
	if (!account_in_window(&cp_window, now_ns))
		return;
	if (voluntary)
		t->voluntary_cnt++;
	else
		t->involuntary_cnt++;
}

/* verifier: the state machine as global functions, verified once: its branches would multiply with those of
 * the walk */
__weak int cp_account_out(struct cp_thread *t, struct account_switch *sw, struct pieces *p)
{
	if (!t || !sw || !p)
		return 0;
	return account_switch_out(&t->account, &cp_window, sw, &p->running, &p->first, &p->second);
}

__weak int cp_account_in(struct cp_thread *t, struct account_switch *sw, struct pieces *p)
{
	if (!t || !sw || !p)
		return 0;
	return account_switch_in(&t->account, &cp_window, sw, &p->running, &p->first, &p->second);
}

/* Waits whose stack nobody saw, since the program that walks it at the end did not run. */
static __always_inline void book_unseen(struct cp_thread *t)
{
	if (!cp_config.finish || !t->waiting)
		return;
	lose(CP_LOSS_RESUME_UNSEEN, 0);
	book_waits(t, 0, t->process);
}

/* What the kernel's run time clock gained since the last switch that was seen, without what samples have booked of
 * it. */
static __always_inline u64 ran_ns_of(const struct cp_thread *t, const struct task_struct *task)
{
	u64 ran_ns = task->se.sum_exec_runtime - t->exec_mark_ns, booked_ns = 0;

	if (account_kind_of(&t->account) == ACCOUNT_RUNNING &&
	    t->account.since_ns > t->run_since_ns)
		booked_ns = t->account.since_ns - t->run_since_ns;
	return ran_ns > booked_ns ? ran_ns - booked_ns : 0;
}

static __always_inline void bury(struct cp_thread *t, struct task_struct *task, u64 now_ns)
{
	/* later is not in the window, and nor is the switch that ended it */
	if (now_ns < cp_window.end_ns)
		t->flags |= CP_THREAD_DIED;
	if (now_ns > cp_window.start_ns)
		report_thread(t, task, now_ns < cp_window.end_ns ? now_ns : cp_window.end_ns);
}

static __always_inline void leave(void *ctx, struct cp_thread *t, struct task_struct *task,
				  struct account_switch *sw)
{
	u32 by_census = t->account.kind & ACCOUNT_BY_CENSUS;
	struct where w = { .tid = t->tid };
	struct pieces pieces = {};
	struct cp_process *p;

	book_unseen(t);
	if (!may_account(t, sw->now_ns)) {
		/* closed by an event of its own: the census will not find it any more */
		if (t->done && (sw->prev_state & STATE_DEAD))
			bury(t, task, sw->now_ns);
		return;
	}
	sw->ran_ns = ran_ns_of(t, task);
	put_raw(t, CP_RAW_OUT, sw, sw->prev_state);
	if (cp_account_out(t, sw, &pieces)) {
		t->run_since_ns = sw->now_ns - sw->ran_ns;
		lose(CP_LOSS_SWITCH_UNSEEN, sw->now_ns - t->run_since_ns);
		cp_waiting_done(t, &pieces, by_census);
	}
	w.process = t->process;
	cp_running_done(t, &w, &pieces.running);
	look_at_witness(t, task, sw->now_ns);
	t->exec_mark_ns = t->exec_last_ns;
	count_switch(t, task, sw->now_ns);
	if (t->account.kind == ACCOUNT_DEAD) {
		bury(t, task, sw->now_ns);
	} else if (sw->now_ns < cp_window.end_ns) {
		p = process_of(task);
		if (p) /* else it is forgotten already: the thread's last steps */
			t->process = p->id;
		t->stack = cp_config.finish ? 0 : stack_of_current(ctx, task, 0, p);
	}
	account_done(t, sw->now_ns);
}

/* Whether the program in the resuming thread has to walk its stack: not where it is known already. */
static __always_inline bool wants_walk(const struct cp_thread *t, const struct pieces *p,
				       u32 by_census)
{
	if (!cp_config.finish || by_census || t->stack == CP_STACK_NEW)
		return false;
	return (p->first.kind && !filtered_out(&p->first)) ||
	       (p->second.kind && !filtered_out(&p->second));
}

static __always_inline void enter(struct cp_thread *t, struct task_struct *task,
				  struct account_switch *sw, struct cp_cost *cost)
{
	u32 by_census = t->account.kind & ACCOUNT_BY_CENSUS;
	struct where w = { .tid = t->tid };
	struct pieces pieces = {};
	int unseen;

	book_unseen(t);
	if (!may_account(t, sw->now_ns))
		return;
	sw->ran_ns = ran_ns_of(t, task);
	put_raw(t, CP_RAW_IN, sw, 0);
	unseen = cp_account_in(t, sw, &pieces);
	if (unseen && (pieces.first.kind || pieces.running.kind))
		lose(unseen == ACCOUNT_UNSEEN_WAKEUP ? CP_LOSS_WAKEUP_UNSEEN :
						       CP_LOSS_SWITCH_UNSEEN,
		     0);
	if (unseen == ACCOUNT_UNSEEN_SWITCH) {
		w.process = t->process;
		cp_running_done(t, &w, &pieces.running);
		t->stack = CP_STACK_UNSEEN;
		by_census = 0;
	}
	t->run_since_ns = sw->now_ns;
	t->exec_mark_ns = task->se.sum_exec_runtime;
	if (wants_walk(t, &pieces, by_census)) {
		t->waits = pieces;
		t->waiting = sw->now_ns < cp_window.end_ns ? CP_WAITING : CP_WAITING_LAST;
		cost->resume_waits = 1;
		return;
	}
	cp_waiting_done(t, &pieces, by_census);
	account_done(t, sw->now_ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(cp_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct cp_thread *out = thread_of(prev), *in = thread_of(next);
	struct account_switch sw = {};
	struct cp_cost *cost;
	u32 zero = 0;
	bool open;

	cost = bpf_map_lookup_elem(&cp_costs, &zero);
	if (!cost)
		return 0;
	/* attaching may take seconds on a busy machine; what happens then is not in the window */
	open = cp_window.start_ns != ~0ULL;
	cost->switches += open;
	cost->in_switch = 1;
	cost->resume_task = (u64)next;
	cost->resume_waits = 0;
	/* verifier: one test a pointer; "!in && !out" would become arithmetic on pointers */
	if (in) {
		sw.now_ns = bpf_ktime_get_ns();
		enter(in, next, &sw, cost);
	}
	if (out) {
		if (!sw.now_ns)
			sw.now_ns = bpf_ktime_get_ns();
		sw.prev_state = prev_state;
		sw.preempt = preempt;
		sw.on_rq = prev->on_rq == 1;
		if (bpf_core_field_exists(prev->se.sched_delayed))
			sw.sched_delayed = prev->se.sched_delayed;
		cost->target_switches += account_in_window(&cp_window, sw.now_ns);
		leave(ctx, out, prev, &sw);
	}
	cost->in_switch = 0;
	if (open && sw.now_ns && !(cost->calls++ & 31)) {
		cost->timed_calls++;
		cost->timed_ns += bpf_ktime_get_ns() - sw.now_ns;
	}
	return 0;
}

/* Whether a thread waits as far as was seen: it was not seen to get this CPU. Its next switch-out tells; the stack of
 * the wait is that of now. */
static __always_inline bool came_unseen(const struct cp_thread *t)
{
	u32 kind = t->account.kind;

	return kind != ACCOUNT_NONE && kind != ACCOUNT_RUNNING && kind < ACCOUNT_DEAD &&
	       t->stack != CP_STACK_NEW;
}

/* In the thread that resumes: walks the stack that its waits wait for. */
static __always_inline int resume(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cp_process *p;
	struct cp_thread *t;
	struct cp_cost *cost;
	u64 now_ns;
	u32 zero = 0, stack;

	cost = bpf_map_lookup_elem(&cp_costs, &zero);
	if (!cost || (cost->resume_task == (u64)task && !cost->resume_waits))
		return 0;
	t = thread_of(task);
	if (!t || (!t->waiting && !came_unseen(t)))
		return 0;
	now_ns = bpf_ktime_get_ns();
	p = process_of(task);
	stack = stack_of_current(ctx, task, 0, p);
	if (t->waiting) {
		book_waits(t, stack, p ? p->id : t->process);
	} else {
		t->stack = stack;
		if (p)
			t->process = p->id;
	}
	if (!(cost->resumes++ & 31))
		cost->timed_ns += bpf_ktime_get_ns() - now_ns;
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(cp_resume_exit, bool is_switch)
{
	return is_switch ? resume(ctx) : 0;
}

SEC("fentry/finish_task_switch")
int cp_resume_fentry(void *ctx)
{
	return resume(ctx);
}

SEC("kprobe")
int cp_resume_kprobe(void *ctx)
{
	return resume(ctx);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(cp_wakeup, struct task_struct *task)
{
	struct cp_thread *t = thread_of(task);
	struct account_switch sw = {};

	if (!t)
		return 0;
	sw.now_ns = bpf_ktime_get_ns();
	put_raw(t, CP_RAW_WAKEUP, &sw, 0);
	account_wakeup(&t->account, sw.now_ns);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(cp_wakeup_new, struct task_struct *task)
{
	struct cp_thread *t = thread_of(task);
	struct account_switch sw = { .now_ns = bpf_ktime_get_ns() };

	if (!t)
		return 0;
	put_raw(t, CP_RAW_BORN, &sw, 0);
	if (!account_born(&t->account, sw.now_ns))
		return 0;
	t->first_ns = sw.now_ns;
	if (sw.now_ns >= cp_window.start_ns)
		t->flags |= CP_THREAD_BORN;
	return 0;
}

/* Runs in the parent; the child cannot run yet. Whom our PID namespace does not have is left out, as the census leaves it out. */
SEC("tp_btf/task_newtask")
int BPF_PROG(cp_newtask, struct task_struct *task, u64 clone_flags)
{
	struct cp_process *p;
	struct cp_thread *t;

	if (!right_kind(task) || window_over() || !follows(bpf_get_current_task_btf(), task) ||
	    !tid_of(task))
		return 0;
	t = bpf_task_storage_get(&cp_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(CP_LOSS_NO_STORAGE, 0);
		return 0;
	}
	identify(t, task);
	if (task->flags & PF_KTHREAD)
		t->flags |= CP_THREAD_KERNEL;
	process_forked(bpf_get_current_task_btf(), task, clone_flags);
	/* of its first wait for a CPU, and of a life without any wait */
	p = process_of(task);
	t->process = p ? p->id : 0;
	t->stack = CP_STACK_NEW;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(cp_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct cp_thread *t = thread_of(task);
	struct cp_process *p;

	if (!t || window_over())
		return 0;
	p = process_of(task);
	/* what ran before belongs to the old program */
	flush_unsampled(t, p ? p->id : 0);
	identify(t, task); /* a thread that execs becomes the leader */
	t->sampled = 0;
	process_changed_here(task, CP_PROCESS_EXEC, bprm);
	p = process_of(task);
	t->process = p ? p->id : 0;
	return 0;
}

/* A thread whose last switch was not seen died when the kernel's run time clock stopped. */
static __always_inline void bury_unseen(struct task_struct *task)
{
	struct account_switch sw = { .prev_state = STATE_DEAD };
	struct cp_thread *t = thread_of(task);
	struct where w = {};
	struct pieces pieces = {};
	u32 by_census;

	if (!t || t->reported || t->account.kind == ACCOUNT_NONE || t->account.kind == ACCOUNT_DEAD)
		return;
	by_census = t->account.kind & ACCOUNT_BY_CENSUS;
	sw.ran_ns = ran_ns_of(t, task);
	sw.now_ns = t->account.since_ns + sw.ran_ns;
	if (account_kind_of(&t->account) != ACCOUNT_RUNNING &&
	    t->account.wake_ns > t->account.since_ns)
		sw.now_ns = t->account.wake_ns + sw.ran_ns;
	if (!may_account(t, sw.now_ns)) {
		if (t->done)
			bury(t, task, sw.now_ns);
		return;
	}
	put_raw(t, CP_RAW_OUT, &sw, sw.prev_state);
	if (cp_account_out(t, &sw, &pieces)) {
		t->run_since_ns = sw.now_ns - sw.ran_ns;
		cp_waiting_done(t, &pieces, by_census);
	}
	lose(CP_LOSS_SWITCH_UNSEEN, sw.ran_ns);
	w.tid = t->tid;
	w.process = t->process;
	cp_running_done(t, &w, &pieces.running);
	look_at_witness(t, task, sw.now_ns);
	count_switch(t, task, sw.now_ns);
	bury(t, task, sw.now_ns);
	account_done(t, sw.now_ns);
}

/* A dead thread is thrown away. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(cp_free, struct task_struct *task)
{
	bury_unseen(task);
	process_ended(task);
	return 0;
}

/* Text came, went or moved: the process's addresses mean other code from now on. */
SEC("tp_btf/mmap_lock_released")
int BPF_PROG(cp_mmap_unlock, struct mm_struct *mm, bool write)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cp_process *p;

	if (!thread_of(task) || BPF_CORE_READ(task, mm) != mm || window_over())
		return 0;
	p = process_of(task);
	/* the memory of a program that exec is about to start is announced with it */
	if (p && p->mm == (u64)mm && p->exec_vm != mm->exec_vm)
		process_changed_here(task, CP_PROCESS_MAPS, 0);
	return 0;
}
