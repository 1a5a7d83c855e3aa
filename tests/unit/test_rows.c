/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rows of hand-made files: each call frame instruction, each kind of row, each promise of a table,
 * each reason to refuse. */
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "symbolize/rows.h"
#include "tests/unit/tiny_elf.h"
#include "user/base/buf.h"
#include "user/base/mem.h"

/* ---- making unwind sections ---- */

static void put_u32(struct buf *b, uint32_t v)
{
	buf_append(b, &v, 4);
}

static void close_entry(struct buf *b, size_t start)
{
	uint32_t len_bytes;

	while ((b->len_bytes - start) % 8 != 0)
		buf_putc(b, DW_CFA_nop);
	len_bytes = (uint32_t)(b->len_bytes - start - 4);
	memcpy(b->data + start, &len_bytes, 4);
}

/* A CIE as gcc makes it: data alignment -8, CFA = rsp + 8, return address at CFA - 8. */
static size_t put_cie(struct buf *b, const char *letters)
{
	static const char init[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	size_t start = b->len_bytes;

	put_u32(b, 0);
	put_u32(b, 0);
	buf_putc(b, 1);
	buf_append(b, letters, strlen(letters) + 1);
	buf_append(b, "\x01\x78\x10\x01\x1b", 5);
	buf_append(b, init, sizeof(init));
	close_entry(b, start);
	return start;
}

static void put_fde(struct buf *b, size_t cie, uint32_t lo, uint32_t len_bytes, const char *code,
		    size_t code_bytes)
{
	size_t start = b->len_bytes;

	put_u32(b, 0);
	put_u32(b, (uint32_t)(start + 4 - cie));
	put_u32(b, lo - (uint32_t)(TINY_FRAME + start + 8));
	put_u32(b, len_bytes);
	buf_putc(b, 0);
	buf_append(b, code, code_bytes);
	close_entry(b, start);
}

static struct row_table compile_section(const char *section, const struct buf *b, uint64_t plt)
{
	struct tiny_elf e = tiny_elf_make(section, (const uint8_t *)b->data, b->len_bytes, plt);
	struct row_table t;
	struct err err = { 0 };

	if (rows_compile(e.data, e.len_bytes, &t, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(rows_check(&t, &err), 0);
	free(e.data);
	return t;
}

static struct row_table compile_frames(const struct buf *b)
{
	return compile_section(".eh_frame", b, 0);
}

/* ---- instructions ---- */

#define CODE(...) (const char[]){ __VA_ARGS__ }, sizeof((const char[]){ __VA_ARGS__ })
#define NEXT	  DW_CFA_advance_loc | 1

struct code_case {
	const char *name;
	const char *code;
	size_t code_bytes;
	uint32_t at; /* the row of function start + at ... */
	uint64_t want;
};

#define ROW(...) row_make(__VA_ARGS__)

static const struct code_case *code_cases(size_t *cnt)
{
	static struct code_case c[64];
	size_t n = 0;

#define CASE(what, offset, row, ...)                                                  \
	do {                                                                          \
		static const char code[] = { __VA_ARGS__ };                           \
		c[n++] = (struct code_case){ what, code, sizeof(code), offset, row }; \
	} while (0)

	CASE("initial", 0, ROW(ROW_RSP, 1, 0, 0), DW_CFA_nop);
	CASE("push rbp", 1, ROW(ROW_RSP, 2, -2, 0), NEXT, DW_CFA_def_cfa_offset, 16,
	     DW_CFA_offset | 6, 2);
	CASE("mov rsp, rbp", 2, ROW(ROW_RBP, 2, -2, 0), NEXT, DW_CFA_def_cfa_offset, 16,
	     DW_CFA_offset | 6, 2, NEXT, DW_CFA_def_cfa_register, 6);
	CASE("before the advance", 0, ROW(ROW_RSP, 1, 0, 0), NEXT, DW_CFA_def_cfa_offset, 16);
	CASE("advance_loc1", 200, ROW(ROW_RSP, 2, 0, 0), DW_CFA_advance_loc1, (char)200,
	     DW_CFA_def_cfa_offset, 16);
	CASE("advance_loc2", 300, ROW(ROW_RSP, 2, 0, 0), DW_CFA_advance_loc2, 44, 1,
	     DW_CFA_def_cfa_offset, 16);
	CASE("advance_loc4", 299, ROW(ROW_RSP, 1, 0, 0), DW_CFA_advance_loc4, 44, 1, 0, 0,
	     DW_CFA_def_cfa_offset, 16);
	CASE("def_cfa_sf", 0, ROW(ROW_RSP, 3, 0, 0), DW_CFA_def_cfa_sf, 7, 0x7d);
	CASE("def_cfa_offset_sf", 0, ROW(ROW_RSP, 4, 0, 0), DW_CFA_def_cfa_offset_sf, 0x7c);
	CASE("offset_extended", 0, ROW(ROW_RSP, 1, -3, 0), DW_CFA_offset_extended, 6, 3);
	CASE("offset_extended_sf", 0, ROW(ROW_RSP, 1, 3, 0), DW_CFA_offset_extended_sf, 6, 0x7d);
	CASE("negative_offset", 0, ROW(ROW_RSP, 1, 3, 0), DW_CFA_GNU_negative_offset_extended, 6,
	     3);
	CASE("restore", 0, ROW(ROW_RSP, 1, 0, 0), DW_CFA_offset | 6, 2, DW_CFA_restore | 6);
	CASE("restore_extended", 0, ROW(ROW_RSP, 1, 0, 0), DW_CFA_offset | 6, 2,
	     DW_CFA_restore_extended, 6);
	CASE("remember", 2, ROW(ROW_RSP, 1, 0, 0), DW_CFA_remember_state, NEXT,
	     DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 6, 2, NEXT, DW_CFA_restore_state);
	CASE("args_size", 1, ROW(ROW_RSP, 2, 0, 0), DW_CFA_GNU_args_size, 32, NEXT,
	     DW_CFA_def_cfa_offset, 16);
	CASE("same_value", 0, ROW(ROW_RSP, 1, 0, 0), DW_CFA_offset | 6, 2, DW_CFA_same_value, 6);
	CASE("other registers", 0, ROW(ROW_RSP, 1, 0, 0), DW_CFA_offset | 12, 2, DW_CFA_undefined,
	     1, DW_CFA_register, 3, 8);
	CASE("root", 0, ROW(ROW_END, 0, 0, 0), DW_CFA_undefined, 16);
	CASE("vfork", 0, ROW(ROW_RA_RDI, 0, 0, 0), DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16,
	     5);
	CASE("plt", 0, ROW(ROW_PLT, 11, 0, 0), DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
	     (char)DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
	     DW_OP_shl, DW_OP_plus);
	CASE("drap", 0, ROW(ROW_DEREF_RBP, -1, 127, 0), DW_CFA_def_cfa_expression, 3, DW_OP_breg6,
	     0x78, DW_OP_deref, DW_CFA_expression, 6, 2, DW_OP_breg6, 0);
	CASE("kept rsp", 0, ROW(ROW_DEREF_RSP, 19, 0, 1), DW_CFA_def_cfa_expression, 6, DW_OP_breg7,
	     (char)0x98, 1, DW_OP_deref, DW_OP_plus_uconst, 8);
	CASE("r10", 0, ROW(ROW_REG, 0, 0, ROW_REG_R10), DW_CFA_def_cfa, 10, 0);
	CASE("rax", 0, ROW(ROW_REG, 1, 0, ROW_REG_RAX), DW_CFA_def_cfa_register, 0);
	CASE("rbp next to the end of its field", 0, ROW(ROW_RSP, 1, 126, 0),
	     DW_CFA_offset_extended_sf, 6, (char)0x82, 0x7f);
	CASE("rbp too far", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_OFFSET, 0, 0),
	     DW_CFA_offset_extended_sf, 6, (char)0x81, 0x7f);
	CASE("rbp at the cfa", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_OFFSET, 0, 0), DW_CFA_offset | 6, 0);
	CASE("rbp in a register", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RBP, 0, 0), DW_CFA_register, 6,
	     9);
	CASE("rbp computed", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RBP, 0, 0), DW_CFA_val_expression, 6,
	     2, DW_OP_breg6, 0);
	CASE("rbp val_offset", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RBP, 0, 0), DW_CFA_val_offset, 6, 2);
	CASE("rsp elsewhere", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RA, 0, 0), DW_CFA_register, 7, 8);
	CASE("ra elsewhere", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RA, 0, 0), DW_CFA_offset | 16, 2);
	CASE("ra in another register", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_RA, 0, 0), DW_CFA_register,
	     16, 1);
	CASE("odd offset", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_OFFSET, 0, 0), DW_CFA_def_cfa_offset,
	     12);
	CASE("largest offset", 0, ROW(ROW_RSP, 32767, 0, 0), DW_CFA_def_cfa_offset, (char)0xf8,
	     (char)0xff, 0x0f);
	CASE("far offset", 0, ROW(ROW_RSP_FAR, 32768, 0, 0), DW_CFA_def_cfa_offset, (char)0x80,
	     (char)0x80, 0x10);
	CASE("farthest offset", 0, ROW(ROW_RSP_FAR, 0xffff, -2, 7), DW_CFA_def_cfa_offset,
	     (char)0xf8, (char)0xff, (char)0xff, 1, DW_CFA_offset | 6, 2);
	CASE("too far", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_OFFSET, 0, 0), DW_CFA_def_cfa_offset,
	     (char)0x80, (char)0x80, (char)0x80, 2);
	CASE("far from another register", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_OFFSET, 0, 0),
	     DW_CFA_def_cfa, 6, (char)0x80, (char)0x80, 0x10);
	CASE("another register", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_CFA_REG, 0, 0), DW_CFA_def_cfa, 14,
	     8);
	CASE("another expression", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_CFA_EXPR, 0, 0),
	     DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8);
	CASE("unknown instruction", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_BAD, 0, 0), NEXT, 0x3f);
	CASE("nonsense after a change", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_BAD, 0, 0), NEXT,
	     DW_CFA_def_cfa_offset, 16, NEXT, DW_CFA_def_cfa_offset, 24, NEXT, 0x3f);
	CASE("restore without remember", 1, ROW(ROW_UNSUPPORTED, ROW_WHY_BAD, 0, 0), NEXT,
	     DW_CFA_restore_state);
	CASE("cut off", 0, ROW(ROW_UNSUPPORTED, ROW_WHY_BAD, 0, 0), DW_CFA_def_cfa_expression, 99);
