/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks a user stack by unwind rows (bpf/row.h). symbolize/walk.c is the reference in user space.
 *
 * Built around what the verifier accepts and what reading user memory costs:
 *  - one bpf_loop over steps; the walk's state lives in a map value, only pointers on the BPF stack, so that
 *    the verifier sees equal states and stops exploring;
 *  - binary searches are global functions, verified once, without data-dependent branches;
 *  - user memory is read in windows of 2 KiB: a read costs its 80 to 300 ns whatever its size, a failing one
 *    over 1000 ns. The window starts below the wanted word, since a saved rbp lies below its return address;
 *  - rules are cached by (process, pc): threads block in the same few places. */
#ifndef CP_BPF_WALK_BPF_H
#define CP_BPF_WALK_BPF_H

#include "bpf/rows.bpf.h"
#include "bpf/machine.bpf.h"

enum {
	WALK_WINDOW_BYTES = 2048,
	WALK_WINDOW_WORDS = WALK_WINDOW_BYTES / 8,
	WALK_WINDOW_BELOW_BYTES = 48,
	WALK_CACHE_SLOTS = 4096,
	WALK_FAMILIES = 2, /* switch, sample: may interrupt each other; the census has its own */
	WALK_CPUS_MAX = 512,
	RETURNS_MAX = 64,	 /* the kernel's own limit of nested return probes */
	TRAMPOLINE_POP_R11 = 15, /* offsets behind the instructions; trampoline_words() */
	TRAMPOLINE_POP_RCX = 16,
	TRAMPOLINE_BYTES = 17,
	/* thread_info.flags, which BTF does not name; walk_registers() asks for the int3 as well */
	TIF_UPROBE = 1 << 8,
	TIF_UPROBE_TO_6_17 = 1 << 12,
};

/* Register sets: what is known of the frame being looked at. */
enum walk_known {
	KNOWN_RBX = 1,
	KNOWN_FIRST = 2, /* all registers, in walk.reg: frame 0 */
	KNOWN_SIGNAL =
		4, /* all registers, in the ucontext at walk.ucontext: the frame under a signal frame */
};

struct walk_rule {
	u64 pc;
	u32 rule; /* upper half of the row */
	u32 space;
};

struct walk {
	u64 ip, sp, bp, bx, di;
	u64 reg[8]; /* by enum row_reg */
	u64 ucontext;
	u64 returns; /* struct return_instance *: return addresses that uretprobes replaced; mostly 0 */
	u64 trampoline; /* what they were replaced by */
	u64 breakpoint; /* 1: ip lies behind a uprobe's int3 that is still to be handled */
	u64 window_start, window_cnt; /* of the user's words that are in window[] */
	u64 fp_mask[2], signal_mask[2];
	u32 known;		  /* enum walk_known */
	u32 caller;		  /* 1: ip is a return address */
	u32 space;		  /* struct cp_process */
	u32 mapping, mapping_cnt; /* the space's range */
	u32 mapping_at;		  /* last hit */
	u32 cnt;
	u32 stop;   /* 0 while walking */
	u32 python; /* the process has an interpreter: bpf/python.bpf.h */
	u64 frames[CP_FRAMES_MAX + 1];
	u64 window[WALK_WINDOW_WORDS];
};

/* One per CPU and program family. */
struct walk_scratch {
	struct walk walk;
	struct walk_python python;
	u64 head[sizeof(struct cp_event_stack) / 8]; /* not on the stack, which is short */
	u64 kernel_frames[CP_FRAMES_MAX + 1];
	u32 busy;
	u32 pad;
	struct walk_rule cache[WALK_CACHE_SLOTS];
	u64 copy_head[sizeof(struct cp_event_copy) / 8]; /* bpf/copy.bpf.h */
	u8 copy[CP_COPY_MAX_BYTES + 4096]; /* the last page may begin anywhere below the end */
};

/* Element (cpu * families + family); the last element is the census's. Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk_scratch);
} cp_scratch __weak SEC(".maps");

struct walk_ctx {
	struct walk *walk;
	struct walk_rule *cache;
	struct cp_mapping *mappings;
	u32 *blocks;
	struct task_struct *task; /* of the census; 0 = the current one */
};

