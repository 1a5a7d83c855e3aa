/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every unwind row of large installed programs against elfutils' libdw, which reads the same call frame
 * information with other code: for each address range of each function the rules must say the same. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbolize/rows.h"

enum {
	RBX = 3,
	RDI = 5,
	RBP = 6,
	RSP = 7,
	RIP = 16,
};

/* A rule of libdw in the few forms that matter. */
struct place {
	enum {
		SAME,
		UNDEFINED,
		AT_CFA,
		CFA_ITSELF,
		IN_REGISTER,
		AT_BREG,
		OTHER
	} kind;
	int64_t off; /* AT_CFA, AT_BREG */
	unsigned reg;
};

static unsigned breg(const Dwarf_Op *op, int64_t *off)
{
	if (op->atom == DW_OP_bregx) {
		*off = (int64_t)op->number2;
		return (unsigned)op->number;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*off = (int64_t)op->number;
		return op->atom - DW_OP_breg0;
	}
	return 999;
}

static struct place place_of(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3], *ops;
	struct place p = { .kind = OTHER };
	size_t cnt;

	assert_int_equal(dwarf_frame_register(frame, reg, mem, &ops, &cnt), 0);
	if (!cnt) {
		p.kind = ops ? UNDEFINED : SAME;
		return p;
	}
	if (ops[0].atom == DW_OP_regx && cnt == 1) {
		p.kind = IN_REGISTER;
		p.reg = (unsigned)ops[0].number;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 1) {
		p.kind = AT_CFA;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 2 &&
		   ops[1].atom == DW_OP_plus_uconst) {
		p.kind = AT_CFA;
		p.off = (int64_t)ops[1].number;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 2 &&
		   ops[1].atom == DW_OP_stack_value) {
		p.kind = CFA_ITSELF;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && cnt == 2 &&
		   breg(&ops[1], &p.off) <
			   17) { /* an expression starts with the CFA on the stack */
		p.kind = AT_BREG;
		p.reg = breg(&ops[1], &p.off);
	} else if (cnt == 1 && breg(&ops[0], &p.off) < 17) {
		p.kind = AT_BREG;
		p.reg = breg(&ops[0], &p.off);
	}
	return p;
}

static uint64_t cfa_register(unsigned reg, int64_t off, int64_t rbp, unsigned rbx)
{
	static const int regs[] = { 0, 8, 9, 10, 11, 4, 13, 15 }; /* enum row_reg */

	if (reg == RSP && off % 8 == 0 && off > 262136 && off < 4 << 20)
		return row_make(ROW_RSP_FAR, off / 8, rbp, (unsigned)(off / 8 / 65536));
	if (off % 8 || off / 8 > INT16_MAX || off / 8 < INT16_MIN)
		return row_make(ROW_UNSUPPORTED, 0, 0, 0);
	if (reg == RSP || reg == RBP || reg == RBX)
		return row_make(reg == RSP ? ROW_RSP :
				reg == RBP ? ROW_RBP :
					     ROW_RBX,
				off / 8, rbp, rbx);
	for (unsigned i = 0; i < 8; i++)
		if (regs[i] == (int)reg)
			return row_make(ROW_REG, off / 8, rbp, i);
	return row_make(ROW_UNSUPPORTED, 0, 0, 0);
}