#undef CASE
	*cnt = n;
	return c;
}

static void test_instructions(void **state)
{
	size_t cnt;
	const struct code_case *cases = code_cases(&cnt);

	(void)state;
	for (size_t i = 0; i < cnt; i++) {
		struct buf b = { 0 };
		struct row_table t;
		uint64_t have;

		put_fde(&b, put_cie(&b, "zR"), 0x2000, 0x200, cases[i].code, cases[i].code_bytes);
		t = compile_frames(&b);
		have = rows_find(&t, 0x2000 + cases[i].at);
		if (row_rule(have) != row_rule(cases[i].want))
			fail_msg("%s: rule 0x%x, not 0x%x", cases[i].name, row_rule(have),
				 row_rule(cases[i].want));
		assert_int_equal(row_kind(rows_find(&t, 0x1fff)), ROW_GAP);
		assert_int_equal(row_kind(rows_find(&t, 0x2200)), ROW_GAP);
		rows_free(&t);
		buf_free(&b);
	}
}

static void test_remember_too_deep(void **state)
{
	char code[40];
	struct buf b = { 0 };
	struct row_table t;

	(void)state;
	memset(code, DW_CFA_remember_state, sizeof(code));
	put_fde(&b, put_cie(&b, "zR"), 0x2000, 0x200, code, sizeof(code));
	t = compile_frames(&b);
	assert_int_equal(t.stats.bad_fde_cnt, 1);
	assert_int_equal(row_kind(rows_find(&t, 0x2000)), ROW_UNSUPPORTED);
	rows_free(&t);
	buf_free(&b);
}

