/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps, knobs and counters that the program families share. Defined weakly in each object; the linker
 * makes one of them. */
#ifndef CP_BPF_STATE_BPF_H
#define CP_BPF_STATE_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "bpf/account.h"
#include "bpf/events.h"
#include "bpf/row.h"

#define PF_KTHREAD     0x00200000
#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000

/* Keeps the compiler from reasoning about x, so that the verifier sees the check that the source has. */
#define hide(x) asm volatile("" : "+r"(x))

/* Equal to enum loss_cause in user/model/kinds.h. */
enum cp_loss_cause {
	CP_LOSS_SUM_MAP_FULL = 0,
	CP_LOSS_STACK_MAP_FULL = 1,
	CP_LOSS_UPDATE_BUSY = 2,
	CP_LOSS_NO_STORAGE = 3,
	CP_LOSS_RING_FULL_STACK = 5,
	CP_LOSS_RING_FULL_INTERVAL = 6,
	CP_LOSS_RING_FULL_THREAD = 7,
	CP_LOSS_WALK_STOPPED = 8,
	CP_LOSS_PAGE_NOT_RESIDENT = 9,
	CP_LOSS_SAMPLE_SKIPPED = 11,
	CP_LOSS_WAKEUP_UNSEEN = 14,
	CP_LOSS_SCRATCH_BUSY = 15,
	CP_LOSS_NEGATIVE_TIME = 16,
	CP_LOSS_PROCESS_MAP_FULL = 17,
	CP_LOSS_SWITCH_UNSEEN = 18,
	CP_LOSS_RESUME_UNSEEN = 19,
	CP_LOSS_CNT = 20,
};

/* What one event of a thread ends. */
struct pieces {
	struct account_piece running, first, second;
};

/* Waits that are over but not booked, since their stack is still to be walked. Taken by whoever books them. */
enum cp_waiting {
	CP_WAITING = 1,
	CP_WAITING_LAST = 2, /* the event that ended them also closed the thread */
};

/* A thread that is watched. */
struct cp_thread {
	struct account account;
	u32 tid, tgid, ns_tid,
		ns_tgid;    /* noted while it lives: a dead task has no number any more */
	u32 stack, process; /* of the last switch-out */
	u32 census_stack, census_process;
	u32 sample_stack, sample_process;
	u32 sampled; /* sample_stack is set */
	u32 closed;  /* taken by whoever accounts the end of the window first */
	u32 done;    /* ... and finished */
	u32 flags;   /* enum cp_thread_flag */
	u32 reported;
	u32 waiting; /* enum cp_waiting */
	u64 first_ns;
	u64 running_ns, runnable_ns, blocked_ns;
	u64 voluntary_cnt, involuntary_cnt, sample_cnt;
	u64 nvcsw;			 /* the kernel's count at the last look */
	u64 exec_last_ns, delay_last_ns; /* the kernel's clocks at the last look */
	u64 exec_ns, delay_ns;		 /* what they gained inside the window */
	u64 run_since_ns;		 /* start of the current stay on a CPU */
	u64 exec_mark_ns;		 /* sum_exec_runtime at the last switch that was seen */
	u64 python_thread;		 /* address of its Python thread state */
	u32 python_space;		 /* ... in this address space */
	u32 python_misses;
	struct pieces waits;
};

const volatile struct cp_config cp_config __weak = {};
struct account_window cp_window __weak = { ~0ULL, ~0ULL };
struct cp_loss cp_loss[CP_LOSS_CNT] __weak = {};
/* The PID namespace that causeprof runs in: how deep it is nested, and which of all at that depth. */
__u32 cp_viewer_level __weak = 0;
__u64 cp_viewer_ns __weak = 0;
__u32 cp_census_blind __weak = 0; /* the census leaves stacks to a later one */
__u32 cp_next_process __weak = 0;
__u32 cp_next_stack __weak = 0;
__u32 cp_sum_cnt __weak = 0; /* keys that ever came into cp_sums */
/* 0 or CP_SUM_SIDE: where sums are added now. User space takes those of the other side. */
__u32 cp_side __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cp_thread);
} cp_threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct cp_process);
} cp_processes __weak SEC(".maps");

/* Where the mappings of an address space lie, by its number. Filled by user space alone, so that it never
 * races with a process that changes again. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct cp_range);
} cp_ranges __weak SEC(".maps");

/* PIDs or TIDs to watch, as causeprof's own PID namespace numbers them: value 1 = process, 2 = thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32);
} cp_targets __weak SEC(".maps");

/* Cgroups to watch, by number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u32);
} cp_cgroups __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, struct cp_sum_key);
	__type(value, struct cp_sum);
} cp_sums __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, struct cp_stack_key);
	__type(value, u32);
} cp_stacks __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} cp_ring __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cp_cost);
} cp_costs __weak SEC(".maps");

static __always_inline void lose(u32 cause, u64 ns)
{
	if (cause >= CP_LOSS_CNT)
		return;
	__sync_fetch_and_add(&cp_loss[cause].events, 1);
	__sync_fetch_and_add(&cp_loss[cause].ns, ns);
}

/* The number of a new stack, 0 when there is none left (counted). */
static __always_inline u32 next_stack(void)
{
	u32 id;

	if (cp_next_stack < CP_STACKS_MAX) { /* so that it never wraps */
		id = __sync_fetch_and_add(&cp_next_stack, 1) + 1;
		if (id < CP_STACKS_MAX)
			return id;
	}
	lose(CP_LOSS_STACK_MAP_FULL, 0);
	return 0;
}

