// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The census: before the window opens it finds the threads to watch and what each is doing, so that a
 * thread that sleeps through the whole window is in the result with its stack; after the window has closed
 * it accounts what is still open. Both walk all tasks, in a sleepable iterator that may read the memory of
 * other processes. */
#include "bpf/stack.bpf.h"
#include "bpf/sink.bpf.h"
#include "bpf/process.bpf.h"

/* Flags for a new watched thread; 0 = it is not one. */
static __always_inline u32 wanted(struct task_struct *task)
{
	u32 tid = tid_of(task), tgid = tid_of(BPF_CORE_READ(task, group_leader)), *how;

	if (!tid || task->exit_state || task->tgid == bpf_get_current_task_btf()->tgid)
		return 0;
	if (!right_kind(task))
		return 0;
	if (cp_config.all)
		return CP_WANTED;
	if (cp_config.cgroups)
		return in_cgroups(task) ? CP_WANTED : 0;
	how = bpf_map_lookup_elem(&cp_targets, &tgid);
	if (how && *how == 1)
		return CP_WANTED;
	how = bpf_map_lookup_elem(&cp_targets, &tid);
	return how && *how == 2 ? CP_WANTED | CP_THREAD_ALONE : 0;
}

static long find_step_census(u32 i, struct python_ctx *c)
{
	return find_step(c, true);
}

static long frame_step_census(u32 i, struct python_ctx *c)
{
	return frame_step(c, true);
}

static __always_inline void python_of_sleeper(struct walk_scratch *s, struct task_struct *task,
					      const struct cp_process *p)
{
	struct cp_thread *t = thread_of(task);
	struct python_ctx c = {};

	c.task = task;
	if (!begin_python(&c, s, task, p->space) || !worth_a_search(&c, t, p->space))
		return;
	if (begin_search(&c, true))
		bpf_loop(PYTHON_THREADS_MAX, find_step_census, &c, 0);
	remember(&c, t);
	if (s->python.stop == CP_PYTHON_WHOLE && begin_frames(&c, true))
		bpf_loop(PYTHON_STEPS_MAX, frame_step_census, &c, 0);
	own_python(s, p->id);
}

static __always_inline u32 stack_of_sleeper(struct task_struct *task, const struct cp_process *p)
{
	u32 at = cp_config.census_scratch;
	struct walk_scratch *s = bpf_map_lookup_elem(&cp_scratch, &at);
	struct kernel_part part = {};
	long bytes;

	if (!s)
		return 0;
	no_python(s);
	if (cp_config.kernel_stacks) {
		bytes = bpf_get_task_stack(task, s->kernel_frames, CP_FRAMES_MAX * 8, 0);
		part.cnt = bytes > 0 ? (u32)bytes / 8 : 0;
		hash_kernel(s, &part);
	}
	if (walk_begin(&s->walk, task, p) && cp_config.user_stacks &&
	    walk_registers(&s->walk, (struct pt_regs *)bpf_task_pt_regs(task))) {
		walk_steps(s, task, true);
		if (s->walk.python && p)
			python_of_sleeper(s, task, p);
	}
	return stack_number(s, &part);
}

