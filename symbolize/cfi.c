/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame information; see cfi.h. */
#include "symbolize/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/cursor.h"
#include "user/base/mem.h"

enum {
	CIE_MAX = 1 << 17, /* linkers merge equal ones: the largest programs have some hundred */
	REMEMBER_MAX = 32, /* nesting of DW_CFA_remember_state; compilers use 1 or 2 */
};

/* What an entry starts with. */
struct entry {
	struct cursor body; /* after the id */
	size_t off_bytes;
	size_t id_off_bytes; /* where the id stands: FDEs of .eh_frame count back from here */
	uint64_t id;
	bool is_64bit;
};

/* An address as the CIE's encoding says. vaddr is that of the value itself. */
static uint64_t read_encoded(struct cursor *c, uint8_t encoding, uint64_t vaddr)
{
	uint64_t v;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = cursor_uint(c, 8);
		break;
	case DW_EH_PE_uleb128:
		v = cursor_uleb(c);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)cursor_sleb(c);
		break;
	case DW_EH_PE_udata2:
		v = cursor_uint(c, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int64_t)(int16_t)cursor_uint(c, 2);
		break;
	case DW_EH_PE_udata4:
		v = cursor_uint(c, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int64_t)(int32_t)cursor_uint(c, 4);
		break;
	default:
		cursor_fail(c);
		return 0;
	}
	return (encoding & 0x70) == DW_EH_PE_pcrel ? v + vaddr : v;
}

static bool encoding_is_known(uint8_t encoding)
{
	uint8_t base = encoding & 0xf0, format = encoding & 0x0f;

	return (base == DW_EH_PE_absptr || base == DW_EH_PE_pcrel) &&
	       (format <= DW_EH_PE_udata8 || (format >= 9 && format <= DW_EH_PE_sdata8));
}

/* The letters of the augmentation string and the data that go with them. */
static bool read_augmentation(struct cfi_cie *cie, struct cursor *c, const char *letters)
{
	struct cursor data;
	uint64_t len_bytes;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	cie->has_augmentation = true;
	len_bytes = cursor_uleb(c);
	if (len_bytes > cursor_left(c))
		return false;
	data = (struct cursor){ .p = c->p, .end = c->p + len_bytes };
	c->p += len_bytes;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(&data);

			(void)read_encoded(&data, encoding & 0x0f, 0);
			break;
		}
		case 'L':
			(void)cursor_u8(&data);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* arm64: return addresses are signed with key B */
			break;
		default: /* the rest cannot be told apart; what matters comes first in practice */
			return !data.is_bad;
		}
	}
	return !data.is_bad;
}

struct machine {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct cfi_state *state;
	struct cursor code;
	uint64_t pc, hi;
	cfi_emit emit; /* NULL while a CIE runs */
	void *ctx;
	struct cfi_state remembered[REMEMBER_MAX];
	size_t remembered_cnt;
};

static void set_rule(struct machine *m, uint64_t reg, uint32_t kind, int64_t off)
{
	uint8_t slot = reg < sizeof(m->section->columns) ? m->section->columns[reg] : CFI_SLOT_CNT;

	if (slot < CFI_SLOT_CNT)
		m->state->regs[slot] = (struct cfi_rule){ .kind = kind, .off = off };
}

static void set_expr(struct machine *m, uint64_t reg, uint32_t kind)
{
	uint64_t len_bytes = cursor_uleb(&m->code);
	const uint8_t *expr = m->code.p;
	uint8_t slot = reg < sizeof(m->section->columns) ? m->section->columns[reg] : CFI_SLOT_CNT;

	cursor_skip(&m->code, len_bytes);
	if (slot < CFI_SLOT_CNT && !m->code.is_bad)
		m->state->regs[slot] = (struct cfi_rule){ .kind = kind,
							  .expr_bytes = (uint32_t)len_bytes,
							  .expr = expr };
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	uint8_t slot = reg < sizeof(m->section->columns) ? m->section->columns[reg] : CFI_SLOT_CNT;

	if (slot < CFI_SLOT_CNT && m->emit) /* in a CIE there is nothing to go back to */
		m->state->regs[slot] = m->cie->init.regs[slot];
}

