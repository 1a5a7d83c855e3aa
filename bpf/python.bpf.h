/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The Python frames of a thread, beside the native ones that were walked before: from the interpreter's thread state
 * along its chain of frames. Nothing is asked of the interpreter, and it need not hold still: the thread itself is
 * the one that runs this program, or sleeps.
 *
 * All that is read is the process's own memory and may be anything: reads fail softly, loops are bounded, and user space
 * checks what the pointers point to. The thread's state is looked for once, in the interpreters' lists, and then known
 * by its address as long as it says to be this thread's. */
#ifndef CP_BPF_PYTHON_BPF_H
#define CP_BPF_PYTHON_BPF_H

#include "bpf/walk.bpf.h"

enum {
	PYTHON_THREADS_MAX = 1024, /* looked at in search of the own one */
	PYTHON_STEPS_MAX = 256,	   /* frames with and without a function */
	PYTHON_MISSES_MAX = 16,	   /* searches in vain before a thread is left alone */
	PYTHON_FRAME_WORDS = CP_PYTHON_FRAME_BYTES / 8,
};

/* By address space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct cp_python);
} cp_pythons __weak SEC(".maps");

struct python_ctx {
	struct walk *walk; /* its window is free now */
	struct walk_python *python;
	struct cp_python *layout;
	struct task_struct *task; /* of the census */
};

static __always_inline bool read_python(struct python_ctx *c, void *to, u32 size_bytes, u64 addr,
					const bool census)
{
	return census ? !bpf_copy_from_user_task(to, size_bytes, (void *)addr, c->task, 0) :
			!bpf_probe_read_user(to, size_bytes, (void *)addr);
}

/* A pointer out of what was read last. */
static __always_inline u64 window_word(const struct walk *w, u64 off_bytes)
{
	return w->window[BOUND(off_bytes >> 3, WALK_WINDOW_WORDS - 1)];
}

static __always_inline bool read_thread(struct python_ctx *c, const bool census)
{
	return read_python(c, c->walk->window, CP_PYTHON_THREAD_BYTES, c->python->thread, census);
}

static __always_inline bool is_own_thread(const struct python_ctx *c)
{
	return window_word(c->walk, c->layout->thread_id) == c->python->fs_base;
}

/* One thread state, or the step to the next interpreter. */
static __always_inline long find_step(struct python_ctx *c, const bool census)
{
	struct walk_python *p = c->python;
	u64 interp = p->interp;

	if (p->thread) {
		if (!read_thread(c, census)) {
			p->stop = CP_PYTHON_UNREADABLE;
			return 1;
		}
		if (is_own_thread(c)) {
			p->stop = CP_PYTHON_WHOLE;
			return 1;
		}
		p->thread = window_word(c->walk, c->layout->thread_next);
		return 0;
	}
	if (!interp)
		return 1;
	if (!read_python(c, &p->thread, 8, interp + c->layout->interp_threads, census) ||
	    !read_python(c, &p->interp, 8, interp + c->layout->interp_next, census)) {
		p->stop = CP_PYTHON_UNREADABLE;
		return 1;
	}
	return 0;
}

static long find_step_current(u32 i, struct python_ctx *c)
{
	return find_step(c, false);
}

static long find_eval(u32 i, struct python_ctx *c)
{
	u64 ip = c->walk->frames[BOUND(i, CP_FRAMES_MAX)];

	if (ip < c->layout->eval_start || ip >= c->layout->eval_end)
		return 0;
	c->python->evaluates = 1;
	return 1;
}

/* The frame at addr into the window, unless it is there. Frames of calls lie side by side below each other, so the
 * window reaches down, but not into another page, which might not be there. */