static void test_signal(void **state)
{
	static const char libc[] = {
		DW_CFA_def_cfa_expression, 4,  DW_OP_breg7, (char)0xa0,	 1,	     DW_OP_deref,
		DW_CFA_expression,	   16, 3,	    DW_OP_breg7, (char)0xa8, 1,
		DW_CFA_expression,	   7,  3,	    DW_OP_breg7, (char)0xa0, 1,
		DW_CFA_expression,	   6,  3,	    DW_OP_breg7, (char)0xf8, 0,
		DW_CFA_expression,	   3,  3,	    DW_OP_breg7, (char)0x80, 1
	};
	struct buf b = { 0 };
	size_t cie = put_cie(&b, "zRS");
	struct row_table t;

	(void)state;
	put_fde(&b, cie, 0x2000, 9, libc, sizeof(libc));
	put_fde(&b, cie, 0x2100, 9, libc, sizeof(libc) - 6); /* does not say where rbx is */
	t = compile_frames(&b);
	assert_int_equal(row_kind(rows_find(&t, 0x2000)), ROW_SIGNAL);
	assert_int_equal(row_kind(rows_find(&t, 0x2100)), ROW_UNSUPPORTED);
	assert_int_equal(row_off(rows_find(&t, 0x2100)), ROW_WHY_SIGNAL);
	rows_free(&t);
	buf_free(&b);
}

