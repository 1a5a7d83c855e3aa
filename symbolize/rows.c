/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the entries of the unwind sections to a table of rows; see rows.h.
 *
 * Functions of .eh_frame come first: sorted by address, each address belongs to the function that starts
 * first (and, of those with one start, stands first in the file). What they leave open is filled from
 * .debug_frame and from PLT sections. Holes that remain become ROW_GAP rows unless they are too short to be
 * code. */
#include "symbolize/rows.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "symbolize/cfi.h"
#include "symbolize/row_rule.h"
#include "symbolize/rows_elf.h"
#include "symbolize/rows_range.h"
#include "symbolize/rows_code.h"
#include "user/base/mem.h"

enum {
	CODE_BYTES = 1 << 16, /* read at a time */
};

/* An unwind section with its entries. */
struct part {
	struct cfi_section section;
	struct cfi_cies cies;
	struct rows_bytes bytes;
};

struct plt {
	uint64_t vaddr;
	struct rows_plt code;
};

struct builder {
	const struct rows_elf *elf;
	const struct row_machine *machine;
	struct part parts[ROWS_SECTION_CNT_MAX];
	uint32_t part_cnt;
	struct plt plts[ROWS_SECTION_CNT_MAX];
	uint32_t plt_cnt;
	struct rows_ranges firsts; /* of .eh_frame */
	struct rows_ranges fillers;
	bool tracks_bx, wants_bx;
	uint64_t from, to; /* the part of the current range that is still free */
	size_t row_cap;
	bool has_signal; /* a CIE of signal trampolines: the file is a libc */
	bool is_full;
	struct row_table *t;
};

static void emit(struct builder *b, uint64_t vaddr, uint64_t rule)
{
	struct row_table *t = b->t;
	uint32_t pc = (uint32_t)(vaddr - t->base_vaddr);

	while (t->row_cnt && row_pc(t->rows[t->row_cnt - 1]) >= pc)
		t->row_cnt--; /* replaced, or taken back */
	if (t->row_cnt && row_rule(t->rows[t->row_cnt - 1]) == row_rule(rule))
		return;
	if (t->row_cnt == ROWS_MAX) {
		b->is_full = true;
		return;
	}
	if (t->row_cnt == b->row_cap)
		t->rows = xgrow(t->rows, &b->row_cap, (size_t)t->row_cnt + 1, sizeof(*t->rows));
	t->rows[t->row_cnt++] = rule | pc;
}

static void emit_state(void *ctx, uint64_t pc, const struct cfi_cie *cie,
		       const struct cfi_state *state)
{
	struct builder *b = ctx;
	uint64_t rule;

	if (pc >= b->to)
		return;
	rule = b->machine->encode(cie, state, b->tracks_bx);
	b->wants_bx |= row_kind(rule) == ROW_RBX;
	emit(b, pc < b->from ? b->from : pc, rule);
}

static const struct rows_segment *segment_of(const struct rows_elf *elf, uint64_t vaddr)
{
	for (uint32_t i = 0; i < elf->segment_cnt; i++)
		if (vaddr - elf->segments[i].vaddr < elf->segments[i].size_bytes)
			return &elf->segments[i];
	return NULL;
}

/* Makes a range of the part of lo .. hi that is executable text; false if there is none, or too much of it. */
static bool clip_to_text(const struct rows_elf *elf, uint64_t lo, uint64_t hi,
			 struct rows_range *ret)
{
	const struct rows_segment *seg = segment_of(elf, lo);
	uint64_t end;

	if (!seg)
		return false;
	end = seg->vaddr + seg->size_bytes;
	if (hi > end)
		hi = end;
	if (lo >= hi || hi - lo > ROWS_SPAN_MAX_BYTES)
		return false;
	ret->lo = lo;
	ret->len_bytes = (uint32_t)(hi - lo);
	return true;
}

