/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack, from its frames to its number: hashed over content, sent to user space once. */
#ifndef CP_BPF_STACK_BPF_H
#define CP_BPF_STACK_BPF_H

#include "bpf/walk.bpf.h"

struct hash_ctx {
	const u64 *frames;
	struct cp_stack_key key;
};

static long hash_frame(u32 i, struct hash_ctx *c)
{
	cp_stack_hash(&c->key, c->frames[BOUND(i, CP_FRAMES_MAX)]);
	return 0;
}

/* Sends a stack that user space has not seen. 0 = the ring is full. */
static __always_inline bool send_stack(struct walk_scratch *s, u32 id, u32 kernel_cnt)
{
	struct walk *w = &s->walk;
	struct cp_event_stack head = {
		.event = CP_EVENT_STACK,
		.stop = w->stop,
		.kernel_cnt = kernel_cnt,
		.user_cnt = w->cnt,
		.id = id,
	};
	u32 kernel_bytes = kernel_cnt * 8, user_bytes = w->cnt * 8;
	struct bpf_dynptr ptr;

	__builtin_memcpy(head.fp_mask, w->fp_mask, sizeof(head.fp_mask));
	__builtin_memcpy(head.signal_mask, w->signal_mask, sizeof(head.signal_mask));
	if (kernel_bytes > CP_FRAMES_MAX * 8 || user_bytes > CP_FRAMES_MAX * 8)
		return true;
	if (bpf_ringbuf_reserve_dynptr(&cp_ring, sizeof(head) + kernel_bytes + user_bytes, 0,
				       &ptr)) {
		bpf_ringbuf_discard_dynptr(&ptr, 0);
		return false;
	}
	bpf_dynptr_write(&ptr, 0, &head, sizeof(head), 0);
	if (kernel_bytes)
		bpf_dynptr_write(&ptr, sizeof(head), s->kernel_frames, kernel_bytes, 0);
	if (user_bytes)
		bpf_dynptr_write(&ptr, sizeof(head) + kernel_bytes, w->frames, user_bytes, 0);
	bpf_ringbuf_submit_dynptr(&ptr, ring_flags());
	return true;
}

/* The number of the stack in the scratch; 0 when it could not be kept (counted).
 * verifier: a global function, see walk_current() */
__weak u32 stack_number(struct walk_scratch *s, long kernel_bytes)
{
	u32 kernel_cnt = kernel_bytes > 0 ? (u32)kernel_bytes / 8 : 0, *known, id;
	struct hash_ctx c = {};
	struct walk *w;

	if (!s)
		return 0;
	w = &s->walk;
	c.key.a = kernel_cnt | w->cnt << 8 | w->stop << 16;
	c.key.b = w->fp_mask[0];
	c.frames = s->kernel_frames;
	bpf_loop(kernel_cnt, hash_frame, &c, 0);
	c.frames = w->frames;
	bpf_loop(w->cnt, hash_frame, &c, 0);
	known = bpf_map_lookup_elem(&cp_stacks, &c.key);
	if (known)
		return *known;
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

static __always_inline struct walk_scratch *scratch_of(u32 family)
{
	u32 at = bpf_get_smp_processor_id() * WALK_FAMILIES + family;

	return bpf_map_lookup_elem(&cp_scratch, &at);
}

/* The current task's stack, kernel part from ctx; any program but the census. */
static __always_inline u32 stack_of_current(void *ctx, struct task_struct *task, u32 family,
					    const struct cp_process *p)
{
	struct walk_scratch *s = scratch_of(family);
	long kernel_bytes = 0;
	u32 id;

	if (!s)
		return 0;
	if (s->busy) {
		lose(CP_LOSS_SCRATCH_BUSY, 0);
		return 0;
	}
	s->busy = 1;
	if (cp_config.kernel_stacks)
		kernel_bytes = bpf_get_stack(ctx, s->kernel_frames, CP_FRAMES_MAX * 8, 0);
	if (walk_begin(&s->walk, task, p) && cp_config.user_stacks &&
	    walk_registers(&s->walk, (struct pt_regs *)bpf_task_pt_regs(task)))
		walk_current(s);
	id = stack_number(s, kernel_bytes);
	s->busy = 0;
	return id;
}

#endif