/* A file in which some CFA counts from rbx says everywhere where rbx is; others do not. */
static void test_rbx(void **state)
{
	for (int with = 0; with < 2; with++) {
		struct buf b = { 0 };
		size_t cie = put_cie(&b, "zR");
		struct row_table t;

		(void)state;
		put_fde(&b, cie, 0x2000, 16,
			CODE(DW_CFA_offset | 3, 5, NEXT, DW_CFA_offset | 3, 9));
		put_fde(&b, cie, 0x2010, 16, CODE(DW_CFA_nop));
		if (with)
			put_fde(&b, cie, 0x2020, 16, CODE(DW_CFA_def_cfa_register, 3));
		t = compile_frames(&b);
		assert_int_equal(row_x(rows_find(&t, 0x2000)), with ? 5 : ROW_RBX_LOST);
		assert_int_equal(row_x(rows_find(&t, 0x2001)), ROW_RBX_LOST); /* too far */
		assert_int_equal(row_x(rows_find(&t, 0x2010)), with ? ROW_RBX_SAME : ROW_RBX_LOST);
		assert_int_equal(t.row_cnt, with ? 5 : 2);
		assert_int_equal(t.stats.kind_cnt[ROW_RBX], with);
		assert_int_equal(t.stats.fde_cnt, with ? 3 : 2);
		rows_free(&t);
		buf_free(&b);
	}
}

/* ---- ranges ---- */

static void test_ranges(void **state)
{
	struct buf b = { 0 };
	size_t cie = put_cie(&b, "zR");
	struct row_table t;

	(void)state;
	put_fde(&b, cie, 0x3000, 0x100, CODE(DW_CFA_def_cfa_offset, 24)); /* not in order */
	put_fde(&b, cie, 0x2010, 0x20, CODE(DW_CFA_def_cfa_offset, 16));
	put_fde(&b, cie, 0x203f, 0x10,
		CODE(DW_CFA_def_cfa_offset, 32)); /* after 15 bytes of padding */
	put_fde(&b, cie, 0x205f, 0x10, CODE(DW_CFA_def_cfa_offset, 40));  /* after a hole of 16 */
	put_fde(&b, cie, 0x3080, 0x100, CODE(DW_CFA_def_cfa_offset, 48)); /* overlaps: cut */
	put_fde(&b, cie, 0x3010, 0x10, CODE(DW_CFA_def_cfa_offset, 56));  /* covered: left out */
	put_fde(&b, cie, 0x3000, 0x10, CODE(DW_CFA_def_cfa_offset, 64));  /* second at one place */
	put_fde(&b, cie, 0x100, 0x10, CODE(DW_CFA_nop));		  /* not in the text */
	put_fde(&b, cie, 0x4000, 0, CODE(DW_CFA_nop));			  /* empty */
	put_fde(&b, cie, 0x10fff, 0x100,
		CODE(DW_CFA_def_cfa_offset, 72)); /* beyond the text: cut */
	t = compile_frames(&b);
	assert_int_equal(t.base_vaddr, 0x2000);
	assert_int_equal(row_kind(rows_find(&t, 0x2000)),
			 ROW_GAP); /* less than 16, but the start */
	assert_int_equal(row_off(rows_find(&t, 0x2010)), 2);
	assert_int_equal(row_off(rows_find(&t, 0x203e)),
			 2); /* padding goes with what is before it */
	assert_int_equal(row_off(rows_find(&t, 0x203f)), 4);
	assert_int_equal(row_kind(rows_find(&t, 0x204f)), ROW_GAP);
	assert_int_equal(row_kind(rows_find(&t, 0x205e)), ROW_GAP);
	assert_int_equal(row_off(rows_find(&t, 0x205f)), 5);
	assert_int_equal(row_off(rows_find(&t, 0x3010)), 3);
	assert_int_equal(row_off(rows_find(&t, 0x30ff)), 3);
	assert_int_equal(row_off(rows_find(&t, 0x3100)), 6);
	assert_int_equal(row_off(rows_find(&t, 0x10fff)), 9);
	assert_int_equal(row_kind(rows_find(&t, 0x11000)), ROW_GAP);
	assert_int_equal(t.stats.overlap_fde_cnt, 3);
	assert_int_equal(t.stats.outside_fde_cnt, 2);
	assert_int_equal(t.stats.fde_cnt, 6);
	rows_free(&t);
	buf_free(&b);
}

