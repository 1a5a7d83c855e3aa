/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel stacks of switches, remembered.
 *
 * The kernel unwinds its own stack at some 300 ns a frame: more than all else that a switch costs here. But threads
 * block in few places, and whether this stack is one that was unwound before is cheap to ask:
 *
 *  - The caller's return address lies at an offset from the stack pointer that the code it returns from fixes
 *    (ORC: the CFA counts from sp). So if the innermost frame is the same and each slot that held a return address
 *    holds the same one again, the stack unwinds to the same frames.
 *  - What lies between two slots does not matter: old words of earlier calls stay there, and
 *    CONFIG_RANDOMIZE_KSTACK_OFFSET puts a gap of a random size into each system call's stack. Above the gap is
 *    but the entry code's frame, whose slot counts from the top.
 *  - Which slots count is learnt from stacks that are unwound: all words that equal one of the frames. These are
 *    the return addresses, and perhaps stale copies of them. A copy too many only makes the stack be unwound again;
 *    then only the places stay that held one both times.
 *  - A frame whose address is not on the stack is one that a return probe replaced: not remembered.
 *
 * What is read starts at the program's context, which a raw tracepoint has on the stack, in the frame below
 * __schedule's. `record --verify` unwinds all the same and compares. */
#ifndef CP_BPF_KERNEL_STACK_BPF_H
#define CP_BPF_KERNEL_STACK_BPF_H

#include "bpf/walk.bpf.h"

enum {
	KERNEL_WORDS_MAX = 512, /* deeper stacks are unwound */
	KERNEL_SLOTS_MAX = 32,
	KERNEL_SLOTS_STEP = 8,
	KERNEL_FRAMES_MAX = 32,
	KERNEL_INNER_FRAMES =
		2, /* the program and what called it: below the context, always the same */
	KERNEL_SETS = 128,
	KERNEL_WAYS = 4,
};

struct kernel_known {
	struct cp_stack_key hash; /* of the frames */
	u64 site;		  /* where the thread entered the kernel */
	u64 places[KERNEL_WORDS_MAX /
		   64]; /* bit i: word i above the context has always held a frame */
	u32 cnt;	/* frames */
	u32 need;	/* words that there must be */
	u32 slot_cnt;	/* 0: too many places yet */
	u32 value
		[KERNEL_SLOTS_MAX]; /* lower halves of what the slots hold; the upper are all ones */
	__s16 at[KERNEL_SLOTS_MAX]; /* in words above the context; -1: the word at the top */
};

/* One per CPU. */
struct kernel_memory {
	u64 words[KERNEL_WORDS_MAX];
	u64 places[KERNEL_WORDS_MAX / 64]; /* of the stack that is being learnt */
	u32 cnt;
	u32 next_way;
	struct kernel_known known[KERNEL_SETS * KERNEL_WAYS];
};

struct kernel_part {
	struct cp_stack_key hash;
	u64 site;
	u32 cnt;
	u32 unwound; /* the frames are in the scratch */
};

/* Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kernel_memory);
} cp_kernel_memory __weak SEC(".maps");

static __always_inline u32 kernel_set(u64 site)
{
	return (site * 0x9e3779b97f4a7c15ULL >> 57) * KERNEL_WAYS;
}

static __always_inline bool is_kernel_text(u64 word)
{
	return word >> 32 == 0xffffffff;
}

/* 0 if the slot holds what it did. */
static __always_inline u64 slot_diff(const struct kernel_memory *m, const struct kernel_known *k,
				     u32 i)
{
	__s64 at = k->at[i];

	at += m->cnt & (at >> 63);
	return m->words[BOUND(at, KERNEL_WORDS_MAX - 1)] ^ (0xffffffff00000000ULL | k->value[i]);
}

/* Whether the stack in m->words is k's. Unused slots repeat a used one: no test for them, which would be a branch
 * for the verifier to follow. */
__weak int cp_same_slots(struct kernel_memory *m, struct kernel_known *k)
{
	if (!m || !k)
		return 0;
	for (u32 i = 0; i < KERNEL_SLOTS_MAX; i += KERNEL_SLOTS_STEP) {
		u64 diff = 0;

		if (i >= k->slot_cnt)
			break;
#pragma unroll
		for (u32 j = 0; j < KERNEL_SLOTS_STEP; j++)
			diff |= slot_diff(m, k, i + j);
		if (diff)
			return 0;
	}
	return 1;
}

/* 1 and the frames' hash in *part if this stack has been unwound before. */
__weak int cp_recall(struct kernel_memory *m, struct kernel_part *part)
{
	u32 set;

	if (!m || !part)
		return 0;
	set = kernel_set(part->site);
	for (u32 way = 0; way < KERNEL_WAYS; way++) {
		struct kernel_known *k = &m->known[BOUND(set + way, KERNEL_SETS * KERNEL_WAYS - 1)];

		if (k->site != part->site || !k->slot_cnt || k->need > m->cnt ||
		    !cp_same_slots(m, k))
			continue;
		part->hash = k->hash;
		part->cnt = k->cnt;
		return 1;
	}
	return 0;
}

enum {
	TOO_MANY_SLOTS = 1, /* for now */
	FRAME_WITHOUT_SLOT = 2,
};