/* Fills the window so that its first or a later word is the one at addr; task is the census's. */
static __always_inline bool fetch(struct walk *w, u64 addr, struct task_struct *task,
				  const bool census)
{
	u64 start = (addr - WALK_WINDOW_BELOW_BYTES) & ~63ULL, size = WALK_WINDOW_BYTES;
	long rc;

	w->window_cnt = 0;
	if (addr & 7) { /* a window of one word */
		rc = census ? bpf_copy_from_user_task(w->window, 8, (void *)addr, task, 0) :
			      bpf_probe_read_user(w->window, 8, (void *)addr);
		w->window_start = addr;
		w->window_cnt = !rc;
		return !rc;
	}
	rc = census ? bpf_copy_from_user_task(w->window, size, (void *)start, task, 0) :
		      bpf_probe_read_user(w->window, size, (void *)start);
	if (rc) { /* the end of the mapping: only what is left of this page */
		start = addr;
		size = 4096 - (addr & 4095);
		if (size > WALK_WINDOW_BYTES)
			size = WALK_WINDOW_BYTES;
		hide(size);
		if (size < 8 || size > WALK_WINDOW_BYTES)
			return false;
		rc = census ? bpf_copy_from_user_task(w->window, size, (void *)start, task, 0) :
			      bpf_probe_read_user(w->window, size, (void *)start);
		if (rc)
			return false;
	}
	w->window_start = start;
	w->window_cnt = size >> 3;
	return true;
}

/* verifier: a global function, verified once, not again for each of the places and states that call it */
__weak int fetch_window(struct walk *w, u64 addr)
{
	return w && fetch(w, addr, 0, false);
}

/* One word of the user's stack, through the window. */
static __always_inline bool read_word(struct walk_ctx *c, u64 addr, u64 *value, const bool census)
{
	struct walk *w = c->walk;
	u64 off = addr - w->window_start;
	/* rotated, so that one test finds what lies outside or askew */
	u64 at = off >> 3 | off << 61;

	if (at >= w->window_cnt) {
		if (!(census ? fetch(w, addr, c->task, true) : fetch_window(w, addr)))
			return false;
		at = (addr - w->window_start) >> 3;
	}
	*value = w->window[BOUND(at, WALK_WINDOW_WORDS - 1)];
	return true;
}

/* The rule for pc: cached, or from the rows. Returns 0, or why there is none (enum walk_stop); a mapping
 * without rows gives a gap. */
static __always_inline u32 find_rule(struct walk_ctx *c, u64 pc, u32 *rule)
{
	struct walk *w = c->walk;
	u64 slot = ((pc ^ (u64)w->space << 42) * 0x9e3779b97f4a7c15ULL) >> 52;
	struct walk_rule *cached = &c->cache[BOUND(slot, WALK_CACHE_SLOTS - 1)];
	struct cp_mapping *m;
	u64 off, row = 0;
	u32 at;

	if (cached->pc == pc && cached->space == w->space) {
		*rule = cached->rule;
		return 0;
	}
	m = &c->mappings[BOUND(w->mapping_at, cp_config.mapping_mask)];
	if (pc < m->start || pc >= m->end) {
		at = find_mapping(w->mapping, w->mapping_cnt, pc);
		if (at == ~0U)
			return WALK_NO_MAPPING;
		w->mapping_at = at;
		m = &c->mappings[BOUND(at, cp_config.mapping_mask)];
	}
	off = pc - m->base;
	if (m->row_cnt && off >> ROW_BLOCK_SHIFT < m->block_cnt) {
		u64 block = m->block + (off >> ROW_BLOCK_SHIFT);
		u32 first = c->blocks[BOUND(block, cp_config.block_mask)];
		u32 last = c->blocks[BOUND(block + 1, cp_config.block_mask)];

		row = find_row(m->row + first, m->row + last, off);
	}
	*rule = row >> 32;
	cached->pc = 0;
	cached->rule = row >> 32;
	cached->space = w->space;
	cached->pc = pc;
	return 0;
}

#define FP_RULE		row_rule(row_make(ROW_RBP, 2, -2, ROW_RBX_LOST))
#define TRAMPOLINE_RULE row_rule(row_make(ROW_RSP, 1, ROW_RBP_SAME, ROW_RBX_SAME))

static __always_inline bool frame_pointer_ok(const struct walk *w)
{
	return w->bp >= w->sp && w->bp - w->sp < ROW_FP_MAX_BYTES && !(w->bp & 7);
}