static void test_debug_frame_fills(void **state)
{
	struct buf b = { 0 };
	uint64_t lo = 0x2000, len_bytes = 0x40;
	struct row_table t;
	size_t start;

	(void)state;
	put_u32(&b, 0);
	put_u32(&b, 0xffffffff);
	buf_append(&b, "\x04\x00\x08\x00\x01\x78\x10\x0c\x07\x08\x90\x01", 12); /* version 4 */
	close_entry(&b, 0);
	start = b.len_bytes;
	put_u32(&b, 0);
	put_u32(&b, 0); /* the CIE's offset in the section */
	buf_append(&b, &lo, 8);
	buf_append(&b, &len_bytes, 8);
	buf_append(&b, CODE(NEXT, DW_CFA_def_cfa_offset, 16));
	close_entry(&b, start);
	t = compile_section(".debug_frame", &b, 0);
	assert_int_equal(row_off(rows_find(&t, 0x2000)), 1);
	assert_int_equal(row_off(rows_find(&t, 0x203f)), 2);
	assert_int_equal(row_kind(rows_find(&t, 0x2040)), ROW_GAP);
	rows_free(&t);
	buf_free(&b);
}

/* The text of a tiny file is zeros: stubs that only jump, as far as anybody can see. */
static void test_plt_without_frames(void **state)
{
	struct buf b = { 0 };
	struct row_table t;

	(void)state;
	put_fde(&b, put_cie(&b, "zR"), 0x3010, 0x10, CODE(DW_CFA_def_cfa_offset, 24));
	t = compile_section(".eh_frame", &b, 0x3000);
	assert_int_equal(row_off(rows_find(&t, 0x3000)), 1);
	assert_int_equal(row_off(rows_find(&t, 0x3010)), 3); /* its own information comes first */
	assert_int_equal(row_off(rows_find(&t, 0x3020)), 1);
	assert_int_equal(row_off(rows_find(&t, 0x303f)), 1);
	assert_int_equal(row_kind(rows_find(&t, 0x3040)), ROW_GAP);
	rows_free(&t);
	buf_free(&b);
}

/* The first instructions of a program or of its loader, where nothing describes them, have no caller. */
static void test_start_without_frames(void **state)
{
	struct buf b = { 0 };
	struct tiny_elf e;
	struct row_table t;
	uint64_t entry = 0x3000;

	(void)state;
	put_fde(&b, put_cie(&b, "zR"), 0x3040, 0x10, CODE(DW_CFA_def_cfa_offset, 24));
	e = tiny_elf_make(".eh_frame", (const uint8_t *)b.data, b.len_bytes, 0);
	for (int i = 0; i < 2; i++, entry = 0x3040) {
		memcpy(e.data + offsetof(Elf64_Ehdr, e_entry), &entry, sizeof(entry));
		assert_int_equal(rows_compile(e.data, e.len_bytes, &t, NULL), 0);
		assert_int_equal(rows_check(&t, NULL), 0);
		assert_int_equal(row_kind(rows_find(&t, 0x2fff)), ROW_GAP);
		assert_int_equal(row_kind(rows_find(&t, 0x3000)), i ? ROW_GAP : ROW_END);
		assert_int_equal(row_kind(rows_find(&t, 0x303f)), i ? ROW_GAP : ROW_END);
		assert_int_equal(row_off(rows_find(&t, 0x3040)), 3); /* described: it counts */
		assert_int_equal(row_kind(rows_find(&t, 0x3050)),
				 ROW_GAP); /* start code is one piece */
		rows_free(&t);
	}
	free(e.data);
	buf_free(&b);
}

