/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that cannot be walked in the kernel, since user space has not answered yet to the announcement of a process or
 * of new code in it: registers and the inner part of the stack are copied, and walked there (user/capture/copies.h).
 * Programs that live for milliseconds are mostly seen so. */
#ifndef CP_BPF_COPY_BPF_H
#define CP_BPF_COPY_BPF_H

#include "bpf/walk.bpf.h"

enum {
	PAGE_BYTES = 4096,
};

#ifdef bpf_target_x86
/* How many pages of a stack are copied at most, after the first piece of one: fewer, the more is unread in the ring.
 * Samples come by the thousand while the reader waits for a file to be compiled. */
static __always_inline u32 copy_pages(void)
{
	u64 unread = bpf_ringbuf_query(&cp_ring, BPF_RB_AVAIL_DATA);

	if (unread < cp_config.copy_bytes / 4)
		return CP_COPY_MAX_BYTES / PAGE_BYTES - 1;
	return unread < cp_config.copy_bytes / 2 ? 2 : 1;
}

/* Up to the first page that cannot be read. verifier: a global function, see walk_current() */
__weak u32 copy_user_stack(struct walk_scratch *s)
{
	u32 pages = copy_pages(), i;
	u64 sp, size, at = 0;

	if (!s)
		return 0;
	sp = s->walk.sp;
	size = PAGE_BYTES - (sp & (PAGE_BYTES - 1));
	for (i = 0; i < CP_COPY_MAX_BYTES / PAGE_BYTES && i <= pages; i++) {
		hide(size);
		if (size > PAGE_BYTES ||
		    bpf_probe_read_user(&s->copy[BOUND(at, CP_COPY_MAX_BYTES - 1)], size,
					(void *)(sp + at)))
			break;
		at += size;
		size = PAGE_BYTES;
	}
	((struct cp_event_copy *)s->copy_head)->cut =
		i > pages || i == CP_COPY_MAX_BYTES / PAGE_BYTES;
	return at < CP_COPY_MAX_BYTES ? at : CP_COPY_MAX_BYTES - 8; /* fits its mask, below */
}

static __always_inline void copy_registers(u64 *to, const struct walk *w,
					   const struct pt_regs *regs)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = w->ip;
}

/* Whether the current task's stack is one for user space to walk; its registers are then in the scratch. */
__weak int copy_wanted(struct walk_scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!s || !cp_config.dwarf || !cp_config.user_stacks ||
	    (s->walk.stop != CP_STOP_MAPS_CHANGED && s->walk.stop != CP_STOP_NO_ROWS))
		return 0;
	find_return_probes(&s->walk, task);
	if (!walk_registers(&s->walk, regs))
		return 0;
	copy_registers(((struct cp_event_copy *)s->copy_head)->regs, &s->walk, regs);
	return 1;
}

/* The scratch holds the kernel part and the registers. Returns the stack's number, 0 if there is no room. */
__weak u32 copy_send(struct walk_scratch *s, u32 process, u32 kernel_cnt)
{
	struct cp_event_copy *e;
	u32 stack_bytes, kernel_bytes = kernel_cnt * 8;
	struct bpf_dynptr ptr;

	if (!s || kernel_bytes > CP_FRAMES_MAX * 8 ||
	    bpf_ringbuf_query(&cp_ring, BPF_RB_AVAIL_DATA) > cp_config.copy_bytes)
		return 0;
	stack_bytes = copy_user_stack(s);
	if (!stack_bytes)
		return 0;
	stack_bytes = BOUND(stack_bytes, CP_COPY_MAX_BYTES - 1);
	e = (struct cp_event_copy *)s->copy_head;
	e->event = CP_EVENT_COPY;
	e->stop = s->walk.stop;
	e->kernel_cnt = kernel_cnt;
	e->process = process;
	e->stack_bytes = stack_bytes;
	e->id = next_stack();
	if (!e->id)
		return 0;
	if (bpf_ringbuf_reserve_dynptr(&cp_ring, sizeof(*e) + kernel_bytes + stack_bytes, 0,
				       &ptr)) {
		bpf_ringbuf_discard_dynptr(&ptr, 0);
		return 0;
	}
	bpf_dynptr_write(&ptr, 0, e, sizeof(*e), 0);
	if (kernel_bytes)
		bpf_dynptr_write(&ptr, sizeof(*e), s->kernel_frames, kernel_bytes, 0);
	/* 6.1 forgets the bounds of what the compiler has put on the stack */
	bpf_dynptr_write(&ptr, sizeof(*e) + kernel_bytes, s->copy,
			 BOUND(stack_bytes, CP_COPY_MAX_BYTES - 1), 0);
	bpf_ringbuf_submit_dynptr(&ptr, ring_flags());
	return e->id;
}
#endif

#endif
