/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over rows; see walk.h and bpf/row.h. */
#include "symbolize/walk.h"

#include <stdbool.h>

struct walker {
	const struct walk_space *space;
	const struct walk_regs *regs; /* of frame 0 */
	struct walk_stack *ret;
	uint64_t ip, sp, bp, bx;
	bool knows_bx;
	bool is_exact;	   /* ip is a pc: frame 0, or interrupted by a signal */
	uint64_t ucontext; /* if the frame was interrupted by a signal: rsp of the trampoline */
};

static enum walk_stop read_word(const struct walker *w, uint64_t addr, uint64_t *word)
{
	return w->space->read(w->space->ctx, addr, word) ? WALK_UNREADABLE : WALK_NONE;
}

static const struct walk_mapping *find_mapping(const struct walk_space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->mapping_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->mappings[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->mapping_cnt && s->mappings[lo].start <= addr ? &s->mappings[lo] : NULL;
}

/* A register of the interrupted program that no row carries along: known in frame 0, and under a signal. */
static enum walk_stop read_register(const struct walker *w, uint64_t in_frame0,
				    uint32_t ucontext_off, uint64_t *ret)
{
	if (w->ret->frame_cnt == 1) {
		*ret = in_frame0;
		return WALK_NONE;
	}
	if (!w->ucontext)
		return WALK_UNSUPPORTED;
	return read_word(w, w->ucontext + ucontext_off, ret);
}

static enum walk_stop cfa_of_reg(const struct walker *w, uint64_t row, uint64_t *cfa)
{
	static const struct {
		uint8_t reg;
		uint8_t ucontext_off;
	} places[] = {
		[ROW_REG_RAX] = { WALK_RAX, ROW_UCONTEXT_RAX },
		[ROW_REG_R8] = { WALK_R8, ROW_UCONTEXT_R8 },
		[ROW_REG_R9] = { WALK_R8 + 1, ROW_UCONTEXT_R8 + 8 },
		[ROW_REG_R10] = { WALK_R8 + 2, ROW_UCONTEXT_R8 + 16 },
		[ROW_REG_R11] = { WALK_R8 + 3, ROW_UCONTEXT_R8 + 24 },
		[ROW_REG_RSI] = { WALK_RSI, ROW_UCONTEXT_RSI },
		[ROW_REG_R13] = { WALK_R8 + 5, ROW_UCONTEXT_R8 + 40 },
		[ROW_REG_R15] = { WALK_R8 + 7, ROW_UCONTEXT_R8 + 56 },
	};
	uint32_t reg = row_x(row);
	enum walk_stop stop =
		read_register(w, w->regs->r[places[reg].reg], places[reg].ucontext_off, cfa);

	*cfa += (uint64_t)row_off(row) * 8;
	return stop;
}

static enum walk_stop find_cfa(const struct walker *w, uint64_t row, uint64_t *cfa)
{
	uint64_t off = (uint64_t)row_off(row) * 8;
	enum walk_stop stop;

	switch (row_kind(row)) {
	case ROW_RSP:
	case ROW_RA_RDI:
		*cfa = w->sp + off;
		return WALK_NONE;
	case ROW_RSP_FAR:
		*cfa = w->sp + row_far_off(row) * 8;
		return WALK_NONE;
	case ROW_RBP:
		*cfa = w->bp + off;
		return WALK_NONE;
	case ROW_RBX:
		*cfa = w->bx + off;
		return w->knows_bx ? WALK_NONE : WALK_UNSUPPORTED;
	case ROW_PLT:
		*cfa = w->sp + 8 + ((w->ip & 15) >= (uint64_t)row_off(row) ? 8 : 0);
		return WALK_NONE;
	case ROW_DEREF_RBP:
	case ROW_DEREF_RSP:
		stop = read_word(w, (row_kind(row) == ROW_DEREF_RBP ? w->bp : w->sp) + off, cfa);
		*cfa += row_x(row) * 8;
		return stop;
	case ROW_REG:
		return cfa_of_reg(w, row, cfa);
	default:
		return WALK_UNSUPPORTED;
	}
}

/* From here on the frame lies in the kernel's signal frame, and the stack may be another one. */
static enum walk_stop step_signal(struct walker *w)
{
	struct walker next = *w;

	next.is_exact = true;
	next.ucontext = w->sp;
	next.knows_bx = true;
	if (read_word(w, w->sp + ROW_UCONTEXT_RIP, &next.ip) ||
	    read_word(w, w->sp + ROW_UCONTEXT_RSP, &next.sp) ||
	    read_word(w, w->sp + ROW_UCONTEXT_RBP, &next.bp) ||
	    read_word(w, w->sp + ROW_UCONTEXT_RBX, &next.bx))
		return WALK_UNREADABLE;
	w->ret->frames[w->ret->frame_cnt - 1].flags |= WALK_SIGNAL;
	*w = next;
	return WALK_NONE;
}

static enum walk_stop restore_bx(struct walker *w, uint64_t row, uint64_t cfa)
{
	uint32_t kind = row_kind(row), x = row_x(row);

	if (kind == ROW_DEREF_RBP || kind == ROW_DEREF_RSP || kind == ROW_REG ||
	    kind == ROW_RSP_FAR)
		x = ROW_RBX_LOST; /* there x means something else */
	if (x == ROW_RBX_SAME)
		return WALK_NONE;
	w->knows_bx = x != ROW_RBX_LOST;
	return w->knows_bx ? read_word(w, cfa - 8 * (uint64_t)x, &w->bx) : WALK_NONE;
}

/* The saved rbp. One that cannot be read is not needed more often than not: 0 then, which no later rule
 * takes for an address above rsp. */
static uint64_t restore_bp(const struct walker *w, uint64_t row, uint64_t cfa)
{
	uint64_t addr = cfa + (uint64_t)row_rbp(row) * 8, bp;

	if (row_rbp(row) == ROW_RBP_SAME)
		return w->bp;
	if (row_rbp(row) == ROW_RBP_AT_RBP) {
		/* gcc goes on saying this where the epilogue has restored rbp */
		if (w->bp < w->sp || w->bp >= cfa)
			return w->bp;
		addr = w->bp;
	}
	return read_word(w, addr, &bp) ? 0 : bp;
}

static enum walk_stop step_row(struct walker *w, uint64_t row)
{
	bool ra_in_reg = row_kind(row) == ROW_RA_RDI;
	uint64_t cfa = 0, ip;
	enum walk_stop stop = find_cfa(w, row, &cfa);

	if (stop)
		return stop;
	if (cfa < w->sp || (cfa == w->sp && !ra_in_reg))
		return WALK_BAD_CFA;
	stop = ra_in_reg ? read_register(w, w->regs->r[WALK_RDI], ROW_UCONTEXT_RDI, &ip) :
			   read_word(w, cfa - 8, &ip);
	if (!stop)
		stop = restore_bx(w, row, cfa);
	if (stop)
		return stop;
	w->bp = restore_bp(w, row, cfa);
	w->ip = ip;
	w->sp = cfa;
	w->is_exact = false;
	w->ucontext = 0;
	return ip ? WALK_NONE : WALK_ZERO;
}

/* Code without rows that keeps a frame pointer: the saved rbp and the return address lie at it. */
static enum walk_stop step_fp(struct walker *w)
{
	if (w->bp < w->sp || w->bp - w->sp >= ROW_FP_MAX_BYTES || w->bp % 8 != 0)
		return WALK_NO_ROW;
	w->ret->frames[w->ret->frame_cnt - 1].flags |= WALK_BY_FP;
	return step_row(w, row_make(ROW_RBP, 2, -2, ROW_RBX_LOST));
}

static enum walk_stop step(struct walker *w)
{
	uint64_t pc = w->is_exact ? w->ip : w->ip - 1;
	const struct walk_mapping *m = find_mapping(w->space, pc);
	uint64_t row;

	if (!m)
		return WALK_NO_MAPPING;
	row = m->table ? rows_find(m->table, pc - m->bias) : row_make(ROW_GAP, 0, 0, 0);
	switch (row_kind(row)) {
	case ROW_GAP:
		return step_fp(w);
	case ROW_END:
		return WALK_ROOT;
	case ROW_SIGNAL:
		return step_signal(w);
	case ROW_UNSUPPORTED:
		w->ret->why = (enum row_why)row_off(row);
		return WALK_UNSUPPORTED;
	default:
		return step_row(w, row);
	}
}

void walk_rows(const struct walk_space *space, const struct walk_regs *regs, struct walk_stack *ret)
{
	struct walker w = { .space = space,
			    .regs = regs,
			    .ret = ret,
			    .ip = regs->r[WALK_RIP],
			    .sp = regs->r[WALK_RSP],
			    .bp = regs->r[WALK_RBP],
			    .bx = regs->r[WALK_RBX],
			    .knows_bx = true,
			    .is_exact = true };

	ret->frame_cnt = 0;
	ret->stop = WALK_NONE;
	ret->why = 0;
	while (!ret->stop && ret->frame_cnt < WALK_FRAME_MAX) {
		ret->frames[ret->frame_cnt++] =
			(struct walk_frame){ .addr = w.ip,
					     .flags = w.is_exact ? WALK_EXACT_PC : 0 };
		ret->stop = step(&w);
	}
	if (!ret->stop)
		ret->stop = WALK_DEPTH;
}