static __always_inline long step_signal(struct walk_ctx *c, u32 i, const bool census)
{
	struct walk *w = c->walk;
	u64 sp = w->sp, new_sp = 0, ip = 0;

	if (!read_word(c, sp + ROW_UCONTEXT_RBP, &w->bp, census) ||
	    !read_word(c, sp + ROW_UCONTEXT_RBX, &w->bx, census) ||
	    !read_word(c, sp + ROW_UCONTEXT_RDI, &w->di, census) ||
	    !read_word(c, sp + ROW_UCONTEXT_RSP, &new_sp, census) ||
	    !read_word(c, sp + ROW_UCONTEXT_RIP, &ip, census)) {
		w->stop = WALK_UNREADABLE;
		return 1;
	}
	w->signal_mask[(i >> 6) & 1] |= 1ULL << (i & 63);
	w->ucontext = sp;
	w->sp = new_sp; /* may be lower: the handler ran on another stack */
	w->ip = ip;
	w->caller = 0;
	w->known = KNOWN_RBX | KNOWN_SIGNAL;
	return 0;
}

static __always_inline u64 reg_ucontext_off(u32 reg)
{
	switch (reg) {
	case ROW_REG_RAX:
		return ROW_UCONTEXT_RAX;
	case ROW_REG_RSI:
		return ROW_UCONTEXT_RSI;
	case ROW_REG_R13:
		return ROW_UCONTEXT_R8 + 5 * 8;
	case ROW_REG_R15:
		return ROW_UCONTEXT_R8 + 7 * 8;
	default: /* r8 .. r11 stand in order */
		return ROW_UCONTEXT_R8 + (reg - ROW_REG_R8) * 8;
	}
}

/* A register that only frame 0 and the frame under a signal frame know. */
static __always_inline u64 known_register(struct walk_ctx *c, u32 reg, const bool census)
{
	struct walk *w = c->walk;
	u64 value = 0, off;

	if (w->known & KNOWN_FIRST)
		return w->reg[BOUND(reg, 7)];
	off = reg_ucontext_off(reg);
	if ((w->known & KNOWN_SIGNAL) && read_word(c, w->ucontext + off, &value, census))
		return value;
	w->stop = WALK_UNSUPPORTED;
	return 0;
}

/* The CFA by the rule; w->stop is set if it cannot be had. */
static __always_inline u64 find_cfa(struct walk_ctx *c, u64 row, const bool census)
{
	struct walk *w = c->walk;
	s64 off = row_off(row) * 8;
	u64 value = 0;

	switch (row_kind(row)) {
	case ROW_RSP:
	case ROW_RA_RDI:
		return w->sp + off;
	case ROW_RSP_FAR:
		return w->sp + row_far_off(row) * 8;
	case ROW_RBP:
		return w->bp + off;
	case ROW_PLT:
		return w->sp + 8 + ((w->ip & 15) >= (u64)row_off(row) ? 8 : 0);
	case ROW_REG:
		return known_register(c, row_x(row), census) + off;
	case ROW_RBX:
		if (w->known & KNOWN_RBX)
			return w->bx + off;
		break;
	case ROW_DEREF_RBP:
	case ROW_DEREF_RSP:
		if (read_word(c, (row_kind(row) == ROW_DEREF_RBP ? w->bp : w->sp) + off, &value,
			      census))
			return value + row_x(row) * 8;
		w->stop = WALK_UNREADABLE;
		return 0;
	}
	w->stop = WALK_UNSUPPORTED;
	return 0;
}

/* Where the kind leaves the small number of a row to rbx. */
static __always_inline u32 row_rbx(u64 row)
{
	u32 kind = row_kind(row);

	return kind == ROW_DEREF_RBP || kind == ROW_DEREF_RSP || kind == ROW_REG ||
			       kind == ROW_RSP_FAR ?
		       ROW_RBX_LOST :
		       row_x(row);
}

/* Restores the caller's rbp and rbx, as far as the row knows them. */
static __always_inline bool restore_saved(struct walk_ctx *c, u64 row, u64 cfa, const bool census)
{
	struct walk *w = c->walk;
	s64 rbp = row_rbp(row);
	u32 rbx = row_rbx(row);
	u64 addr;

	if (rbx >= 2) {
		if (!read_word(c, cfa - 8 * (u64)rbx, &w->bx, census))
			return false;
	} else if (rbx == ROW_RBX_LOST) {
		w->known &= ~KNOWN_RBX;
	}
	if (rbp == ROW_RBP_SAME)
		return true;
	addr = cfa + rbp * 8;
	if (rbp == ROW_RBP_AT_RBP) {
		addr = w->bp;
		if (addr < w->sp || addr >= cfa)
			return true; /* gcc goes on saying this where the epilogue has restored rbp */
	}
	if (!read_word(c, addr, &w->bp, census))
		w->bp = 0; /* mostly nobody needs it; no rule takes 0 for a place above rsp */
	return true;
}