static __always_inline u64 switches_of(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* A stack without frames that says that the thread was running when we looked. */
static __always_inline u32 stack_of_runner(void)
{
	u32 at = cp_config.census_scratch;
	struct walk_scratch *s = bpf_map_lookup_elem(&cp_scratch, &at);
	struct kernel_part none = {};

	if (!s)
		return 0;
	no_python(s);
	s->walk.cnt = 0;
	s->walk.stop = CP_STOP_RUNNING;
	s->walk.fp_mask[0] = s->walk.fp_mask[1] = s->walk.signal_mask[0] = s->walk.signal_mask[1] =
		0;
	return stack_number(s, &none);
}

/* Run once, by hand, before anything is attached: no thread is numbered before it is known for whom. */
SEC("raw_tp/task_newtask")
int cp_viewer(void *ctx)
{
	note_viewer();
	return 0;
}

/* First pass: which processes are watched, so that user space can fetch their mappings before any of
 * their threads is. */
SEC("iter/task")
int cp_census_find(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (wanted(task))
		process_found(task);
	return 0;
}

/* A thread that was moved here in its sleep, and whose code was not known then. */
static __always_inline void look_again(struct cp_thread *t, struct task_struct *task)
{
	if (t->account.kind & ACCOUNT_BY_CENSUS && !t->census_stack && !task->on_cpu &&
	    !cp_census_blind)
		t->census_stack = stack_of_sleeper(task, process_of(task));
}

static __always_inline void find_stack(struct cp_thread *t, struct task_struct *task,
				       const struct cp_process *p, u32 kind)
{
	u64 switches = switches_of(task);

	if (kind != ACCOUNT_RUNNING && !cp_census_blind)
		t->census_stack = stack_of_sleeper(task, p);
	if (task->on_cpu || switches != switches_of(task))
		t->census_stack = stack_of_runner();
}

SEC("iter.s/task")
int cp_census_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct account_switch sw = {};
	struct cp_process *p;
	struct cp_thread *t;
	u32 flags, kind;

	if (!task)
		return 0;
	flags = wanted(task);
	if (!flags)
		return 0;
	t = bpf_task_storage_get(&cp_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(CP_LOSS_NO_STORAGE, 0);
		return 0;
	}
	identify(t, task);
	process_found(task);
	if (t->account.kind) { /* it has switched already */
		look_again(t, task);
		return 0;
	}
	t->flags |= (flags & ~CP_WANTED) | (task->flags & PF_KTHREAD ? CP_THREAD_KERNEL : 0);
	p = process_of(task);
	look_at_clocks(t, task, bpf_ktime_get_ns());
	sw.now_ns = t->account.since_ns;
	if (sw.now_ns >= cp_window.start_ns) /* it came while the window is open */
		t->first_ns = sw.now_ns;
	t->census_process = p ? p->id : 0;
	kind = kind_of(task, &sw);
	find_stack(t, task, p, kind);
	if (!t->process)
		t->process = t->census_process;
	/* a switch that came in between wins */
	if (!__sync_val_compare_and_swap(&t->account.kind, ACCOUNT_NONE, kind | ACCOUNT_BY_CENSUS))
		put_raw(t, CP_RAW_CENSUS, &sw, kind);
	return 0;
}

struct wait_ctx {
	struct cp_thread *t;
};

static long wait_done(u32 i, struct wait_ctx *c)
{
	return *(volatile u32 *)&c->t->done ? 1 : 0;
}

static long wait_booked(u32 i, struct wait_ctx *c)
{
	return *(volatile u32 *)&c->t->waiting ? 0 : 1;
}

/* Where a thread is whose last piece of time is still open. With --hook finish one that waits has not walked its stack;
 * this holds if it has not closed itself afterwards, since the window is over and one that goes on does. */
static __always_inline void locate(struct cp_thread *t, struct task_struct *task, struct where *w)
{
	u32 kind = t->account.kind;
	struct cp_process *p;

	w->tid = t->tid;
	w->stack = kind & ACCOUNT_BY_CENSUS ? t->census_stack : t->stack;
	w->process = kind & ACCOUNT_BY_CENSUS ? t->census_process : t->process;
	if (!cp_config.finish || w->stack == CP_STACK_NEW || kind == ACCOUNT_RUNNING ||
	    kind == ACCOUNT_NONE || kind >= ACCOUNT_DEAD)
		return;
	p = process_of(task);
	w->stack = stack_of_sleeper(task, p);
	w->process = p ? p->id : 0;
}

/* The program that walks the stack of a thread that resumes may be running right now. */
static __always_inline void finish_waits(struct cp_thread *t)
{
	struct wait_ctx c = { .t = t };

	if (!cp_config.finish || !t->waiting)
		return;
	bpf_loop(1 << 16, wait_booked, &c, 0);
	if (!t->waiting)
		return;
	lose(CP_LOSS_RESUME_UNSEEN, 0);
	book_waits(t, 0, t->process);
}

SEC("iter.s/task")
int cp_census_close(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct account_piece first = {}, second = {};
	struct account_switch sw = {};
	struct where w = {};
	struct cp_thread *t;

	if (!task)
		return 0;
	t = thread_of(task);
	if (!t || t->reported || (!t->account.kind && !t->first_ns && !t->closed))
		return 0;
	locate(t, task, &w);
	if (__sync_lock_test_and_set(&t->closed, 1)) {
		/* an event on another CPU closes it right now, or has done so */
		struct wait_ctx c = { .t = t };

		bpf_loop(1 << 16, wait_done, &c, 0);
	} else {
		sw.now_ns = bpf_ktime_get_ns();
		put_raw(t, CP_RAW_CLOSE, &sw, 0);
		account_close(&t->account, &cp_window, sw.now_ns, &first, &second);
		if (first.kind == ACCOUNT_RUNNING) {
			cp_running_done(t, &w, &first);
			look_at_witness(t, task, sw.now_ns);
		} else {
			cp_interval_done(t, &w, &first);
			cp_interval_done(t, &w, &second);
		}
		t->done = 1;
	}
	finish_waits(t);
	report_thread(t, task, cp_window.end_ns);
	return 0;
}