static uint64_t cfa_expr(const Dwarf_Op *ops, size_t cnt, int64_t rbp, unsigned rbx)
{
	int64_t off, off2;
	unsigned reg = breg(&ops[0], &off);

	if (cnt == 8 && reg == RSP && off == 8 && breg(&ops[1], &off2) == RIP &&
	    ops[2].atom == DW_OP_lit15 && ops[3].atom == DW_OP_and && ops[4].atom >= DW_OP_lit0 &&
	    ops[4].atom <= DW_OP_lit15 && ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
	    ops[7].atom == DW_OP_shl)
		return row_make(ROW_UNSUPPORTED, 0, 0, 0); /* the plus is missing: nonsense */
	if (cnt == 9 && reg == RSP && off == 8 && breg(&ops[1], &off2) == RIP &&
	    ops[2].atom == DW_OP_lit15 && ops[3].atom == DW_OP_and && ops[5].atom == DW_OP_ge &&
	    ops[6].atom == DW_OP_lit3 && ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus)
		return row_make(ROW_PLT, ops[4].atom - DW_OP_lit0, rbp, rbx);
	if ((reg == RSP || reg == RBP) && cnt >= 2 && ops[1].atom == DW_OP_deref && off % 8 == 0 &&
	    (cnt == 2 || (cnt == 3 && ops[2].atom == DW_OP_plus_uconst && ops[2].number <= 56)))
		return row_make(reg == RSP ? ROW_DEREF_RSP : ROW_DEREF_RBP, off / 8, rbp,
				cnt == 2 ? 0 : (unsigned)ops[2].number / 8);
	return row_make(ROW_UNSUPPORTED, 0, 0, 0);
}

static bool rbp_units(struct place p, int64_t *units)
{
	*units = 0;
	if (p.kind == SAME)
		return true;
	if (p.kind == AT_BREG && p.reg == RBP && p.off == 0) {
		*units = ROW_RBP_AT_RBP;
		return true;
	}
	*units = p.off / 8;
	return p.kind == AT_CFA && p.off % 8 == 0 && *units && *units >= -128 && *units < 127;
}

/* The row that libdw's view of an address amounts to. */
static uint64_t expected(Dwarf_Frame *frame, bool is_signal, bool tracks_rbx)
{
	struct place ra = place_of(frame, RIP), rsp = place_of(frame, RSP),
		     rbp = place_of(frame, RBP);
	struct place rbx = place_of(frame, RBX);
	unsigned x = 0;
	Dwarf_Op *ops;
	int64_t units, off;
	size_t cnt;
	unsigned reg;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &cnt), 0);
	if (is_signal) {
		bool ok = ra.kind == AT_BREG && ra.reg == RSP && ra.off == 168 &&
			  rsp.kind == AT_BREG && rsp.off == 160 && rbp.kind == AT_BREG &&
			  rbp.off == 120 && rbx.kind == AT_BREG && rbx.off == 128;

		return row_make(ok ? ROW_SIGNAL : ROW_UNSUPPORTED, 0, 0, 0);
	}
	if (ra.kind == UNDEFINED)
		return row_make(ROW_END, 0, 0, 0);
	if (rsp.kind != CFA_ITSELF || !rbp_units(rbp, &units) || !cnt)
		return row_make(ROW_UNSUPPORTED, 0, 0, 0);
	/* libdw 0.188 takes an rbx without a rule for clobbered; the ABI has it preserved */
	if (tracks_rbx && (rbx.kind == SAME || rbx.kind == UNDEFINED))
		x = 1;
	if (tracks_rbx && rbx.kind == AT_CFA && rbx.off % 8 == 0 && rbx.off <= -16 &&
	    rbx.off >= -56)
		x = (unsigned)(-rbx.off / 8);
	reg = cnt == 1 ? breg(&ops[0], &off) : 999;
	if (ra.kind == IN_REGISTER && ra.reg == RDI && reg == RSP)
		return row_make(ROW_RA_RDI, off / 8, units, x);
	if (ra.kind != AT_CFA || ra.off != -8)
		return row_make(ROW_UNSUPPORTED, 0, 0, 0);
	return reg < 17 ? cfa_register(reg, off, units, x) : cfa_expr(ops, cnt, units, x);
}