/* A return address that is the trampoline of uretprobes, ours or anybody's: the kernel remembers the real one
 * by the slot on the stack that it took it from. 0 if it does not. */
struct return_search {
	struct return_instance *at;
	u64 slot, found;
};

static long search_return(u32 i, struct return_search *s)
{
	struct return_instance *r = s->at;

	if (!r)
		return 1;
	if (BPF_CORE_READ(r, stack) == s->slot) {
		s->found = BPF_CORE_READ(r, orig_ret_vaddr);
		return 1;
	}
	s->at = BPF_CORE_READ(r, next);
	return 0;
}

__weak u64 original_return(u64 returns, u64 slot)
{
	struct return_search s = { .at = (void *)returns, .slot = slot };

	bpf_loop(RETURNS_MAX, search_return, &s, 0);
	return s.found;
}

/* Inside of the trampoline of uretprobes (arch/x86/kernel/uprobes.c): up to 6.10 one int3, since then
 * push rax, rcx, r11; mov; syscall; pop r11, rcx; ret. The first push takes the slot of the return address, where
 * the kernel then puts the real one. Returns how many words lie on the stack; 0 is right for the int3. */
static __always_inline u32 trampoline_words(const struct walk *w)
{
	struct return_instance *r = (void *)w->returns;
	u64 off = w->ip - w->trampoline;

	if (off == 1)
		return r && BPF_CORE_READ(r, stack) == w->sp - 8 ? 0 : 1;
	if (off < 4)
		return off ? 2 : 0;
	return off < TRAMPOLINE_POP_R11 ? 3 : off < TRAMPOLINE_POP_RCX ? 2 : 1;
}

static __always_inline bool in_trampoline(const struct walk *w)
{
	return w->trampoline && !w->caller && w->ip >= w->trampoline &&
	       w->ip - w->trampoline < TRAMPOLINE_BYTES;
}

static __always_inline long walk_step(u32 i, struct walk_ctx *c, const bool census)
{
	struct walk *w = c->walk;
	u64 pc = w->ip - w->caller, row, cfa, ra = 0;
	bool trampoline = in_trampoline(w);
	u32 rule = 0;

	i = BOUND(i, CP_FRAMES_MAX);
	w->frames[i] = w->ip;
	w->cnt = i + 1;
	if (trampoline) {
		rule = TRAMPOLINE_RULE;
		w->sp -= 8; /* so that without a word on the stack the slot still lies above */
		w->sp += 8 * (u64)trampoline_words(w);
	} else if (WALK_X86 && cp_config.dwarf) {
		w->stop = find_rule(c, pc, &rule);
		if (w->stop)
			return 1;
	}
	row = (u64)rule << 32;
	if (row_kind(row) == ROW_GAP) {
		if (!frame_pointer_ok(w)) {
			w->stop = WALK_NO_ROW;
			return 1;
		}
		w->fp_mask[(i >> 6) & 1] |= 1ULL << (i & 63);
		row = (u64)FP_RULE << 32;
	}
	if (row_kind(row) == ROW_END) {
		w->stop = WALK_ROOT;
		return 1;
	}
	if (row_kind(row) == ROW_SIGNAL)
		return step_signal(c, i, census);
	cfa = find_cfa(c, row, census);
	if (w->stop)
		return 1;
	if (row_kind(row) == ROW_RA_RDI) {
		if (!(w->known & (KNOWN_FIRST | KNOWN_SIGNAL))) {
			w->stop = WALK_UNSUPPORTED;
			return 1;
		}
		ra = w->di;
	} else {
		if (cfa <= w->sp) {
			w->stop = WALK_BAD_CFA;
			return 1;
		}
		if (!read_word(c, cfa - 8, &ra, census)) {
			w->stop = WALK_UNREADABLE;
			return 1;
		}
	}
	if (!restore_saved(c, row, cfa, census)) {
		w->stop = WALK_UNREADABLE;
		return 1;
	}
	if (w->returns && (trampoline || ra == w->trampoline)) {
		u64 original = original_return(w->returns, cfa - 8);

		if (original)
			ra = original;
	}
	w->sp = cfa;
	w->ip = ra;
	w->caller = 1;
	w->known &= KNOWN_RBX;
	if (!ra) {
		w->stop = WALK_ZERO;
		return 1;
	}
	return 0;
}