static int read_frames(struct builder *b, const struct rows_section *section, struct err *err)
{
	struct part *part = &b->parts[b->part_cnt];
	struct rows_stats *stats = &b->t->stats;
	struct cfi_fde fde;
	size_t pos_bytes = 0;
	int rc = rows_section_read(b->elf, section, &part->bytes, err);

	if (rc)
		return rc;
	part->section = (struct cfi_section){ .data = part->bytes.data,
					      .len_bytes = part->bytes.len_bytes,
					      .vaddr = section->vaddr,
					      .is_debug_frame = section->kind == ROWS_DEBUG_FRAME };
	memcpy(part->section.columns, b->machine->columns, sizeof(part->section.columns));
	while ((rc = cfi_next(&part->section, &pos_bytes, &part->cies, &fde,
			      &stats->bad_fde_cnt)) >= 0) {
		struct rows_range r = { .cie = fde.cie,
					.insn_off = fde.insn_off,
					.insn_end = fde.insn_end,
					.part = (uint16_t)b->part_cnt };

		if (rc && clip_to_text(b->elf, fde.lo, fde.hi, &r))
			rows_ranges_add(section->kind == ROWS_EH_FRAME ? &b->firsts : &b->fillers,
					r);
		else if (rc)
			stats->outside_fde_cnt++;
	}
	for (size_t i = 0; i < part->cies.cnt; i++)
		b->has_signal |= part->cies.items[i].is_signal;
	b->part_cnt++;
	return 0;
}

/* Only a libc has such functions: other files need not have their code read. */
static void mark_entries(struct builder *b)
{
	struct rows_bytes code = { 0 };
	uint64_t code_off = 0;

	for (size_t i = 0; b->has_signal && i < b->firsts.cnt; i++) {
		struct rows_range *r = &b->firsts.items[i];
		const struct rows_segment *seg = segment_of(b->elf, r->lo);
		uint64_t off = seg->off_bytes + (r->lo - seg->vaddr);

		if (r->len_bytes < ROWS_ENTRY_BYTES || r->len_bytes > ROWS_ENTRY_MAX_BYTES)
			continue;
		if (off < code_off || off + ROWS_ENTRY_BYTES > code_off + code.len_bytes) {
			uint64_t left = b->elf->source.size_bytes - off;

			rows_bytes_free(&code);
			code_off = off;
			if (rows_source_read(&b->elf->source, off,
					     left < CODE_BYTES ? left : CODE_BYTES, &code, NULL))
				return;
		}
		r->is_entry = rows_code_is_entry(code.data + (off - code_off), ROWS_ENTRY_BYTES);
	}
	rows_bytes_free(&code);
}

static void read_plt(struct builder *b, const struct rows_section *section)
{
	struct rows_range r = { .is_plt = true, .part = (uint16_t)b->plt_cnt };
	struct plt *plt = &b->plts[b->plt_cnt];
	struct rows_bytes code;
	uint64_t hi;

	if (b->machine->elf_machine != EM_X86_64 || section->vaddr % 16 != 0 ||
	    __builtin_add_overflow(section->vaddr, section->size_bytes, &hi) ||
	    !clip_to_text(b->elf, section->vaddr, hi, &r) ||
	    rows_source_read(&b->elf->source, section->off_bytes,
			     section->size_bytes < 32 ? section->size_bytes : 32, &code, NULL))
		return;
	plt->vaddr = section->vaddr;
	rows_plt_classify(code.data, code.len_bytes, &plt->code);
	rows_bytes_free(&code);
	b->plt_cnt++;
	rows_ranges_add(&b->fillers, r);
}

/* Where the kernel enters a program or its loader, if no unwind information describes it: ld.so's, and those of small
 * programs without a libc. It has no caller, and it or what it runs into calls all the rest. */
static void read_start(struct builder *b)
{
	uint64_t lo = b->elf->entry_vaddr, hi;
	struct rows_range r = { .is_start = true };

	if (lo && !__builtin_add_overflow(lo, ROWS_START_BYTES, &hi) &&
	    clip_to_text(b->elf, lo, hi, &r))
		rows_ranges_add(&b->fillers, r);
}

