/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rows of a file: from its call frame information (.eh_frame, .debug_frame) to a table that a
 * walker can search. The layout of a row stands in bpf/row.h; docs/unwind.md tells the story.
 *
 * The bytes are not trusted: whatever they are, compiling ends in time linear in the size of the unwind
 * sections (n log n when their entries are not sorted), within the limits below, and the result satisfies
 * rows_check. Call it in a child (symbolize/sandbox.h) all the same: an allocation too many ends it. */
#ifndef CP_SYMBOLIZE_ROWS_H
#define CP_SYMBOLIZE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/row.h"
#include "user/base/err.h"

enum rows_limit {
	ROWS_SEGMENT_MAX = 32,		    /* executable segments of a file */
	ROWS_SECTION_MAX_BYTES = 128 << 20, /* an unwind section, decompressed */
	ROWS_SPAN_MAX_BYTES = 1 << 30,	    /* from the first to the last address with rows */
	ROWS_MAX = 16 << 20,
	ROWS_GAP_MIN_BYTES =
		16, /* shorter holes are padding between functions: nothing runs there */
};

/* An executable PT_LOAD: file offset off_bytes is loaded at vaddr. */
struct rows_segment {
	uint64_t vaddr;
	uint64_t off_bytes;
	uint64_t size_bytes;
};

struct rows_stats {
	uint32_t fde_cnt;	       /* functions with unwind information */
	uint32_t bad_fde_cnt;	       /* of these could not be interpreted (to the end) */
	uint32_t outside_fde_cnt;      /* left out: not in executable text, or empty */
	uint32_t overlap_fde_cnt;      /* cut or left out: an earlier one covers the same address */
	uint32_t stub_cnt;	       /* PLT sections whose rows were made up from their code */
	uint32_t kind_cnt[32];	       /* rows by enum row_kind */
	uint32_t why_cnt[ROW_WHY_MAX]; /* ROW_UNSUPPORTED rows by enum row_why */
};

/* rows[0] stands for offset 0, the last row is a ROW_GAP where the last function ends; no two neighbours
 * have the same rule. A file without unwind information has row_cnt 0 and block_cnt 0. */
struct row_table {
	uint64_t *rows;
	uint32_t *blocks; /* block_cnt + 1 entries */
	uint32_t row_cnt;
	uint32_t block_cnt;
	uint64_t base_vaddr;
	struct rows_segment segments[ROWS_SEGMENT_MAX];
	uint32_t segment_cnt;
	uint64_t eh_frame_hdr_vaddr; /* 0 = there is none */
	struct rows_stats stats;
};

/* Compiles an ELF image: a whole file in memory (also read-only), or one behind a descriptor, which is
 * only read with pread. Returns 0 and a table to be released with rows_free; -ENOEXEC for what is not a
 * 64-bit little-endian ELF file of this machine, -E2BIG beyond a limit, or -errno. */
int rows_compile(const void *image, size_t len_bytes, struct row_table *ret, struct err *err);
int rows_compile_fd(int fd, struct row_table *ret, struct err *err);
/* The same for a file of any machine that has rows (x86-64, arm64). */
int rows_compile_any(int fd, struct row_table *ret, struct err *err);
/* The vdso as the kernel mapped it into this process; the same in every 64-bit process. */
int rows_compile_vdso(struct row_table *ret, struct err *err);

/* 0 if a table that came from elsewhere keeps what struct row_table promises, else -EINVAL. */
int rows_check(const struct row_table *t, struct err *err);
/* The row that covers a virtual address of the file; a ROW_GAP outside of the table. O(log rows in 256
 * bytes of text). */
uint64_t rows_find(const struct row_table *t, uint64_t vaddr);
/* The load bias (address - vaddr) of an executable mapping of the file; false if no segment covers it. */
bool rows_bias(const struct row_table *t, uint64_t map_start, uint64_t map_off_bytes,
	       uint64_t *bias);
void rows_free(struct row_table *t); /* empties; fine on an empty one */

#endif
