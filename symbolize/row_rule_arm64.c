/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of arm64; see row_rule.h, and enum row_a64 in bpf/row.h. Register numbers are DWARF's (AADWARF64): x29 is
 * the frame pointer, x30 the link register, which holds the return address until a function saves it; 31 is sp.
 *
 * Nearly all functions that save it store the pair x29, x30 at the bottom of their frame (the frame record), so
 * that its distance from the CFA is the size of the frame, which would not fit a row's 8 bits: it is named by
 * its place at the register that the CFA counts from instead. */
#include "symbolize/row_rule_arm64.h"

#include <linux/types.h>

#include "bpf/row.h"

enum dwarf_reg {
	REG_X29 = 29,
	REG_SP = 31,
};

static uint64_t unsupported(enum row_why why)
{
	return row_make(ROW_UNSUPPORTED, why, 0, 0);
}

static bool is_same(const struct cfi_rule *r)
{
	return r->kind == CFI_NONE || r->kind == CFI_SAME;
}

static bool fits(int64_t off, int64_t min, int64_t max)
{
	return off % 8 == 0 && off / 8 >= min && off / 8 <= max;
}

/* Where the return address and x29 are: x and n of a row. False if no row says it. */
static bool encode_saved(const struct cfi_state *s, uint32_t *x, int64_t *n)
{
	const struct cfi_rule *fp = &s->regs[CFI_FP], *ra = &s->regs[CFI_RA];

	*n = 0;
	*x = ROW_A64_LR;
	if (is_same(fp) && is_same(ra))
		return true;
	if (ra->kind != CFI_OFFSET)
		return false;
	if (is_same(fp)) {
		*x = ROW_A64_RA;
		*n = ra->off / 8;
		return fits(ra->off, INT8_MIN, INT8_MAX);
	}
	if (fp->kind != CFI_OFFSET || ra->off != fp->off + 8)
		return false;
	if (fp->off == -s->cfa_off) {
		*x = ROW_A64_RECORD;
		return true;
	}
	*x = ROW_A64_PAIR;
	*n = fp->off / 8;
	return fits(fp->off, INT8_MIN, INT8_MAX);
}

uint64_t row_encode_arm64(const struct cfi_cie *cie, const struct cfi_state *s, bool tracks_bx)
{
	const struct cfi_rule *sp = &s->regs[CFI_SP];
	int64_t n;
	uint32_t x;

	(void)tracks_bx;
	if (cie->is_signal)
		return unsupported(ROW_WHY_SIGNAL);
	if (s->regs[CFI_RA].kind == CFI_UNDEFINED)
		return row_make(ROW_END, 0, 0, 0);
	if (sp->kind != CFI_NONE && !(sp->kind == CFI_VAL_OFFSET && sp->off == 0))
		return unsupported(ROW_WHY_RA);
	if (s->cfa_is_expr)
		return unsupported(ROW_WHY_CFA_EXPR);
	if (s->cfa_reg != REG_SP && s->cfa_reg != REG_X29)
		return unsupported(ROW_WHY_CFA_REG);
	if (!fits(s->cfa_off, INT16_MIN, INT16_MAX))
		return unsupported(ROW_WHY_OFFSET);
	if (!encode_saved(s, &x, &n))
		return unsupported(ROW_WHY_RA);
	return row_make(s->cfa_reg == REG_SP ? ROW_RSP : ROW_RBP, s->cfa_off / 8, n, x);
}
