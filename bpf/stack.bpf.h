/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack, from its frames to its number: hashed over content, sent to user space once. */
#ifndef CP_BPF_STACK_BPF_H
#define CP_BPF_STACK_BPF_H

#include "bpf/python.bpf.h"

struct hash_ctx {
	const u64 *frames;
	const struct cp_python_frame *python;
	struct cp_stack_key key;
};

static long hash_python(u32 i, struct hash_ctx *c)
{
	const struct cp_python_frame *f = &c->python[BOUND(i, CP_PYTHON_FRAMES_MAX - 1)];

	cp_stack_hash(&c->key, f->code);
	cp_stack_hash(&c->key, f->instr);
	return 0;
}

static long hash_frame(u32 i, struct hash_ctx *c)
{
	cp_stack_hash(&c->key, c->frames[BOUND(i, CP_FRAMES_MAX)]);
	return 0;
}

/* Sends a stack that user space has not seen. 0 = the ring is full. */
static __always_inline bool send_stack(struct walk_scratch *s, u32 id, u32 kernel_cnt)
{
	struct walk *w = &s->walk;
	struct cp_event_stack *head = (void *)s->head;
	u32 kernel_bytes = kernel_cnt * 8, user_bytes = w->cnt * 8;
	u32 python_bytes = s->python.cnt * sizeof(struct cp_python_frame);
	struct bpf_dynptr ptr;

	head->event = CP_EVENT_STACK;
	head->stop = w->stop;
	head->kernel_cnt = kernel_cnt;
	head->user_cnt = w->cnt;
	head->id = id;
	head->process = s->python.process;
	head->python_cnt = s->python.cnt;
	head->python_stop = s->python.stop;
	__builtin_memcpy(head->fp_mask, w->fp_mask, sizeof(head->fp_mask));
	__builtin_memcpy(head->signal_mask, w->signal_mask, sizeof(head->signal_mask));
	if (kernel_bytes > CP_FRAMES_MAX * 8 || user_bytes > CP_FRAMES_MAX * 8 ||
	    python_bytes > sizeof(s->python.frames))
		return true;
	if (bpf_ringbuf_reserve_dynptr(
		    &cp_ring, sizeof(*head) + kernel_bytes + user_bytes + python_bytes, 0, &ptr)) {
		bpf_ringbuf_discard_dynptr(&ptr, 0);
		return false;
	}
	bpf_dynptr_write(&ptr, 0, head, sizeof(*head), 0);
	if (kernel_bytes)
		bpf_dynptr_write(&ptr, sizeof(*head), s->kernel_frames, kernel_bytes, 0);
	if (user_bytes)
		bpf_dynptr_write(&ptr, sizeof(*head) + kernel_bytes, w->frames, user_bytes, 0);
	if (python_bytes)
		bpf_dynptr_write(&ptr, sizeof(*head) + kernel_bytes + user_bytes, s->python.frames,
				 python_bytes, 0);
	bpf_ringbuf_submit_dynptr(&ptr, ring_flags());
	return true;
}

/* The number of the stack in the scratch; 0 when it could not be kept (counted). */
static __always_inline u32 stack_number(struct walk_scratch *s, long kernel_bytes)
{
	struct walk *w = &s->walk;
	u32 kernel_cnt = kernel_bytes > 0 ? (u32)kernel_bytes / 8 : 0, *known, id;
	struct hash_ctx c = { .key = { kernel_cnt | w->cnt << 8 | w->stop << 16, w->fp_mask[0] } };

	c.frames = s->kernel_frames;
	bpf_loop(kernel_cnt, hash_frame, &c, 0);
	c.frames = w->frames;
	bpf_loop(w->cnt, hash_frame, &c, 0);
	if (s->python.process) {
		/* names are read in the process, so its number counts too */
		cp_stack_hash(&c.key, (u64)s->python.process << 32 | s->python.stop);
		c.python = s->python.frames;
		bpf_loop(s->python.cnt, hash_python, &c, 0);
	}
	known = bpf_map_lookup_elem(&cp_stacks, &c.key);
	if (known)
		return *known;
	if (s->python.scratch)
		cp_mark_python(s->python.scratch - 1, s->python.space);
	id = __sync_fetch_and_add(&cp_next_stack, 1) + 1;
	if (!send_stack(s, id, kernel_cnt)) {
		lose(CP_LOSS_RING_FULL_STACK, 0);
		return 0;
	}
	/* two CPUs may both send a new stack, under two numbers: the same frames, so no harm */
	if (bpf_map_update_elem(&cp_stacks, &c.key, &id, BPF_ANY))
		lose(CP_LOSS_STACK_MAP_FULL, 0);
	return id;
}

static __always_inline u32 scratch_at(u32 family)
{
	return bpf_get_smp_processor_id() * WALK_FAMILIES + family;
}

static __always_inline void no_python(struct walk_scratch *s)
{
	s->python.cnt = s->python.stop = s->python.process = s->python.scratch = 0;
}

/* Only a stack with Python frames belongs to one process. */
static __always_inline void own_python(struct walk_scratch *s, const struct cp_process *p)
{
	s->python.process = s->python.cnt || s->python.stop ? p->id : 0;
}

/* The current task's stack, kernel part from ctx; any program but the census. */
static __always_inline u32 stack_of_current(void *ctx, struct task_struct *task, u32 family,
					    const struct cp_process *p)
{
	u32 at = scratch_at(family);
	struct walk_scratch *s = bpf_map_lookup_elem(&cp_scratch, &at);
	struct walk_ctx c;
	long kernel_bytes = 0;
	u32 id;

	if (!s)
		return 0;
	if (s->busy) {
		lose(CP_LOSS_SCRATCH_BUSY, 0);
		return 0;
	}
	s->busy = 1;
	no_python(s);
	if (cp_config.kernel_stacks)
		kernel_bytes = bpf_get_stack(ctx, s->kernel_frames, CP_FRAMES_MAX * 8, 0);
	if (walk_begin(s, &c, task, p) && cp_config.user_stacks) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		if (walk_registers(&s->walk, regs)) {
			bpf_loop(CP_FRAMES_MAX, walk_step_current, &c, 0);
			if (!s->walk.stop)
				s->walk.stop = WALK_DEPTH;
			if (s->walk.python && p) {
				cp_walk_python(at, p->space);
				own_python(s, p);
			}
		}
	}
	id = stack_number(s, kernel_bytes);
	s->busy = 0;
	return id;
}

#endif