/* The same for arm64. */
static uint64_t expected_arm64(Dwarf_Frame *frame)
{
	struct place ra = place_of(frame, 30), fp = place_of(frame, 29), sp = place_of(frame, 31);
	uint64_t unsupported = row_make(ROW_UNSUPPORTED, 0, 0, 0);
	bool fp_same = fp.kind == SAME, ra_same = ra.kind == SAME;
	Dwarf_Op *ops;
	int64_t off, n = 0;
	unsigned reg, x;
	size_t cnt;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &cnt), 0);
	if (ra.kind == UNDEFINED)
		return row_make(ROW_END, 0, 0, 0);
	if (cnt != 1 || sp.kind != CFA_ITSELF)
		return unsupported;
	reg = breg(&ops[0], &off);
	if ((reg != 31 && reg != 29) || off % 8 || off > 262136)
		return unsupported;
	if (fp_same && ra_same)
		x = ROW_A64_LR;
	else if (ra.kind != AT_CFA)
		return unsupported;
	else if (fp_same)
		x = ROW_A64_RA, n = ra.off / 8;
	else if (fp.kind != AT_CFA || ra.off - fp.off != 8)
		return unsupported;
	else if (fp.off == -off)
		x = ROW_A64_RECORD;
	else
		x = ROW_A64_PAIR, n = fp.off / 8;
	if (n < -128 || n > 127)
		return unsupported;
	return row_make(reg == 31 ? ROW_RSP : ROW_RBP, off / 8, n, x);
}

struct comparison {
	const struct row_table *table;
	Dwarf_CFI *cfi;
	bool tracks_rbx;
	bool is_arm64;
	uint32_t next;	  /* row */
	uint64_t row_cnt; /* ranges compared */
	uint64_t diff_cnt;
	uint64_t odd_cnt;
	uint64_t hole_cnt; /* holes between functions compared */
	uint64_t entry;	   /* of the file */
};

/* No row of ours starts strictly inside of a range that is one to libdw. */
static void compare_inside(struct comparison *c, uint64_t start, uint64_t end)
{
	const struct row_table *t = c->table;

	while (c->next < t->row_cnt && t->base_vaddr + row_pc(t->rows[c->next]) <= start)
		c->next++;
	if (c->next < t->row_cnt && t->base_vaddr + row_pc(t->rows[c->next]) < end &&
	    !c->diff_cnt++)
		print_message("a row starts between 0x%llx and 0x%llx\n", (unsigned long long)start,
			      (unsigned long long)end);
}

static void compare_at(struct comparison *c, Dwarf_Frame *frame, bool is_signal, uint64_t vaddr)
{
	uint64_t want =
		c->is_arm64 ? expected_arm64(frame) : expected(frame, is_signal, c->tracks_rbx);
	uint64_t have = rows_find(c->table, vaddr);

	if (row_kind(have) == ROW_UNSUPPORTED)
		have = row_make(ROW_UNSUPPORTED, 0, 0, 0);
	c->row_cnt++;
	if (row_rule(have) == row_rule(want))
		return;
	/* two functions that are no usual ones: __start_context, by its code (symbolize/rows_code.h); one of
	 * arm64's libc that says its return address is in x15: it has no rows, and libdw is asked for x30 */
	if (row_kind(have) == ROW_END ||
	    (c->is_arm64 && row_kind(have) == ROW_GAP && c->table->stats.bad_fde_cnt)) {
		c->odd_cnt++;
		return;
	}
	if (!c->diff_cnt++)
		print_message("first difference at 0x%llx: row 0x%x, libdw 0x%x\n",
			      (unsigned long long)vaddr, row_rule(have), row_rule(want));
}

/* One function, from its start to where libdw has no frame any more or the next one starts. */
static uint64_t compare_function(struct comparison *c, uint64_t lo, uint64_t next)
{
	uint64_t pc = lo;

	while (pc < next) {
		Dwarf_Frame *frame;
		Dwarf_Addr start, end;
		bool is_signal;

		if (dwarf_cfi_addrframe(c->cfi, pc, &frame))
			break;
		assert_true(dwarf_frame_info(frame, &start, &end, &is_signal) >= 0);
		compare_at(c, frame, is_signal, pc);
		compare_at(c, frame, is_signal, end - 1);
		compare_inside(c, pc, end);
		free(frame);
		pc = end;
	}
	return pc;
}

