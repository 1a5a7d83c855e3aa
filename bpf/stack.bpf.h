/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack, from its frames to its number: hashed over content, sent to user space once. */
#ifndef CP_BPF_STACK_BPF_H
#define CP_BPF_STACK_BPF_H

#include "bpf/copy.bpf.h"
#include "bpf/kernel_stack.bpf.h"
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

static __always_inline void unwind_kernel(void *ctx, struct walk_scratch *s,
					  struct kernel_part *part, u32 inner_frames)
{
	long bytes = bpf_get_stack(ctx, s->kernel_frames, CP_FRAMES_MAX * 8, inner_frames);

	part->cnt = bytes > 0 ? (u32)bytes / 8 : 0;
	part->unwound = 1;
}

static __always_inline void hash_kernel(struct walk_scratch *s, struct kernel_part *part)
{
	struct hash_ctx c = { .frames = s->kernel_frames };

	bpf_loop(part->cnt, hash_frame, &c, 0);
	part->hash = c.key;
}

/* A stack was remembered; --verify unwinds it all the same. */
static __always_inline void count_recalled(void *ctx, struct walk_scratch *s,
					   struct kernel_part *part)
{
	struct cp_stack_key recalled = part->hash;
	u32 zero = 0;
	struct cp_cost *cost = bpf_map_lookup_elem(&cp_costs, &zero);

	if (!cost)
		return;
	cost->recalled += cp_window.start_ns != ~0ULL;
	if (!cp_config.check_recalled)
		return;
	unwind_kernel(ctx, s, part, KERNEL_INNER_FRAMES);
	hash_kernel(s, part);
	if (recalled.a != part->hash.a || recalled.b != part->hash.b)
		cost->recalled_wrong++;
}

/* What a thread does in the kernel is mostly told by where it entered. An interrupt may come anywhere. */
#ifdef bpf_target_x86
static __always_inline u64 kernel_site(struct task_struct *task, struct pt_regs *regs)
{
	if (task->flags & PF_KTHREAD)
		return (u64)task;
	return (long)regs->orig_ax < 0 ? regs->orig_ax : regs->ip ^ regs->orig_ax << 48;
}
#endif

/* The kernel part of a stack at a switch, unwound only if it is a new one. */
static __always_inline void kernel_part_of(void *ctx, struct walk_scratch *s,
					   struct task_struct *task, struct kernel_part *part)
{
#ifdef bpf_target_x86
	u32 cpu = bpf_get_smp_processor_id();
	struct kernel_memory *m = bpf_map_lookup_elem(&cp_kernel_memory, &cpu);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 bytes = (u64)regs - (u64)ctx;

	hide(bytes);
	if (m && bytes >= 8 && bytes <= KERNEL_WORDS_MAX * 8 &&
	    !bpf_probe_read_kernel(m->words, bytes, ctx)) {
		m->cnt = bytes / 8;
		part->site = kernel_site(task, regs);
		if (cp_recall(m, part)) {
			count_recalled(ctx, s, part);
		} else {
			unwind_kernel(ctx, s, part, KERNEL_INNER_FRAMES);
			hash_kernel(s, part);
			cp_learn(m, s, part);
		}
		return;
	}
#endif
	unwind_kernel(ctx, s, part, KERNEL_INNER_FRAMES);
	hash_kernel(s, part);
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

/* The number of the stack in the scratch if user space has it already, else 0; part->hash becomes that of the whole
 * stack. verifier: a global function, as stack_new(), see walk_current() */
__weak u32 stack_known(struct walk_scratch *s, struct kernel_part *part)
{
	struct hash_ctx c = {};
	u32 *known;

	if (!s || !part)
		return 0;
	c.frames = s->walk.frames;
	c.key = part->hash;
	bpf_loop(s->walk.cnt, hash_frame, &c, 0);
	cp_stack_hash(&c.key, part->cnt | s->walk.cnt << 8 | s->walk.stop << 16);
	cp_stack_hash(&c.key, s->walk.fp_mask[0]);
	if (s->python.process) {
		/* names are read in the process, so its number counts too */
		cp_stack_hash(&c.key, (u64)s->python.process << 32 | s->python.stop);
		c.python = s->python.frames;
		bpf_loop(s->python.cnt, hash_python, &c, 0);
	}
	part->hash = c.key;
	known = bpf_map_lookup_elem(&cp_stacks, &c.key);
	return known ? *known : 0;
}

/* Its number, now that it is sent; 0 when it could not be kept (counted). */
__weak u32 stack_new(struct walk_scratch *s, struct kernel_part *part)
{
	struct cp_stack_key key;
	u32 id;

	if (!s || !part)
		return 0;
	if (s->python.current)
		cp_mark_python(s);
	key = part->hash;
	id = next_stack();
	if (!id)
		return 0;
	if (!send_stack(s, id, part->cnt)) {
		lose(CP_LOSS_RING_FULL_STACK, 0);
		return 0;
	}
	/* two CPUs may both send a new stack, under two numbers: the same frames, so no harm */
	if (bpf_map_update_elem(&cp_stacks, &key, &id, BPF_ANY))
		lose(CP_LOSS_STACK_MAP_FULL, 0);
	return id;
}

static __always_inline u32 stack_number(struct walk_scratch *s, struct kernel_part *part)
{
	u32 id = stack_known(s, part);

	return id ? id : stack_new(s, part);
}

static __always_inline struct walk_scratch *scratch_of(u32 family)
{
	u32 at = bpf_get_smp_processor_id() * WALK_FAMILIES + family;

	return bpf_map_lookup_elem(&cp_scratch, &at);
}

/* The number of a stack that user space is to walk; 0: it is none, or there is no room. */
static __always_inline u32 copy_of_current(void *ctx, struct walk_scratch *s,
					   struct kernel_part *part, const struct cp_process *p)
{
#ifdef bpf_target_x86
	if (!p || !copy_wanted(s))
		return 0;
	if (cp_config.kernel_stacks && !part->unwound)
		unwind_kernel(ctx, s, part, KERNEL_INNER_FRAMES);
	return copy_send(s, p->id, part->cnt);
#else
	return 0;
#endif
}

/* The current task's stack, kernel part from ctx; any program but the census. */
static __always_inline u32 stack_of_current(void *ctx, struct task_struct *task, u32 family,
					    const struct cp_process *p)
{
	struct walk_scratch *s = scratch_of(family);
	struct kernel_part part = {};
	u32 id;

	if (!s)
		return 0;
	if (s->busy) {
		lose(CP_LOSS_SCRATCH_BUSY, 0);
		return 0;
	}
	s->busy = 1;
	no_python(s);
	if (cp_config.kernel_stacks) {
		if (family == 0) {
			kernel_part_of(ctx, s, task, &part);
		} else {
			unwind_kernel(ctx, s, &part, 0);
			hash_kernel(s, &part);
		}
	}
	if (walk_begin(&s->walk, task, p) && cp_config.user_stacks &&
	    walk_registers(&s->walk, (struct pt_regs *)bpf_task_pt_regs(task))) {
		walk_current(s);
		if (s->walk.python && p)
			cp_walk_python(s, p->id);
	}
	id = copy_of_current(ctx, s, &part, p);
	if (!id)
		id = stack_known(s, &part);
	if (!id) {
		if (cp_config.kernel_stacks && !part.unwound)
			unwind_kernel(ctx, s, &part, KERNEL_INNER_FRAMES);
		id = stack_new(s, &part);
	}
	s->busy = 0;
	return id;
}

#endif
