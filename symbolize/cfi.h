/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame information: the entries of .eh_frame and .debug_frame, and the interpreter of their
 * instructions (DWARF 5, section 6.4; Linux Standard Base 5, section 10.6, for .eh_frame).
 *
 * A CIE (common information entry) holds what many functions share: alignment factors, pointer encoding,
 * the rules at the first instruction. An FDE (frame description entry) belongs to a function: its address
 * range and the instructions that change the rules as the pc advances. Only the rules for the CFA and four
 * registers are kept, which a walker needs: frame pointer, base register (rbx), stack pointer, return
 * address.
 *
 * All functions read within the section given and nowhere else; expressions stay pointers into it. */
#ifndef CP_SYMBOLIZE_CFI_H
#define CP_SYMBOLIZE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfi_rule_kind {
	CFI_NONE = 0,	    /* not mentioned: unchanged, for a callee-saved register */
	CFI_SAME = 1,	    /* said to be unchanged */
	CFI_UNDEFINED = 2,  /* cannot be recovered; for the return address: there is no caller */
	CFI_OFFSET = 3,	    /* saved at CFA + off */
	CFI_VAL_OFFSET = 4, /* is CFA + off */
	CFI_REG = 5,	    /* is in register off */
	CFI_EXPR = 6,	    /* saved at the address that the expression gives */
	CFI_VAL_EXPR = 7,   /* is what the expression gives */
};

struct cfi_rule {
	uint32_t kind;
	uint32_t expr_bytes;
	int64_t off;
	const uint8_t *expr;
};

enum cfi_slot {
	CFI_FP = 0,
	CFI_BX = 1,
	CFI_SP = 2,
	CFI_RA = 3,
	CFI_SLOT_CNT = 4,
};

/* The rules at one pc. The CFA is register cfa_reg plus cfa_off, or an expression. */
struct cfi_state {
	bool cfa_is_expr;
	uint32_t cfa_expr_bytes;
	uint64_t cfa_reg;
	int64_t cfa_off;
	const uint8_t *cfa_expr;
	struct cfi_rule regs[CFI_SLOT_CNT];
};

struct cfi_section {
	const uint8_t *data;
	size_t len_bytes;
	uint64_t vaddr; /* of data[0], for addresses relative to their own place */
	bool is_debug_frame;
	uint8_t columns[32]; /* DWARF register -> enum cfi_slot, CFI_SLOT_CNT for the others */
};

struct cfi_cie {
	size_t off_bytes; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses, DW_EH_PE_* */
	bool has_augmentation;
	bool is_signal; /* the frame is a signal trampoline */
	bool is_bad;	/* unknown version, augmentation or encoding: its functions have no rows */
	struct cfi_state init;
};

struct cfi_fde {
	uint64_t lo, hi; /* virtual addresses */
	uint32_t insn_off, insn_end;
	uint32_t cie; /* index into struct cfi_cies */
};

struct cfi_cies {
	struct cfi_cie *items; /* in the order of their offsets */
	size_t cnt;
	size_t cap;
};

/* Reads the entry at *pos_bytes and moves on to the next. CIEs are added to cies. Returns 1 with an FDE, 0
 * for entries that give none, -1 at the end (or where the section is damaged; *bad_cnt counts those). */
int cfi_next(const struct cfi_section *s, size_t *pos_bytes, struct cfi_cies *cies,
	     struct cfi_fde *fde, uint32_t *bad_cnt);
void cfi_cies_free(struct cfi_cies *cies);

/* Called with the rules that hold from pc on; with growing (or equal) pc. */
typedef void (*cfi_emit)(void *ctx, uint64_t pc, const struct cfi_cie *cie,
			 const struct cfi_state *state);

/* Runs the instructions of a function. Returns 0, or -1 if they are damaged; what was emitted until then
 * stands. */
int cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	    cfi_emit emit, void *ctx);

#endif
