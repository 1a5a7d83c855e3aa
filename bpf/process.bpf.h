/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes as owners of code: a new number whenever equal addresses may mean other code. */
#ifndef CP_BPF_PROCESS_BPF_H
#define CP_BPF_PROCESS_BPF_H

#include "bpf/cgroup.bpf.h"
#include "bpf/state.bpf.h"
#include "bpf/vmas.bpf.h"

#define CLONE_VM     0x00000100
#define CLONE_THREAD 0x00010000

static __always_inline struct cp_process *process_of(struct task_struct *task)
{
	u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&cp_processes, &tgid);
}

/* What comes after the window is nobody's business. */
static __always_inline bool window_over(void)
{
	return bpf_ktime_get_ns() >= cp_window.end_ns;
}

/* Children of a watched process are watched, in a cgroup those that are born there. With -t only the named
 * threads are. */
static __always_inline bool follows(struct task_struct *parent, struct task_struct *child)
{
	struct cp_thread *t = thread_of(parent);

	if (cp_config.all)
		return true;
	if (cp_config.cgroups)
		return in_cgroups(child);
	return t && !(t->flags & CP_THREAD_ALONE);
}

static __always_inline u64 exec_vm_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, mm, exec_vm);
}

static __always_inline void describe_process(struct task_struct *task, const struct cp_process *p,
					     struct cp_event_process *e)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	__builtin_memset(e, 0, sizeof(*e));
	e->event = CP_EVENT_PROCESS;
	e->kernel = p->kernel;
	e->process = p->id;
	e->tgid = tid_of(leader);
	e->ns_tgid = ns_tid_of(leader);
	e->parent_tgid = tid_of(BPF_CORE_READ(leader, real_parent));
	e->generation = p->generation;
	e->start_ns = p->start_ns;
	e->time_ns = bpf_ktime_get_ns();
	e->cgroup = cgroup_number(cgroup_of(leader));
	BPF_CORE_READ_STR_INTO(&e->comm, leader, comm);
}

/* Why a process is announced, and what it was before. */
struct announcement {
	u32 why, before;
	struct vma_search *vmas; /* what is told of its mappings; 0: nothing, or as before */
};

/* The event is written in the ring: the stack of the programs is too short for it on 6.1. */
static __always_inline void send_process(struct task_struct *task, const struct cp_process *p,
					 const struct announcement *a)
{
	struct cp_event_process *e;

	if (a->vmas)
		e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e) + sizeof(a->vmas->told), 0);
	else
		e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e) {
		lose(CP_LOSS_RING_FULL_THREAD, 0);
		return;
	}
	describe_process(task, p, e);
	e->why = a->why;
	e->before = a->before;
	if (a->vmas && !bpf_probe_read_kernel(e + 1, sizeof(a->vmas->told), &a->vmas->told)) {
		e->told = 1;
		e->vma_cnt = a->vmas->cnt;
	}
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/* Makes *p the process of the task, under a new number, and announces it. space 0: its mappings are new too. */
static __always_inline void store_process(struct task_struct *task, struct cp_process *p,
					  const struct announcement *a)
{
	u32 tgid = task->tgid;

	p->id = __sync_fetch_and_add(&cp_next_process, 1) + 1;
	if (!p->space)
		p->space = p->id;
	p->kernel = !!(task->flags & PF_KTHREAD);
	p->exec_vm = exec_vm_of(task);
	p->mm = (u64)BPF_CORE_READ(task, mm);
	p->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	if (bpf_map_update_elem(&cp_processes, &tgid, p, BPF_ANY)) {
		lose(CP_LOSS_PROCESS_MAP_FULL, 0);
		return;
	}
	send_process(task, p, a);
}

/* A watched process forked: the child starts with its parent's mappings. */
static __always_inline void process_forked(struct task_struct *parent, struct task_struct *child,
					   u64 clone_flags)
{
	struct announcement a = { .why = CP_PROCESS_FORK };
	struct cp_process *from, p = {};

	if (clone_flags & CLONE_THREAD)
		return;
	from = process_of(parent);
	if (from) {
		p.space = from->space;
		a.before = from->id;
	}
	store_process(child, &p, &a);
}

/* exec, or a change of executable mappings: rows must be fetched again. vmas: a search with the task's, or 0. */
static __always_inline void process_changed(struct task_struct *task, u32 why,
					    struct vma_search *vmas)
{
	struct announcement a = { .why = why, .vmas = vmas };
	struct cp_process *from = process_of(task), p = {};

	if (from) {
		p.generation = from->generation + 1;
		a.before = from->id;
	}
	store_process(task, &p, &a);
}

/* The same in the task itself; bprm of an exec. */
static __always_inline void process_changed_here(struct task_struct *task, u32 why,
						 struct linux_binprm *bprm)
{
	u32 number = vmas_of_current();
	struct vma_search *vmas = number ? search_at(number) : 0;

	if (vmas && bprm)
		bpf_probe_read_kernel_str(vmas->told.exe, sizeof(vmas->told.exe),
					  BPF_CORE_READ(bprm, interp));
	process_changed(task, why, vmas);
	if (vmas)
		vmas->busy = 0;
}

/* The leader of a process is freed after all of its threads have died, except for the last steps of one that took
 * itself away; until then nothing of the process is forgotten. Its number may be another's by now. */
static __always_inline void process_ended(struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct cp_process *p;
	struct cp_event_end *e;
	u32 id;

	if (task->pid != tgid)
		return;
	p = bpf_map_lookup_elem(&cp_processes, &tgid);
	if (!p || p->start_ns != task->start_boottime)
		return;
	id = p->id;
	bpf_map_delete_elem(&cp_processes, &tgid);
	e = bpf_ringbuf_reserve(&cp_ring, sizeof(*e), 0);
	if (!e)
		return; /* its room is not used again */
	__builtin_memset(e, 0, sizeof(*e));
	e->event = CP_EVENT_END;
	e->process = id;
	bpf_ringbuf_submit(e, ring_flags());
}

/* Moved to another cgroup: what comes now belongs there. */
static __always_inline void process_moved(struct task_struct *task)
{
	struct announcement a = { .why = CP_PROCESS_CGROUP };
	struct cp_process *from = process_of(task), p = {};

	if (!from)
		return;
	p.generation = from->generation + 1;
	p.space = from->space;
	a.before = from->id;
	store_process(task, &p, &a);
}

/* Seen by the census: for the first time, or after a change that happened before its threads were watched. */
static __always_inline void process_found(struct task_struct *task)
{
	struct cp_process p = {}, *known = process_of(task);
	struct announcement a = { .why = CP_PROCESS_CENSUS };

	if (!known)
		store_process(task, &p, &a);
	else if (known->mm != (u64)BPF_CORE_READ(task, mm) || known->exec_vm != exec_vm_of(task))
		process_changed(task, CP_PROCESS_MAPS, 0);
}

#endif
