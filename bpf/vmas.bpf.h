/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The executable mappings of the current process, from the kernel's own tree of them, at the moment when they have
 * changed: a program that lives for milliseconds is gone before anybody reads its /proc/PID/maps.
 *
 * Since 6.1 the tree is a maple tree (Documentation/core-api/maple_tree.rst): nodes of 256 bytes with up to 16 slots,
 * slot i up to the address pivot[i]; what the pointer to a node does not need of its low bits tells the kind of node.
 * Whoever calls holds the lock of the memory or is its only user. */
#ifndef CP_BPF_VMAS_BPF_H
#define CP_BPF_VMAS_BPF_H

#include "bpf/state.bpf.h"
#include "bpf/rows.bpf.h"

#define VM_EXEC	   0x04
#define MINOR_BITS 20

enum {
	MAPLE_LEAF_64 = 1, /* enum maple_type */
	MAPLE_RANGE_64 = 2,
	MAPLE_ARANGE_64 = 3,
	MAPLE_RANGE_SLOTS = 16,
	MAPLE_ARANGE_SLOTS = 10,
	MAPLE_WORDS = 32,
	MAPLE_DEPTH_MAX = 8,
	MAPLE_STEPS_MAX = 4096, /* a process with more slots than that is left to /proc */
	VMA_SEARCHES = 64,
	VMA_TRIES = 8,
};

/* A node on the way to the slot that is looked at. */
struct maple_place {
	u64 words[MAPLE_WORDS];
	u64 max;  /* last address of the node */
	u32 type; /* enum maple_type */
	u32 at;	  /* next slot */
};

struct vma_search {
	struct maple_place places[MAPLE_DEPTH_MAX];
	struct cp_told told;
	u32 busy;
	u32 depth, cnt;
	u32 failed; /* what was found is not all */
	u64 vdso;
};

/* Programs at these tracepoints may be preempted, so that a search does not belong to a CPU: it is taken and given back. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VMA_SEARCHES);
	__type(key, u32);
	__type(value, struct vma_search);
} cp_vma_searches __weak SEC(".maps");

static __always_inline struct vma_search *search_at(u32 number)
{
	u32 at = number - 1;

	return bpf_map_lookup_elem(&cp_vma_searches, &at);
}

static __always_inline void push_node(struct vma_search *s, u64 encoded, u64 max)
{
	struct maple_place *p = &s->places[BOUND(s->depth, MAPLE_DEPTH_MAX - 1)];

	p->max = max;
	p->type = encoded >> 3 & 15;
	p->at = 0;
	if (s->depth >= MAPLE_DEPTH_MAX || p->type < MAPLE_LEAF_64 || p->type > MAPLE_ARANGE_64 ||
	    bpf_probe_read_kernel(p->words, sizeof(p->words), (void *)(encoded & ~0xffULL))) {
		s->failed = 1;
		return;
	}
	s->depth++;
}

static __always_inline void take_vma(struct vma_search *s, struct vm_area_struct *vma)
{
	struct cp_vma *v = &s->told.vmas[BOUND(s->cnt, CP_VMAS_MAX - 1)];
	struct file *file;
	struct inode *inode;
	u32 dev;

	if (!(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return;
	if (s->cnt >= CP_VMAS_MAX) {
		s->failed = 1;
		return;
	}
	s->cnt++;
	file = BPF_CORE_READ(vma, vm_file);
	v->start = BPF_CORE_READ(vma, vm_start);
	v->end = BPF_CORE_READ(vma, vm_end);
	v->off_bytes = v->inode = v->dev_major = v->dev_minor = 0;
	v->vdso = v->start == s->vdso;
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	dev = BPF_CORE_READ(inode, i_sb, s_dev);
	v->off_bytes = BPF_CORE_READ(vma, vm_pgoff) << 12;
	v->inode = BPF_CORE_READ(inode, i_ino);
	v->dev_major = dev >> MINOR_BITS;
	v->dev_minor = dev & ((1U << MINOR_BITS) - 1);
}

/* verifier: what bpf_loop hands on lies on the stack */
struct vma_ctx {
	struct vma_search *search;
};

/* One slot. */
static long maple_step(u32 i, struct vma_ctx *c)
{
	struct vma_search *s = c->search;
	u64 pivot, slot, pivot_word, slot_word;
	struct maple_place *p;
	u32 at, slot_cnt;

	if (!s->depth || s->failed)
		return 1;
	p = &s->places[BOUND(s->depth - 1, MAPLE_DEPTH_MAX - 1)];
	if (p->type == MAPLE_ARANGE_64) {
		slot_cnt = MAPLE_ARANGE_SLOTS;
		pivot_word = bpf_core_field_offset(struct maple_arange_64, pivot) / 8;
		slot_word = bpf_core_field_offset(struct maple_arange_64, slot) / 8;
	} else {
		slot_cnt = MAPLE_RANGE_SLOTS;
		pivot_word = bpf_core_field_offset(struct maple_range_64, pivot) / 8;
		slot_word = bpf_core_field_offset(struct maple_range_64, slot) / 8;
	}
	at = p->at++;
	if (at >= slot_cnt) {
		s->depth--;
		return 0;
	}
	pivot = p->words[BOUND(pivot_word + at, MAPLE_WORDS - 1)];
	/* the last slot has no pivot; a node that is not full ends with a pivot of 0 or its own end */
	if (at == slot_cnt - 1 || !pivot || pivot >= p->max) {
		pivot = p->max;
		p->at = MAPLE_RANGE_SLOTS;
	}
	slot = p->words[BOUND(slot_word + at, MAPLE_WORDS - 1)];
	if (p->type != MAPLE_LEAF_64)
		push_node(s, slot, pivot);
	else if (slot && !(slot & 3))
		take_vma(s, (struct vm_area_struct *)slot);
	return 0;
}

static __always_inline void search_current(struct vma_search *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct vma_ctx c = { .search = s };
	u64 root;

	root = (u64)BPF_CORE_READ(task, mm, mm_mt.ma_root);
	s->vdso = 0;
#ifdef bpf_target_x86
	s->vdso = (u64)BPF_CORE_READ(task, mm, context.vdso);
#endif
	s->depth = s->cnt = s->failed = 0;
	s->told.exe[0] = 0;
	if ((root & 3) != 2 || root <= 4096) /* no tree, or one mapping alone */
		return;
	push_node(s, root, ~0ULL);
	bpf_loop(MAPLE_STEPS_MAX, maple_step, &c, 0);
	if (s->failed || s->depth)
		s->cnt = 0;
}

/* The number of a search that holds the current process's mappings; 0: there is none to be had. It is given back by
 * busy = 0.
 * verifier: a global function, see walk_current() */
__weak u32 vmas_of_current(void)
{
	u32 first = bpf_get_prandom_u32();
	struct vma_search *s;

	if (!bpf_core_type_exists(struct maple_range_64))
		return 0;
	for (u32 i = 0; i < VMA_TRIES; i++) {
		u32 number = BOUND(first + i, VMA_SEARCHES - 1) + 1;

		s = search_at(number);
		if (!s || __sync_lock_test_and_set(&s->busy, 1))
			continue;
		search_current(s);
		return number;
	}
	return 0;
}

#endif