/* Rows of from .. to, which lies within r. */
static void emit_range(struct builder *b, const struct rows_range *r, uint64_t from, uint64_t to)
{
	const struct part *part = &b->parts[r->part];
	struct cfi_fde fde = {
		.lo = r->lo, .hi = to, .insn_off = r->insn_off, .insn_end = r->insn_end
	};

	if (r->is_plt) {
		while (from < to) {
			uint64_t end;
			uint64_t rule = rows_plt_rule(&b->plts[r->part].code,
						      b->plts[r->part].vaddr, from, &end);

			emit(b, from, rule);
			from = end;
		}
		b->t->stats.stub_cnt++;
		return;
	}
	if (r->is_start) {
		emit(b, from, row_make(ROW_END, 0, 0, 0));
		return;
	}
	if (r->is_entry) { /* from the byte before, where the return address less one points */
		if (from > b->t->base_vaddr)
			from--;
		emit(b, from, row_make(ROW_END, 0, 0, 0));
		return;
	}
	b->from = from;
	b->to = to;
	b->t->stats.fde_cnt++;
	if (cfi_run(&part->section, &part->cies.items[r->cie], &fde, emit_state, b)) {
		/* the rules so far may be right, but nobody can say up to where */
		emit(b, from, row_make(ROW_UNSUPPORTED, ROW_WHY_BAD, 0, 0));
		b->t->stats.bad_fde_cnt++;
	}
}

/* Moves the end of the rows to a range that starts at from: a hole becomes a gap, or padding. */
static void bridge(struct builder *b, uint64_t end, uint64_t from)
{
	if (from - end >= ROWS_GAP_MIN_BYTES || !b->t->row_cnt)
		emit(b, end, row_make(ROW_GAP, 0, 0, 0));
}

/* Fills the hole end .. limit; returns where the rows end now. A function is run for one hole only, so
 * that no input makes this quadratic. */
static uint64_t fill(struct builder *b, size_t *next, uint64_t end, uint64_t limit)
{
	while (*next < b->fillers.cnt && b->fillers.items[*next].lo < limit) {
		const struct rows_range *r = &b->fillers.items[*next];
		uint64_t from = r->lo > end ? r->lo : end, hi = r->lo + r->len_bytes;
		uint64_t to = hi < limit ? hi : limit;

		if (from < to && !(r->is_start && end > r->lo)) { /* a start is described, or not */
			bridge(b, end, from);
			emit_range(b, r, from, to);
			end = to;
		}
		if (r->is_plt && hi > limit)
			break; /* goes on behind the functions that come first */
		(*next)++;
	}
	return end;
}

static void emit_all(struct builder *b)
{
	uint64_t end = b->t->base_vaddr;
	size_t next = 0;

	for (size_t i = 0; i < b->firsts.cnt; i++) {
		const struct rows_range *r = &b->firsts.items[i];
		uint64_t from = r->lo, hi = r->lo + r->len_bytes;

		end = fill(b, &next, end, r->lo);
		if (from < end) {
			b->t->stats.overlap_fde_cnt++;
			from = end;
		}
		if (from >= hi)
			continue;
		bridge(b, end, from);
		emit_range(b, r, from, hi);
		end = hi;
	}
	end = fill(b, &next, end, UINT64_MAX);
	emit(b, end, row_make(ROW_GAP, 0, 0, 0));
}

/* Where the table starts, and everything in order. False if there is nothing. */
static bool order_ranges(struct builder *b)
{
	uint64_t base = rows_ranges_lowest(&b->firsts), other = rows_ranges_lowest(&b->fillers);

	if (other < base)
		base = other;
	if (base == UINT64_MAX)
		return false;
	base &= ~(uint64_t)((1 << ROW_BLOCK_SHIFT) - 1);
	b->t->base_vaddr = base;
	b->t->stats.outside_fde_cnt += rows_ranges_limit(&b->firsts, base, ROWS_SPAN_MAX_BYTES);
	b->t->stats.outside_fde_cnt += rows_ranges_limit(&b->fillers, base, ROWS_SPAN_MAX_BYTES);
	rows_ranges_sort(&b->firsts, base);
	rows_ranges_sort(&b->fillers, base);
	return true;
}

static void emit_table(struct builder *b)
{
	struct rows_stats *stats = &b->t->stats;
	const struct rows_stats before = *stats;

	emit_all(b);
	if (b->wants_bx) { /* a file that counts from rbx must say where rbx is: once more, with it */
		b->tracks_bx = true;
		b->wants_bx = false;
		b->t->row_cnt = 0;
		*stats = before;
		emit_all(b);
	}
	for (uint32_t i = 0; i < b->t->row_cnt; i++) {
		uint64_t row = b->t->rows[i];

		stats->kind_cnt[row_kind(row)]++;
		if (row_kind(row) == ROW_UNSUPPORTED)
			stats->why_cnt[row_off(row)]++;
	}
}