struct learn_ctx {
	struct kernel_memory *m;
	struct kernel_known *k;
	const u64 *frames;
	u64 word;
	u32 frame_cnt;
	u32 found;
	u32 failed;
};

static long same_frame(u32 i, struct learn_ctx *c)
{
	c->found = c->frames[BOUND(i, CP_FRAMES_MAX)] == c->word;
	return c->found;
}

static long find_place(u32 i, struct learn_ctx *c)
{
	c->word = c->m->words[BOUND(i, KERNEL_WORDS_MAX - 1)];
	if (!is_kernel_text(c->word))
		return 0;
	c->found = 0;
	bpf_loop(c->frame_cnt, same_frame, c, 0);
	c->m->places[BOUND(i >> 6, KERNEL_WORDS_MAX / 64 - 1)] |= (u64)c->found << (i & 63);
	return 0;
}

static __always_inline void put_slot(struct learn_ctx *c, u32 i, int at)
{
	struct kernel_known *k = c->k;
	u32 n = k->slot_cnt;

	if (n >= KERNEL_SLOTS_MAX) {
		c->failed = TOO_MANY_SLOTS;
		return;
	}
	k->value[BOUND(n, KERNEL_SLOTS_MAX - 1)] = c->m->words[BOUND(i, KERNEL_WORDS_MAX - 1)];
	k->at[BOUND(n, KERNEL_SLOTS_MAX - 1)] = at;
	k->slot_cnt = n + 1;
	if (at >= (int)k->need)
		k->need = at + 1;
}

static long make_slot(u32 i, struct learn_ctx *c)
{
	if (c->k->places[BOUND(i >> 6, KERNEL_WORDS_MAX / 64 - 1)] >> (i & 63) & 1)
		put_slot(c, i, i);
	return c->failed == TOO_MANY_SLOTS;
}

__weak int cp_has_slot(struct kernel_known *k, u32 value)
{
	u64 found = 0;

	if (!k)
		return 0;
	for (u32 j = 0; j < KERNEL_SLOTS_MAX; j++)
		found |= (u64)(value ^ k->value[j]) - 1; /* its top bit is set by 0 alone */
	return found >> 63;
}

static long find_slot(u32 i, struct learn_ctx *c)
{
	if (cp_has_slot(c->k, c->frames[BOUND(i, CP_FRAMES_MAX)]))
		return 0;
	c->failed = FRAME_WITHOUT_SLOT;
	return 1;
}

/* Where a stack with these frames is, or takes the place of the oldest of its set. */
static __always_inline struct kernel_known *known_of(struct kernel_memory *m,
						     const struct kernel_part *part)
{
	u32 set = kernel_set(part->site);

	for (u32 way = 0; way < KERNEL_WAYS; way++) {
		struct kernel_known *k = &m->known[BOUND(set + way, KERNEL_SETS * KERNEL_WAYS - 1)];

		if (k->site == part->site && k->hash.a == part->hash.a && k->hash.b == part->hash.b)
			return k;
	}
	set += m->next_way++ & (KERNEL_WAYS - 1);
	m->known[BOUND(set, KERNEL_SETS * KERNEL_WAYS - 1)].cnt = 0;
	return &m->known[BOUND(set, KERNEL_SETS * KERNEL_WAYS - 1)];
}

static __always_inline void make_slots(struct learn_ctx *c)
{
	struct kernel_known *k = c->k;

	c->failed = 0;
	k->slot_cnt = 0;
	k->need = 1;
	put_slot(c, c->m->cnt - 1, -1); /* the entry code's, which must be there */
	bpf_loop(c->m->cnt - 1, make_slot, c, 0);
	if (!c->failed)
		bpf_loop(c->frame_cnt, find_slot, c, 0);
}

/* Unused slots repeat a used one. */
__weak int cp_pad_slots(struct kernel_known *k)
{
	if (!k)
		return 0;
	for (u32 i = 0; i < KERNEL_SLOTS_MAX; i++) {
		if (i < k->slot_cnt)
			continue;
		k->value[i] = k->value[0];
		k->at[i] = k->at[0];
	}
	return 0;
}

/* A stack was unwound: what to know it by next time. */
__weak int cp_learn(struct kernel_memory *m, struct walk_scratch *s, struct kernel_part *part)
{
	struct learn_ctx c = {};
	struct kernel_known *k;

	if (!m || !s || !part || !part->cnt || part->cnt > KERNEL_FRAMES_MAX || !m->cnt)
		return 0;
	k = known_of(m, part);
	c.m = m;
	c.k = k;
	c.frames = s->kernel_frames;
	c.frame_cnt = part->cnt;
	__builtin_memset(m->places, 0, sizeof(m->places));
	bpf_loop(m->cnt - 1, find_place, &c, 0);
	for (u32 i = 0; i < KERNEL_WORDS_MAX / 64; i++)
		k->places[i] = k->cnt ? k->places[i] & m->places[i] : m->places[i];
	make_slots(&c);
	if (c.failed == FRAME_WITHOUT_SLOT && k->cnt) {
		__builtin_memcpy(k->places, m->places, sizeof(k->places));
		make_slots(&c);
	}
	if (c.failed)
		k->slot_cnt = 0;
	cp_pad_slots(k);
	k->hash = part->hash;
	k->site = part->site;
	k->cnt = part->cnt;
	return 0;
}

#endif
