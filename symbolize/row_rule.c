/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machines, and the rows of x86-64; see row_rule.h. Register numbers are DWARF's (System V ABI, AMD64 supplement, fig. 3.36). */
#include "symbolize/row_rule.h"

#include <dwarf.h>
#include <elf.h>
#include <linux/types.h>
#include <stddef.h>

#include "bpf/row.h"
#include "symbolize/cursor.h"
#include "symbolize/row_rule_arm64.h"
#include "user/base/mem.h"

enum dwarf_reg {
	REG_RAX = 0,
	REG_RBX = 3,
	REG_RDI = 5,
	REG_RBP = 6,
	REG_RSP = 7,
	REG_R8 = 8,
	REG_R9 = 9,
	REG_R10 = 10,
	REG_R11 = 11,
	REG_RSI = 4,
	REG_R13 = 13,
	REG_R15 = 15,
	REG_RIP = 16,
};

static uint64_t unsupported(enum row_why why)
{
	return row_make(ROW_UNSUPPORTED, why, 0, 0);
}

/* off fits a row: a multiple of 8 within s16 units. */
static bool fits(int64_t off)
{
	return off % 8 == 0 && off / 8 >= INT16_MIN && off / 8 <= INT16_MAX;
}

/* Is the expression just "register reg + *off"? */
static bool expr_is_breg(const uint8_t *expr, size_t len_bytes, unsigned reg, int64_t *off)
{
	struct cursor c = { .p = expr, .end = expr + len_bytes };

	if (cursor_u8(&c) != DW_OP_breg0 + reg)
		return false;
	*off = cursor_sleb(&c);
	return !c.is_bad && c.p == c.end;
}

static bool rule_is_at(const struct cfi_rule *r, unsigned reg, int64_t want_off)
{
	int64_t off;

	return r->kind == CFI_EXPR && expr_is_breg(r->expr, r->expr_bytes, reg, &off) &&
	       off == want_off;
}

/* Linux's rt_sigreturn frame, as libc describes it: everything at fixed places above rsp. */
static uint64_t encode_signal(const struct cfi_state *s)
{
	static const uint8_t cfa[] = { DW_OP_breg7, 0xa0, 0x01, DW_OP_deref }; /* *(rsp + 160) */

	if (!s->cfa_is_expr || s->cfa_expr_bytes != sizeof(cfa) ||
	    memcmp(s->cfa_expr, cfa, sizeof(cfa)) != 0 ||
	    !rule_is_at(&s->regs[CFI_RA], REG_RSP, ROW_UCONTEXT_RIP) ||
	    !rule_is_at(&s->regs[CFI_SP], REG_RSP, ROW_UCONTEXT_RSP) ||
	    !rule_is_at(&s->regs[CFI_FP], REG_RSP, ROW_UCONTEXT_RBP) ||
	    !rule_is_at(&s->regs[CFI_BX], REG_RSP, ROW_UCONTEXT_RBX))
		return unsupported(ROW_WHY_SIGNAL);
	return row_make(ROW_SIGNAL, 0, 0, 0);
}

/* Where the caller's rbp is; false if a row cannot say it (*why). */
static bool encode_rbp(const struct cfi_rule *r, int64_t *units, enum row_why *why)
{
	*units = ROW_RBP_SAME;
	*why = ROW_WHY_RBP;
	switch (r->kind) {
	case CFI_NONE:
	case CFI_SAME:
		return true;
	case CFI_OFFSET:
		*why = ROW_WHY_OFFSET;
		*units = r->off / 8;
		return r->off && r->off % 8 == 0 && *units >= INT8_MIN && *units < ROW_RBP_AT_RBP;
	case CFI_EXPR:
		*units = ROW_RBP_AT_RBP;
		return rule_is_at(r, REG_RBP, 0);
	default:
		return false;
	}
}

static uint32_t encode_rbx(const struct cfi_rule *r)
{
	if (r->kind == CFI_NONE || r->kind == CFI_SAME)
		return ROW_RBX_SAME;
	if (r->kind == CFI_OFFSET && r->off % 8 == 0 && r->off <= -16 && r->off >= -56)
		return (uint32_t)(-r->off / 8);
	return ROW_RBX_LOST;
}