/* Between functions: a gap where there is room for code, unless it is a PLT that was looked at. */
static void compare_hole(struct comparison *c, uint64_t end, uint64_t next)
{
	uint64_t row = rows_find(c->table, end);

	if (next - end < ROWS_GAP_MIN_BYTES)
		return;
	c->hole_cnt++;
	if (c->entry >= end && c->entry < next) { /* ld.so's first instructions */
		c->diff_cnt += row_kind(rows_find(c->table, c->entry)) != ROW_END;
		return;
	}
	if (row_kind(row) != ROW_GAP && !c->table->stats.stub_cnt && !c->diff_cnt++)
		print_message("no gap from 0x%llx to 0x%llx\n", (unsigned long long)end,
			      (unsigned long long)next);
}

/* The start of each function, from the search table that the linker made: count, then pairs of 32-bit
 * numbers relative to the section. */
static uint64_t *function_starts(Elf *elf, size_t *cnt)
{
	uint64_t *starts = NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;
		const uint8_t *p;
		uint32_t n;
		int32_t v;

		gelf_getshdr(scn, &sh);
		if (strcmp(elf_strptr(elf, names, sh.sh_name), ".eh_frame_hdr") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		p = data->d_buf;
		assert_memory_equal(p, "\x01\x1b\x03\x3b", 4);
		memcpy(&n, p + 8, 4);
		assert_true(12 + n * 8 <= data->d_size);
		starts = calloc(n + 1, sizeof(*starts));
		for (uint32_t i = 0; i < n; i++) {
			memcpy(&v, p + 12 + i * 8, 4);
			starts[i] = sh.sh_addr + (uint64_t)(int64_t)v;
		}
		*cnt = n;
	}
	return starts;
}

static bool compare_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct comparison c = { 0 };
	struct row_table table;
	struct err err = { 0 };
	uint64_t *starts;
	size_t cnt = 0;
	GElf_Ehdr eh;
	Elf *elf;

	if (fd < 0)
		return false;
	assert_int_equal(rows_compile_any(fd, &table, &err), 0);
	assert_int_equal(rows_check(&table, &err), 0);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	starts = function_starts(elf, &cnt);
	assert_true(cnt > 100);
	c.table = &table;
	c.is_arm64 = gelf_getehdr(elf, &eh)->e_machine == EM_AARCH64;
	c.entry = eh.e_entry;
	c.cfi = dwarf_getcfi_elf(elf);
	c.tracks_rbx = table.stats.kind_cnt[ROW_RBX] > 0;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t next = i + 1 < cnt ? starts[i + 1] : UINT64_MAX;
		uint64_t end = compare_function(&c, starts[i], next);

		if (i + 1 < cnt)
			compare_hole(&c, end, next);
	}
	print_message(
		"%s: %zu functions, %u rows, %llu comparisons, %llu holes, %llu differences\n",
		path, cnt, table.row_cnt, (unsigned long long)c.row_cnt,
		(unsigned long long)c.hole_cnt, (unsigned long long)c.diff_cnt);
	assert_int_equal(c.diff_cnt, 0);
	assert_true(c.odd_cnt <= 4);
	assert_true(c.row_cnt >= table.row_cnt);
	dwarf_cfi_end(c.cfi);
	elf_end(elf);
	free(starts);
	rows_free(&table);
	close(fd);
	return true;
}

static void test_installed_files(void **state)
{
	static const char *const paths[] = {
		"/usr/sbin/mariadbd",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/bin/gdb",
		"/usr/bin/python3.11",
		"/usr/bin/node",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/lib/chromium/chromium",
		"/usr/lib/postgresql/15/bin/postgres",
		"/usr/bin/redis-server",
		"/usr/sbin/nginx",
		/* arm64, from the package libc6-arm64-cross */
		"/usr/aarch64-linux-gnu/lib/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/libm.so.6",
		"/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
	};
	size_t done_cnt = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		done_cnt += compare_file(paths[i]);
	print_message("%zu files compared, %zu are not installed\n", done_cnt,
		      sizeof(paths) / sizeof(paths[0]) - done_cnt);
	assert_true(done_cnt >= 2); /* libc and ld.so are everywhere */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_installed_files) };

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