static void test_damaged_sections(void **state)
{
	struct buf b = { 0 };
	size_t cie = put_cie(&b, "zR");
	struct row_table t;

	(void)state;
	put_cie(&b, "zX?"); /* unknown letters: the rest is skipped */
	put_fde(&b, put_cie(&b, "X"), 0x2000, 16, CODE(DW_CFA_nop)); /* these cannot be skipped */
	put_fde(&b, cie + 4, 0x2000, 16, CODE(DW_CFA_nop));	     /* no CIE there */
	put_fde(&b, cie, 0x2100, 16, CODE(DW_CFA_def_cfa_offset, 16));
	put_u32(&b, 0); /* a terminator in between, as crtend.o's */
	put_fde(&b, cie, 0x2200, 16, CODE(DW_CFA_def_cfa_offset, 24));
	put_u32(&b, 0x1000); /* longer than the section */
	put_u32(&b, 0);
	t = compile_frames(&b);
	assert_int_equal(t.stats.fde_cnt, 2);
	assert_int_equal(t.stats.bad_fde_cnt, 4);
	assert_int_equal(row_off(rows_find(&t, 0x2200)), 3);
	rows_free(&t);
	buf_free(&b);
}

/* ---- files ---- */

static void expect_refused(const void *image, size_t len_bytes, int code, const char *says)
{
	struct row_table t;
	struct err err = { 0 };

	assert_int_equal(rows_compile(image, len_bytes, &t, &err), code);
	assert_non_null(strstr(err.msg, says));
	assert_null(t.rows);
}

static void test_refused(void **state)
{
	struct buf b = { 0 };
	struct tiny_elf e;
	Elf64_Ehdr *eh;
	Elf64_Phdr *ph;

	(void)state;
	put_fde(&b, put_cie(&b, "zR"), 0x2000, 16, CODE(DW_CFA_nop));
	e = tiny_elf_make(".eh_frame", (uint8_t *)b.data, b.len_bytes, 0);
	eh = (Elf64_Ehdr *)e.data;
	ph = (Elf64_Phdr *)(e.data + sizeof(*eh));
	expect_refused(e.data, 63, -ENOEXEC, "not an ELF file");
	expect_refused(e.data, 70, -ENOEXEC, "outside of the file");
	expect_refused(e.data, 0x5000, -ENOEXEC, "outside of the file");
	eh->e_ident[EI_CLASS] = ELFCLASS32;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "not a 64-bit ELF file");
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2MSB;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "not a little-endian ELF file");
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_machine = EM_S390;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "code of another machine (22)");
	eh->e_machine = EM_X86_64;
	eh->e_type = ET_REL;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "not an executable or shared library");
	eh->e_type = ET_DYN;
	ph->p_filesz = e.len_bytes;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "a segment lies outside of the file");
	ph->p_filesz = TINY_TEXT_BYTES;
	expect_refused("\177ELF", 4, -ENOEXEC, "not an ELF file");
	free(e.data);
	buf_free(&b);
}

static void test_without_unwind_information(void **state)
{
	struct tiny_elf e = tiny_elf_make(".nothing", NULL, 0, 0);
	struct row_table t;
	struct err err = { 0 };
	uint64_t bias;

	(void)state;
	assert_int_equal(rows_compile(e.data, e.len_bytes, &t, &err), 0);
	assert_int_equal(rows_check(&t, &err), 0);
	assert_int_equal(t.row_cnt, 0);
	assert_int_equal(row_kind(rows_find(&t, 0x2000)), ROW_GAP);
	assert_int_equal(t.segment_cnt, 1);
	assert_true(rows_bias(&t, 0x555500001000, 0x1000, &bias));
	assert_int_equal(bias, 0x555500000000);
	assert_false(rows_bias(&t, 0x555500001000, 0x20000, &bias));
	rows_free(&t);
	free(e.data);
}