static __always_inline u64 ring_flags(void)
{
	if (bpf_ringbuf_query(&cp_ring, BPF_RB_AVAIL_DATA) > cp_config.wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

static __always_inline struct cp_thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&cp_threads, task, 0, 0);
}

/* Whether it is of the kind that is asked for: the kernel's own threads have no address space and never leave
 * the kernel. */
static __always_inline bool right_kind(struct task_struct *task)
{
	bool kernel = task->flags & PF_KTHREAD;

	return kernel ? !cp_config.user_threads : !cp_config.kernel_threads;
}

/* The number of a task in the PID namespace at a level of nesting. */
static __always_inline struct upid pid_at_level(struct pid *pid, u32 level)
{
	struct upid upid = {};

	/* numbers[] has level + 1 entries; the size of an entry is the kernel's, not ours */
	bpf_probe_read_kernel(&upid, sizeof(upid),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      (u64)(level & 31) * bpf_core_type_size(struct upid));
	return upid;
}

/* As causeprof itself sees it; 0 if its PID namespace does not have the task. */
static __always_inline u32 tid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid;

	if (!pid || BPF_CORE_READ(pid, level) < cp_viewer_level)
		return 0;
	upid = pid_at_level(pid, cp_viewer_level);
	return (u64)upid.ns == cp_viewer_ns ? upid.nr : 0; /* else a sibling's number */
}

/* In the innermost namespace that it lives in. */
static __always_inline u32 ns_tid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);

	return pid ? pid_at_level(pid, BPF_CORE_READ(pid, level)).nr : 0;
}

/* Called by causeprof itself: takes its own PID namespace for the one whose numbers are told. */
static __always_inline void note_viewer(void)
{
	struct pid *pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);

	cp_viewer_level = BPF_CORE_READ(pid, level);
	cp_viewer_ns = (u64)pid_at_level(pid, cp_viewer_level).ns;
}

enum {
	LOOKS_MAX = 256
};

struct look_ctx {
	struct task_struct *task;
	struct account_switch sw;
	u32 on_cpu;
};

static long look(u32 i, struct look_ctx *c)
{
	struct task_struct *task = c->task;

	c->sw.prev_state = task->__state;
	c->sw.on_rq = task->on_rq != 0; /* or on its way from one queue to another */
	if (bpf_core_field_exists(task->se.sched_delayed))
		c->sw.sched_delayed = task->se.sched_delayed;
	c->on_cpu = task->on_cpu;
	return !account_is_passing(&c->sw, (int)c->on_cpu);
}

/* What a task is doing that nobody has watched so far. From before this on its events must be seen. */
static __always_inline u32 kind_of(struct task_struct *task, struct account_switch *sw)
{
	struct look_ctx c = { .task = task, .sw = *sw };

	bpf_loop(LOOKS_MAX, look, &c, 0);
	*sw = c.sw;
	return account_found_kind(sw, (int)c.on_cpu);
}

/* The kernel's own counts at the moment from which a thread is watched. */
static __always_inline void look_at_clocks(struct cp_thread *t, struct task_struct *task,
					   u64 now_ns)
{
	t->nvcsw = task->nvcsw;
	t->exec_last_ns = t->exec_mark_ns = task->se.sum_exec_runtime;
	t->delay_last_ns = task->sched_info.run_delay;
	t->account.since_ns = t->run_since_ns = now_ns;
}

/* The kernel's own clocks, at the end of a stay on a CPU, or while it goes on (then as old as the last tick); a stay that
 * began before the window counts in proportion. */
static __always_inline void look_at_witness(struct cp_thread *t, struct task_struct *task,
					    u64 now_ns)
{
	u64 exec_ns = task->se.sum_exec_runtime, delay_ns = task->sched_info.run_delay;
	u64 gained_ns = exec_ns - t->exec_last_ns, waited_ns = delay_ns - t->delay_last_ns;
	u64 whole_ns = now_ns - t->run_since_ns, kept_ns = whole_ns;

	t->exec_last_ns = exec_ns;
	t->delay_last_ns = delay_ns;
	if (now_ns <= cp_window.start_ns || t->run_since_ns >= cp_window.end_ns)
		return;
	if (t->run_since_ns < cp_window.start_ns)
		kept_ns = now_ns - cp_window.start_ns;
	if (now_ns > cp_window.end_ns)
		kept_ns -= now_ns - cp_window.end_ns;
	if (kept_ns < whole_ns && whole_ns)
		gained_ns = account_share_ns(gained_ns, kept_ns, whole_ns);
	t->exec_ns += gained_ns;
	t->delay_ns += account_waited_ns(&cp_window, waited_ns, t->run_since_ns);
}

static __always_inline void identify(struct cp_thread *t, struct task_struct *task)
{
	t->tid = tid_of(task);
	t->tgid = tid_of(BPF_CORE_READ(task, group_leader));
	t->ns_tid = ns_tid_of(task);
	t->ns_tgid = ns_tid_of(BPF_CORE_READ(task, group_leader));
}

#endif