static __always_inline void find_return_probes(struct walk *w, struct task_struct *task)
{
	w->returns = w->trampoline = w->breakpoint = 0;
	if (!WALK_X86)
		return;
	if (!bpf_core_field_exists(task->utask) || !task->utask)
		return;
	w->returns = (u64)BPF_CORE_READ(task, utask, return_instances);
	w->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	/* otherwise the original instruction is being stepped over, elsewhere */
	if (!BPF_CORE_READ(task, utask, active_uprobe))
		w->breakpoint = !!(task->thread_info.flags & (TIF_UPROBE | TIF_UPROBE_TO_6_17));
}

/* Whether there is a user stack to be walked, and the rows for it. */
static __always_inline bool walk_begin(struct walk *w, struct task_struct *task,
				       const struct cp_process *p)
{
	struct cp_range *range;
	u64 mm;

	w->cnt = 0;
	w->stop = 0;
	w->python = 0;
	w->fp_mask[0] = w->fp_mask[1] = w->signal_mask[0] = w->signal_mask[1] = 0;
	if (task->flags & PF_KTHREAD)
		return false;
	if (task->flags & (PF_IO_WORKER | PF_USER_WORKER)) {
		w->stop = CP_STOP_IO_WORKER;
		return false;
	}
	mm = (u64)BPF_CORE_READ(task, mm);
	if (!mm || (p && p->mm != mm)) {
		w->stop = mm ? CP_STOP_EXEC : CP_STOP_EXITING;
		return false;
	}
	range = p ? bpf_map_lookup_elem(&cp_ranges, &p->space) : 0;
	if (!range) {
		w->stop = p && p->generation ? CP_STOP_MAPS_CHANGED : CP_STOP_NO_ROWS;
		return false;
	}
	find_return_probes(w, task);
	w->space = p->space;
	w->python = range->python;
	w->mapping = w->mapping_at = range->mapping;
	w->mapping_cnt = range->mapping_cnt;
	w->window_start = w->window_cnt = 0;
	w->caller = 0;
	w->known = KNOWN_RBX | KNOWN_FIRST;
	return true;
}

static __always_inline bool walk_registers(struct walk *w, struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_arm64
	if (arm64_registers(regs, &w->ip, &w->sp, &w->bp))
		return true;
#else
	if (w->breakpoint) {
		u8 byte = 0;

		bpf_probe_read_user(&byte, 1, (void *)(regs->ip - 1));
		w->breakpoint = byte == 0xcc;
	}
	w->ip = regs->ip - w->breakpoint;
	w->sp = regs->sp;
	w->bp = regs->bp;
	w->bx = regs->bx;
	w->di = regs->di;
	w->reg[ROW_REG_RAX] = regs->ax;
	w->reg[ROW_REG_R8] = regs->r8;
	w->reg[ROW_REG_R9] = regs->r9;
	w->reg[ROW_REG_R10] = regs->r10;
	w->reg[ROW_REG_R11] = regs->r11;
	w->reg[ROW_REG_RSI] = regs->si;
	w->reg[ROW_REG_R13] = regs->r13;
	w->reg[ROW_REG_R15] = regs->r15;
	if (regs->cs == 0x33)
		return true;
#endif
	w->stop = CP_STOP_COMPAT;
	return false;
}

static long walk_step_current(u32 i, struct walk_ctx *c)
{
	return walk_step(i, c, false);
}

static long walk_step_census(u32 i, struct walk_ctx *c)
{
	return walk_step(i, c, true);
}

/* From the registers on; task is the census's. */
static __always_inline void walk_steps(struct walk_scratch *s, struct task_struct *task,
				       const bool census)
{
	u32 zero = 0;
	struct walk_ctx c = {
		.walk = &s->walk,
		.cache = s->cache,
		.mappings = bpf_map_lookup_elem(&cp_mappings, &zero),
		.blocks = bpf_map_lookup_elem(&cp_blocks, &zero),
		.task = task,
	};

	if (!c.mappings || !c.blocks)
		return;
	if (census)
		bpf_loop(CP_FRAMES_MAX, walk_step_census, &c, 0);
	else
		bpf_loop(CP_FRAMES_MAX, walk_step_current, &c, 0);
	if (!s->walk.stop)
		s->walk.stop = WALK_DEPTH;
}

/* verifier: a global function, verified once and from a clean state, not again for each way that leads to it */
__weak int walk_current(struct walk_scratch *s)
{
	if (s)
		walk_steps(s, 0, false);
	return 0;
}

#endif