static void test_compressed(void **state)
{
	struct buf plain = { 0 }, packed = { 0 };
	Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 8 };
	uLongf cap = 1000;
	struct tiny_elf e;
	Elf64_Ehdr *eh;
	Elf64_Shdr *sh;
	struct row_table t;
	struct err err = { 0 };

	(void)state;
	put_fde(&plain, put_cie(&plain, "zR"), 0x2000, 16, CODE(DW_CFA_nop));
	ch.ch_size = plain.len_bytes;
	buf_append(&packed, &ch, sizeof(ch));
	buf_reserve(&packed, cap);
	assert_int_equal(compress((Bytef *)packed.data + sizeof(ch), &cap, (Bytef *)plain.data,
				  plain.len_bytes),
			 Z_OK);
	e = tiny_elf_make(".eh_frame", (uint8_t *)packed.data, sizeof(ch) + cap, 0);
	eh = (Elf64_Ehdr *)e.data;
	sh = (Elf64_Shdr *)(e.data + eh->e_shoff);
	sh[2].sh_flags = SHF_COMPRESSED;
	assert_int_equal(rows_compile(e.data, e.len_bytes, &t, &err), 0);
	assert_int_equal(row_off(rows_find(&t, 0x2000)), 1);
	rows_free(&t);
	e.data[TINY_FRAME + sizeof(ch) + 4] ^= 0xff;
	expect_refused(e.data, e.len_bytes, -ENOEXEC, "a compressed section is damaged");
	((Elf64_Chdr *)(e.data + TINY_FRAME))->ch_size = 1ULL << 40;
	expect_refused(e.data, e.len_bytes, -E2BIG, "a compressed section claims");
	free(e.data);
	buf_free(&plain);
	buf_free(&packed);
}

static void test_descriptor_and_memory_agree(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	off_t len_bytes = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)len_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	struct row_table a, b;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(rows_compile_fd(fd, &a, &err), 0);
	assert_int_equal(rows_compile(p, (size_t)len_bytes, &b, &err), 0);
	assert_true(a.row_cnt > 100);
	assert_int_equal(a.row_cnt, b.row_cnt);
	assert_memory_equal(a.rows, b.rows, a.row_cnt * sizeof(*a.rows));
	rows_free(&a);
	rows_free(&b);
	munmap(p, (size_t)len_bytes);
	close(fd);
}

static void test_vdso(void **state)
{
	struct row_table t;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(rows_compile_vdso(&t, &err), 0);
	assert_int_equal(rows_check(&t, &err), 0);
	assert_true(t.stats.fde_cnt >= 4);
	assert_int_equal(t.stats.bad_fde_cnt, 0);
	rows_free(&t);
}

/* ---- tables from elsewhere ---- */

static void expect_bad(struct row_table *t)
{
	struct err err = { 0 };

	assert_int_equal(rows_check(t, &err), -EINVAL);
	assert_true(err.msg[0]);
}

static void test_check(void **state)
{
	struct row_table t, bad;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(rows_compile_vdso(&t, &err), 0);
	bad = t;
	bad.row_cnt--; /* the last is no gap any more */
	expect_bad(&bad);
	bad = t;
	bad.row_cnt = 0;
	expect_bad(&bad);
	bad = t;
	bad.block_cnt--;
	expect_bad(&bad);
	bad = t;
	bad.segment_cnt = 1000;
	expect_bad(&bad);
	bad = t;
	bad.base_vaddr++;
	expect_bad(&bad);
	t.blocks[1] += t.row_cnt;
	expect_bad(&t);
	t.blocks[1] -= t.row_cnt;
	t.rows[0] |= 1;
	expect_bad(&t);
	t.rows[0] &= ~1ULL;
	t.rows[2] = (t.rows[2] & ~0xffffffffULL) | row_pc(t.rows[1]);
	expect_bad(&t);
	rows_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_remember_too_deep),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_rbx),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_debug_frame_fills),
		cmocka_unit_test(test_plt_without_frames),
		cmocka_unit_test(test_start_without_frames),
		cmocka_unit_test(test_damaged_sections),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_without_unwind_information),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_descriptor_and_memory_agree),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