/* Lazy binding pushes two words in a stub: rsp + 8, + 8 more from byte N of the 16-byte stub on. */
static bool expr_is_plt(const uint8_t *expr, size_t len_bytes, int64_t *first_byte)
{
	static const uint8_t head[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (len_bytes != sizeof(head) + 1 + sizeof(tail) || memcmp(expr, head, sizeof(head)) != 0 ||
	    memcmp(expr + sizeof(head) + 1, tail, sizeof(tail)) != 0)
		return false;
	*first_byte = expr[sizeof(head)] - DW_OP_lit0;
	return *first_byte >= 0 && *first_byte < 16;
}

/* CFA = *(rsp or rbp + off) + add, the last part optional. */
static bool expr_is_deref(const uint8_t *expr, size_t len_bytes, int64_t *off, uint64_t *add)
{
	struct cursor c = { .p = expr, .end = expr + len_bytes };
	uint8_t op = cursor_u8(&c);

	if (op != DW_OP_breg6 && op != DW_OP_breg7)
		return false;
	*off = cursor_sleb(&c);
	*add = 0;
	if (cursor_u8(&c) != DW_OP_deref)
		return false;
	if (c.p < c.end && cursor_u8(&c) == DW_OP_plus_uconst)
		*add = cursor_uleb(&c);
	return !c.is_bad && c.p == c.end;
}

static uint64_t encode_expr(const struct cfi_state *s, int64_t rbp, uint32_t rbx)
{
	uint64_t add;
	int64_t off;

	if (expr_is_plt(s->cfa_expr, s->cfa_expr_bytes, &off))
		return row_make(ROW_PLT, off, rbp, rbx);
	if (!expr_is_deref(s->cfa_expr, s->cfa_expr_bytes, &off, &add))
		return unsupported(ROW_WHY_CFA_EXPR);
	if (!fits(off) || add % 8 != 0 || add > 56)
		return unsupported(ROW_WHY_OFFSET);
	return row_make(s->cfa_expr[0] == DW_OP_breg6 ? ROW_DEREF_RBP : ROW_DEREF_RSP, off / 8, rbp,
			(uint32_t)add / 8);
}

static uint64_t encode_cfa(const struct cfi_state *s, int64_t rbp, uint32_t rbx)
{
	static const uint8_t others[] = {
		[ROW_REG_RAX] = REG_RAX, [ROW_REG_R8] = REG_R8,	  [ROW_REG_R9] = REG_R9,
		[ROW_REG_R10] = REG_R10, [ROW_REG_R11] = REG_R11, [ROW_REG_RSI] = REG_RSI,
		[ROW_REG_R13] = REG_R13, [ROW_REG_R15] = REG_R15,
	};

	if (s->cfa_is_expr)
		return encode_expr(s, rbp, rbx);
	if (s->cfa_reg == REG_RSP && s->cfa_off > INT16_MAX * 8 && s->cfa_off % 8 == 0 &&
	    s->cfa_off / 8 < 8 << 16)
		return row_make(ROW_RSP_FAR, s->cfa_off / 8, rbp, (uint32_t)(s->cfa_off / 8 >> 16));
	if (!fits(s->cfa_off))
		return unsupported(ROW_WHY_OFFSET);
	switch (s->cfa_reg) {
	case REG_RSP:
		return row_make(ROW_RSP, s->cfa_off / 8, rbp, rbx);
	case REG_RBP:
		return row_make(ROW_RBP, s->cfa_off / 8, rbp, rbx);
	case REG_RBX:
		return row_make(ROW_RBX, s->cfa_off / 8, rbp, rbx);
	default:
		for (uint32_t i = 0; i < ARRAY_CNT(others); i++)
			if (s->cfa_reg == others[i])
				return row_make(ROW_REG, s->cfa_off / 8, rbp, i);
		return unsupported(ROW_WHY_CFA_REG);
	}
}

static uint64_t encode_x86_64(const struct cfi_cie *cie, const struct cfi_state *s, bool tracks_bx)
{
	const struct cfi_rule *ra = &s->regs[CFI_RA], *sp = &s->regs[CFI_SP];
	uint32_t rbx = tracks_bx ? encode_rbx(&s->regs[CFI_BX]) : ROW_RBX_LOST;
	enum row_why why;
	int64_t rbp;

	if (cie->is_signal)
		return encode_signal(s);
	if (ra->kind == CFI_UNDEFINED)
		return row_make(ROW_END, 0, 0, 0);
	if (sp->kind != CFI_NONE && !(sp->kind == CFI_VAL_OFFSET && sp->off == 0))
		return unsupported(ROW_WHY_RA); /* longjmp: another stack */
	if (!encode_rbp(&s->regs[CFI_FP], &rbp, &why))
		return unsupported(why);
	if (ra->kind == CFI_REG && ra->off == REG_RDI && !s->cfa_is_expr && s->cfa_reg == REG_RSP &&
	    fits(s->cfa_off))
		return row_make(ROW_RA_RDI, s->cfa_off / 8, rbp, rbx);
	if (ra->kind != CFI_OFFSET || ra->off != -8)
		return unsupported(ROW_WHY_RA);
	return encode_cfa(s, rbp, rbx);
}

const struct row_machine *row_machine_find(uint16_t elf_machine)
{
	enum {
		N = CFI_SLOT_CNT
	};
	static const struct row_machine x86_64 = {
		.elf_machine = EM_X86_64,
		.columns = { N,	     N, N, CFI_BX, N, N, CFI_FP, CFI_SP, N, N, N, N, N, N, N, N,
			     CFI_RA, N, N, N,	   N, N, N,	 N,	 N, N, N, N, N, N, N, N },
		.encode = encode_x86_64,
	};

	static const struct row_machine arm64 = {
		.elf_machine = EM_AARCH64,
		.columns = { N, N, N, N, N, N, N, N, N, N, N, N, N, N,	    N,	    N,
			     N, N, N, N, N, N, N, N, N, N, N, N, N, CFI_FP, CFI_RA, CFI_SP },
		.encode = row_encode_arm64,
	};

	switch (elf_machine) {
	case EM_X86_64:
		return &x86_64;
	case EM_AARCH64:
		return &arm64;
	default:
		return NULL;
	}
}