static __always_inline bool read_frame(struct python_ctx *c, u64 addr, const bool census)
{
	struct walk *w = c->walk;
	u64 start = addr + CP_PYTHON_FRAME_BYTES - WALK_WINDOW_BYTES, page = addr & ~4095ULL;

	if (addr >= w->window_start &&
	    addr + CP_PYTHON_FRAME_BYTES <= w->window_start + w->window_cnt * 8)
		return true;
	if (start < page)
		start = page;
	w->window_start = w->window_cnt = 0;
	if (read_python(c, w->window, WALK_WINDOW_BYTES, start, census)) {
		w->window_start = start;
		w->window_cnt = WALK_WINDOW_WORDS;
		return true;
	}
	if (!read_python(c, w->window, CP_PYTHON_FRAME_BYTES, addr, census))
		return false;
	w->window_start = addr;
	w->window_cnt = PYTHON_FRAME_WORDS;
	return true;
}

static __always_inline u8 frame_byte(const struct walk *w, u64 at, u32 off_bytes)
{
	return window_word(w, at + off_bytes) >> ((off_bytes & 7) * 8);
}

static __always_inline void put_frame(struct walk_python *p, u64 code, u64 instr)
{
	u32 at = BOUND(p->cnt, CP_PYTHON_FRAMES_MAX - 1);

	p->frames[at].code = code;
	p->frames[at].instr = instr;
	p->frames[at].mark = 0;
	p->cnt++;
}

/* The mark of a call from C: the frame before it was the first one of that call. */
static __always_inline void put_entry(struct walk_python *p)
{
	u32 at;

	if (p->cnt) {
		at = BOUND(p->cnt - 1, CP_PYTHON_FRAMES_MAX - 1);
		if (!(p->frames[at].code & CP_PYTHON_ENTRY)) {
			p->frames[at].code |= CP_PYTHON_ENTRY;
			return;
		}
	}
	if (p->cnt < CP_PYTHON_FRAMES_MAX)
		put_frame(p, CP_PYTHON_ENTRY, 0);
}

static __always_inline long frame_step(struct python_ctx *c, const bool census)
{
	struct walk_python *p = c->python;
	struct cp_python *l = c->layout;
	u64 addr = p->frame, at, code;

	if (!addr)
		return 1;
	if ((addr & 7) || !read_frame(c, addr, census)) {
		p->stop = CP_PYTHON_UNREADABLE;
		return 1;
	}
	at = addr - c->walk->window_start;
	p->frame = window_word(c->walk, at + l->frame_previous);
	if (l->frame_is_entry == CP_PYTHON_NONE &&
	    frame_byte(c->walk, at, l->frame_owner) >= l->owner_shim) {
		put_entry(p);
		return 0;
	}
	if (p->cnt >= CP_PYTHON_FRAMES_MAX) {
		p->stop = CP_PYTHON_DEPTH;
		return 1;
	}
	code = window_word(c->walk, at + l->frame_code) & ~7ULL;
	if (l->frame_is_entry != CP_PYTHON_NONE && frame_byte(c->walk, at, l->frame_is_entry))
		code |= CP_PYTHON_ENTRY;
	put_frame(p, code, window_word(c->walk, at + l->frame_instr));
	return 0;
}

static long frame_step_current(u32 i, struct python_ctx *c)
{
	return frame_step(c, false);
}

/* What is known of the thread from its last stack; else whether it is worth a search. */
static __always_inline bool remembered(struct python_ctx *c, struct cp_thread *t, u32 space,
				       const bool census)
{
	struct walk_python *p = c->python;

	p->thread = t && t->python_space == space ? t->python_thread : 0;
	return p->thread && read_thread(c, census) && is_own_thread(c);
}

static __always_inline bool worth_a_search(struct python_ctx *c, struct cp_thread *t, u32 space)
{
	if (t && t->python_space != space) {
		t->python_space = space;
		t->python_misses = 0;
	}
	if (t && t->python_misses >= PYTHON_MISSES_MAX)
		return false;
	/* a stack that is whole, without the interpreter in it, has no Python frames */
	c->python->evaluates = c->walk->stop != WALK_ROOT;
	bpf_loop(c->walk->cnt, find_eval, c, 0);
	return c->python->evaluates;
}

static __always_inline bool begin_search(struct python_ctx *c, const bool census)
{
	struct walk_python *p = c->python;

	p->thread = 0;
	p->stop = CP_PYTHON_NO_THREAD;
	return read_python(c, &p->interp, 8, c->layout->runtime + c->layout->head, census);
}

