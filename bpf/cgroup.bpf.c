// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cgroups that are made, and processes that are moved between them, while a capture runs. */
#include "bpf/cgroup.bpf.h"
#include "bpf/process.bpf.h"
#include "bpf/sink.bpf.h"

static __always_inline bool is_v2(struct cgroup *cgroup)
{
	return !BPF_CORE_READ(cgroup, root, hierarchy_id);
}

/* A new cgroup has its path told, since it may be gone before anybody looks. */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(cp_cgroup_mkdir, struct cgroup *cgroup, const char *path)
{
	struct cp_event_cgroup *e;

	if (!is_v2(cgroup))
		return 0;
	e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e)
		return 0; /* its name is looked up like an old one's */
	__builtin_memset(e, 0, sizeof(*e));
	e->event = CP_EVENT_CGROUP;
	e->cgroup = cgroup_number(cgroup);
	bpf_probe_read_kernel_str(e->path, sizeof(e->path), path);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Its time counts from here on. The stack of one that sleeps is walked a little later. */
static __always_inline void watch_newcomer(struct task_struct *task)
{
	struct account_switch sw = { .now_ns = bpf_ktime_get_ns() };
	struct cp_process *p;
	struct cp_thread *t;
	u32 kind;

	t = bpf_task_storage_get(&cp_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(CP_LOSS_NO_STORAGE, 0);
		return;
	}
	identify(t, task);
	process_found(task);
	p = process_of(task);
	t->process = t->census_process = p ? p->id : 0;
	look_at_clocks(t, task, sw.now_ns);
	if (sw.now_ns >= cp_window.start_ns)
		t->first_ns = sw.now_ns;
	kind = kind_of(task, &sw);
	if (!__sync_val_compare_and_swap(&t->account.kind, ACCOUNT_NONE, kind | ACCOUNT_BY_CENSUS))
		put_raw(t, CP_RAW_CENSUS, &sw, kind);
}

/* Called with the leader where all of a process moves. User space is told first: a census finds the other threads
 * at once, and another their stacks as soon as the process's code is known. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(cp_cgroup_attach, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	struct cp_event_moved *e;

	if (!is_v2(to))
		return 0;
	if (thread_of(task)) {
		process_moved(task);
		return 0;
	}
	if (!cp_config.cgroups || !right_kind(task) || !in_cgroups(task))
		return 0;
	e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e) {
		lose(CP_LOSS_RING_FULL_THREAD, 0);
		return 0;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->event = CP_EVENT_MOVED;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	if (!task->exit_state)
		watch_newcomer(task);
	return 0;
}