static void index_blocks(struct row_table *t)
{
	uint32_t block = 0;

	if (!t->row_cnt)
		return;
	t->block_cnt = (row_pc(t->rows[t->row_cnt - 1]) >> ROW_BLOCK_SHIFT) + 1;
	t->blocks = xmalloc(((size_t)t->block_cnt + 1) * sizeof(*t->blocks));
	for (uint32_t i = 0; i < t->row_cnt; i++) {
		/* the blocks that start before the next row */
		uint64_t next = i + 1 < t->row_cnt ? row_pc(t->rows[i + 1]) : UINT64_MAX;

		while (block <= t->block_cnt && ((uint64_t)block << ROW_BLOCK_SHIFT) < next)
			t->blocks[block++] = i;
	}
}

static void builder_free(struct builder *b)
{
	for (uint32_t i = 0; i < b->part_cnt; i++) {
		cfi_cies_free(&b->parts[i].cies);
		rows_bytes_free(&b->parts[i].bytes);
	}
	rows_ranges_free(&b->firsts);
	rows_ranges_free(&b->fillers);
}

static int build(struct builder *b, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < b->elf->section_cnt && !rc; i++) {
		if (b->elf->sections[i].kind == ROWS_PLT)
			read_plt(b, &b->elf->sections[i]);
		else
			rc = read_frames(b, &b->elf->sections[i], err);
	}
	if (rc)
		return rc;
	read_start(b);
	if (!order_ranges(b))
		return 0;
	if (b->machine->elf_machine == EM_X86_64)
		mark_entries(b);
	emit_table(b);
	if (b->is_full)
		return err_set(err, -E2BIG, "more than %d unwind rows", ROWS_MAX);
	index_blocks(b->t);
	return 0;
}

#if defined(__aarch64__)
static const uint16_t this_machine = EM_AARCH64;
#else
static const uint16_t this_machine = EM_X86_64;
#endif

static int compile(struct rows_source source, bool any_machine, struct row_table *ret,
		   struct err *err)
{
	struct rows_elf elf;
	struct builder b = { .elf = &elf, .t = ret };
	int rc;

	*ret = (struct row_table){ 0 };
	rc = rows_elf_read(source, &elf, err);
	if (rc)
		return rc;
	b.machine = row_machine_find(elf.machine);
	if (!b.machine || (!any_machine && elf.machine != this_machine))
		return err_set(err, -ENOEXEC, "code of another machine (%u)", elf.machine);
	memcpy(ret->segments, elf.segments, sizeof(ret->segments));
	ret->segment_cnt = elf.segment_cnt;
	ret->eh_frame_hdr_vaddr = elf.eh_frame_hdr_vaddr;
	rc = build(&b, err);
	builder_free(&b);
	if (rc)
		rows_free(ret);
	return rc;
}

int rows_compile(const void *image, size_t len_bytes, struct row_table *ret, struct err *err)
{
	return compile((struct rows_source){ .mem = image, .size_bytes = len_bytes }, false, ret,
		       err);
}

static int compile_fd(int fd, bool any_machine, struct row_table *ret, struct err *err)
{
	struct stat st;

	*ret = (struct row_table){ 0 };
	if (fstat(fd, &st))
		return err_errno(err, "cannot look at the file");
	if (!S_ISREG(st.st_mode))
		return err_set(err, -ENOEXEC, "not a regular file");
	return compile((struct rows_source){ .fd = fd, .size_bytes = (uint64_t)st.st_size },
		       any_machine, ret, err);
}

int rows_compile_fd(int fd, struct row_table *ret, struct err *err)
{
	return compile_fd(fd, false, ret, err);
}

int rows_compile_any(int fd, struct row_table *ret, struct err *err)
{
	return compile_fd(fd, true, ret, err);
}

int rows_compile_vdso(struct row_table *ret, struct err *err)
{
	const Elf64_Ehdr *eh =
		(const void *)getauxval(AT_SYSINFO_EHDR); /* the kernel's own: trusted */

	*ret = (struct row_table){ 0 };
	if (!eh)
		return err_set(err, -ENOENT, "this process has no vdso");
	return rows_compile(eh, eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize, ret, err);
}

void rows_free(struct row_table *t)
{
	free(t->rows);
	free(t->blocks);
	*t = (struct row_table){ 0 };
}