static __always_inline void remember(struct python_ctx *c, struct cp_thread *t)
{
	if (!t)
		return;
	t->python_thread = c->python->thread;
	if (c->python->stop == CP_PYTHON_WHOLE)
		t->python_misses = 0;
	else
		t->python_misses++;
}

/* The thread state is in the window: its newest frame. */
static __always_inline bool begin_frames(struct python_ctx *c, const bool census)
{
	struct walk_python *p = c->python;
	struct cp_python *l = c->layout;

	p->stop = CP_PYTHON_WHOLE;
	p->frame = window_word(c->walk, l->thread_frame);
	if (l->holder_frame != CP_PYTHON_NONE && p->frame &&
	    !read_python(c, &p->frame, 8, p->frame + l->holder_frame, census))
		p->stop = CP_PYTHON_UNREADABLE;
	c->walk->window_start = c->walk->window_cnt = 0;
	return p->stop == CP_PYTHON_WHOLE;
}

static __always_inline bool begin_python(struct python_ctx *c, struct walk_scratch *s,
					 struct task_struct *task, u32 space)
{
	if (!WALK_X86)
		return false;
	c->walk = &s->walk;
	c->python = &s->python;
	c->layout = bpf_map_lookup_elem(&cp_pythons, &space);
	s->python.cnt = 0;
	s->python.stop = CP_PYTHON_WHOLE;
	s->python.fs_base = task->thread.fsbase;
	return c->layout && s->python.fs_base;
}

static long mark_step(u32 i, struct python_ctx *c)
{
	struct cp_python_frame *f = &c->python->frames[BOUND(i, CP_PYTHON_FRAMES_MAX - 1)];
	u64 code = f->code & ~CP_PYTHON_ENTRY, qualname = 0, linetable = 0;

	if (read_python(c, &qualname, 8, code + c->layout->code_qualname, false) &&
	    read_python(c, &linetable, 8, code + c->layout->code_linetable, false))
		f->mark = cp_python_mark(qualname, linetable);
	return 0;
}

static __always_inline void no_python(struct walk_scratch *s)
{
	s->python.cnt = s->python.stop = s->python.process = s->python.current = 0;
}

/* Only a stack with Python frames belongs to one process. */
static __always_inline void own_python(struct walk_scratch *s, u32 process)
{
	s->python.process = s->python.cnt || s->python.stop ? process : 0;
}

/* Marks the functions of a stack that user space has not seen. */
__weak int cp_mark_python(struct walk_scratch *s)
{
	struct python_ctx c = {};
	u32 space;

	if (!s)
		return 0;
	space = s->walk.space;
	c.walk = &s->walk;
	c.python = &s->python;
	c.layout = bpf_map_lookup_elem(&cp_pythons, &space);
	if (c.layout)
		bpf_loop(s->python.cnt, mark_step, &c, 0);
	return 0;
}

/* The current task's frames, found or else looked for. */
static __always_inline void walk_python(struct walk_scratch *s, struct task_struct *task)
{
	struct cp_thread *t = thread_of(task);
	struct python_ctx c = {};
	u32 space = s->walk.space;

	if (!begin_python(&c, s, task, space))
		return;
	if (!remembered(&c, t, space, false)) {
		if (!worth_a_search(&c, t, space))
			return;
		if (begin_search(&c, false))
			bpf_loop(PYTHON_THREADS_MAX, find_step_current, &c, 0);
		remember(&c, t);
		if (s->python.stop != CP_PYTHON_WHOLE)
			return;
	}
	s->python.current = 1;
	if (begin_frames(&c, false))
		bpf_loop(PYTHON_STEPS_MAX, frame_step_current, &c, 0);
}

/* verifier: a global function, verified once, apart from the walk of the native stack */
__weak int cp_walk_python(struct walk_scratch *s, u32 process)
{
	if (!s)
		return 0;
	walk_python(s, bpf_get_current_task_btf());
	own_python(s, process);
	return 0;
}

#endif