/* Returns false at the function's end: instructions for later addresses do not matter. */
static bool advance(struct machine *m, uint64_t delta)
{
	if (!m->emit)
		return true;
	m->emit(m->ctx, m->pc, m->cie, m->state);
	if (__builtin_add_overflow(m->pc, delta, &m->pc))
		m->pc = m->hi;
	return m->pc < m->hi;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->state->cfa_is_expr = false;
	m->state->cfa_reg = reg;
	m->state->cfa_off = off;
}

static int64_t factored(const struct machine *m, uint64_t v)
{
	return (int64_t)(v * (uint64_t)m->cie->data_align);
}

/* The instructions that set the rule of a register. */
static bool step_rule(struct machine *m, uint8_t op)
{
	uint64_t reg = cursor_uleb(&m->code);

	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(m, reg, CFI_OFFSET, factored(m, cursor_uleb(&m->code)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(m, reg, CFI_OFFSET, factored(m, (uint64_t)cursor_sleb(&m->code)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(m, reg, CFI_OFFSET, factored(m, 0 - cursor_uleb(&m->code)));
		return true;
	case DW_CFA_val_offset:
		set_rule(m, reg, CFI_VAL_OFFSET, factored(m, cursor_uleb(&m->code)));
		return true;
	case DW_CFA_val_offset_sf:
		set_rule(m, reg, CFI_VAL_OFFSET, factored(m, (uint64_t)cursor_sleb(&m->code)));
		return true;
	case DW_CFA_restore_extended:
		restore_rule(m, reg);
		return true;
	case DW_CFA_undefined:
		set_rule(m, reg, CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(m, reg, CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		set_rule(m, reg, CFI_REG, (int64_t)cursor_uleb(&m->code));
		return true;
	case DW_CFA_expression:
		set_expr(m, reg, CFI_EXPR);
		return true;
	case DW_CFA_val_expression:
		set_expr(m, reg, CFI_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

/* The instructions that set the CFA. Returns false if op is none of them. */
static bool step_cfa(struct machine *m, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case DW_CFA_def_cfa:
		v = cursor_uleb(&m->code);
		set_cfa(m, v, (int64_t)cursor_uleb(&m->code));
		return true;
	case DW_CFA_def_cfa_sf:
		v = cursor_uleb(&m->code);
		set_cfa(m, v, factored(m, (uint64_t)cursor_sleb(&m->code)));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(m, cursor_uleb(&m->code), m->state->cfa_off);
		return true;
	case DW_CFA_def_cfa_offset:
		m->state->cfa_off = (int64_t)cursor_uleb(&m->code);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->state->cfa_off = factored(m, (uint64_t)cursor_sleb(&m->code));
		return true;
	case DW_CFA_def_cfa_expression:
		v = cursor_uleb(&m->code);
		m->state->cfa_is_expr = true;
		m->state->cfa_expr = m->code.p;
		m->state->cfa_expr_bytes = (uint32_t)v;
		cursor_skip(&m->code, v);
		return true;
	default:
		return false;
	}
}

static bool step_remember(struct machine *m, uint8_t op)
{
	if (op == DW_CFA_remember_state) {
		if (m->remembered_cnt == REMEMBER_MAX)
			return false;
		m->remembered[m->remembered_cnt++] = *m->state;
		return true;
	}
	if (!m->remembered_cnt)
		return false;
	*m->state = m->remembered[--m->remembered_cnt];
	return true;
}

/* One instruction without operand bits: 1 = go on, 0 = the function's end, -1 = damaged. */
static int step_extended(struct machine *m, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case DW_CFA_nop:
		return 1;
	case DW_CFA_set_loc:
		v = m->section->vaddr + (uint64_t)(m->code.p - m->section->data);
		v = read_encoded(&m->code, m->cie->encoding, v);
		if (v < m->pc && m->emit)
			return -1;
		return advance(m, v - m->pc);
	case DW_CFA_advance_loc1:
		return advance(m, cursor_u8(&m->code) * m->cie->code_align);
	case DW_CFA_advance_loc2:
		return advance(m, cursor_uint(&m->code, 2) * m->cie->code_align);
	case DW_CFA_advance_loc4:
		return advance(m, cursor_uint(&m->code, 4) * m->cie->code_align);
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		return step_remember(m, op) ? 1 : -1;
	case DW_CFA_GNU_args_size:
		(void)cursor_uleb(&m->code);
		return 1;
	case DW_CFA_GNU_window_save: /* on arm64: toggles the signing of the return address */
		return 1;
	default:
		return step_cfa(m, op) || step_rule(m, op) ? 1 : -1;
	}
}

static int run(struct machine *m)
{
	int rc;

	while (m->code.p < m->code.end) {
		uint8_t op = *m->code.p++, low = op & 0x3f;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			rc = advance(m, low * m->cie->code_align);
			break;
		case DW_CFA_offset:
			set_rule(m, low, CFI_OFFSET, factored(m, cursor_uleb(&m->code)));
			rc = 1;
			break;
		case DW_CFA_restore:
			restore_rule(m, low);
			rc = 1;
			break;
		default:
			rc = step_extended(m, op);
		}
		if (m->code.is_bad || rc < 0)
			return -1;
		if (!rc)
			return 0;
	}
	if (m->emit)
		m->emit(m->ctx, m->pc, m->cie, m->state);
	return 0;
}

static bool read_cie_head(struct cfi_cie *cie, struct cursor *c, const struct cfi_section *s)
{
	uint8_t version = cursor_u8(c);
	const char *letters = (const char *)c->p;
	const uint8_t *nul = memchr(c->p, 0, cursor_left(c));
	uint64_t ra;

	if (!nul || !(version == 1 || version == 3 || version == 4))
		return false;
	c->p = nul + 1;
	if (!strcmp(letters, "eh")) { /* of gcc 2: a pointer, then nothing of interest */
		cursor_skip(c, 8);
		letters = "";
	}
	if (version == 4) {
		if (cursor_u8(c) != 8 || cursor_u8(c) != 0) /* sizes of addresses, of segments */
			return false;
	}
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	ra = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	if (ra >= sizeof(s->columns) || s->columns[ra] != CFI_RA)
		return false;
	return read_augmentation(cie, c, letters) && !c->is_bad && encoding_is_known(cie->encoding);
}

static void read_cie(const struct cfi_section *s, struct entry *e, struct cfi_cies *cies,
		     uint32_t *bad_cnt)
{
	struct cfi_cie cie = { .off_bytes = e->off_bytes };
	struct machine m = { .section = s, .cie = &cie, .state = &cie.init };

	if (cies->cnt == CIE_MAX) {
		(*bad_cnt)++;
		return;
	}
	cie.is_bad = !read_cie_head(&cie, &e->body, s);
	m.code = e->body;
	if (!cie.is_bad)
		cie.is_bad = run(&m) != 0;
	*bad_cnt += cie.is_bad;
	cies->items = xgrow(cies->items, &cies->cap, cies->cnt + 1, sizeof(cie));
	cies->items[cies->cnt++] = cie;
}

/* Index of the CIE at an offset, or -1. Functions mostly use the last one. */
static int64_t find_cie(const struct cfi_cies *cies, size_t off_bytes)
{
	size_t lo = 0, hi = cies->cnt;

	if (hi && cies->items[hi - 1].off_bytes == off_bytes)
		return (int64_t)hi - 1;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cies->items[mid].off_bytes < off_bytes)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < cies->cnt && cies->items[lo].off_bytes == off_bytes ? (int64_t)lo : -1;
}

static int read_fde(const struct cfi_section *s, struct entry *e, const struct cfi_cies *cies,
		    struct cfi_fde *fde)
{
	size_t cie_off = s->is_debug_frame ? e->id : e->id_off_bytes - e->id;
	int64_t i = e->id <= s->len_bytes ? find_cie(cies, cie_off) : -1;
	const struct cfi_cie *cie = i >= 0 ? &cies->items[i] : NULL;
	struct cursor *c = &e->body;
	uint64_t size_bytes;

	if (!cie || cie->is_bad)
		return -1;
	fde->cie = (uint32_t)i;
	fde->lo = read_encoded(c, cie->encoding, s->vaddr + (uint64_t)(c->p - s->data));
	/* a length: never relative to anything, and never negative */
	size_bytes = read_encoded(c, cie->encoding & 0x07, 0);
	if (cie->has_augmentation)
		cursor_skip(c, cursor_uleb(c));
	if (c->is_bad || __builtin_add_overflow(fde->lo, size_bytes, &fde->hi))
		return -1;
	fde->insn_off = (uint32_t)(c->p - s->data);
	fde->insn_end = (uint32_t)(c->end - s->data);
	return 0;
}

/* 1 = an entry, 0 = a terminator, -1 = the end. */
static int read_entry(const struct cfi_section *s, size_t *pos_bytes, struct entry *e)
{
	struct cursor c = { .p = s->data + *pos_bytes, .end = s->data + s->len_bytes };
	uint64_t len_bytes;

	if (cursor_left(&c) < 4)
		return -1;
	e->off_bytes = *pos_bytes;
	len_bytes = cursor_uint(&c, 4);
	e->is_64bit = len_bytes == 0xffffffff;
	if (e->is_64bit)
		len_bytes = cursor_uint(&c, 8);
	if (c.is_bad || len_bytes > cursor_left(&c))
		return -1;
	*pos_bytes = (size_t)(c.p - s->data) + len_bytes;
	c.end = c.p + len_bytes;
	if (!len_bytes)
		return 0;
	e->id_off_bytes = (size_t)(c.p - s->data);
	e->id = cursor_uint(&c, e->is_64bit && s->is_debug_frame ? 8 : 4);
	e->body = c;
	return c.is_bad ? 0 : 1;
}

int cfi_next(const struct cfi_section *s, size_t *pos_bytes, struct cfi_cies *cies,
	     struct cfi_fde *fde, uint32_t *bad_cnt)
{
	uint64_t cie_id = 0;
	struct entry e;
	int rc = read_entry(s, pos_bytes, &e);

	if (rc < 0 && s->len_bytes - *pos_bytes >= 4)
		(*bad_cnt)++;
	if (rc <= 0)
		return rc;
	if (s->is_debug_frame)
		cie_id = e.is_64bit ? ~0ULL : 0xffffffff;
	if (e.id == cie_id) {
		read_cie(s, &e, cies, bad_cnt);
		return 0;
	}
	if (read_fde(s, &e, cies, fde)) {
		(*bad_cnt)++;
		return 0;
	}
	return 1;
}

void cfi_cies_free(struct cfi_cies *cies)
{
	free(cies->items);
	*cies = (struct cfi_cies){ 0 };
}

int cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	    cfi_emit emit, void *ctx)
{
	struct cfi_state state = cie->init;
	struct machine m;

	/* not all of it: the remembered states are large and need no initial value */
	m.section = s;
	m.cie = cie;
	m.state = &state;
	m.code = (struct cursor){ .p = s->data + fde->insn_off, .end = s->data + fde->insn_end };
	m.pc = fde->lo;
	m.hi = fde->hi;
	m.emit = emit;
	m.ctx = ctx;
	m.remembered_cnt = 0;
	return run(&m);
}
