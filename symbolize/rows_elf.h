/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few parts of an ELF file that unwind rows need, read from memory or through a descriptor. Not for
 * symbols. Every offset and size is checked against the file. */
#ifndef CP_SYMBOLIZE_ROWS_ELF_H
#define CP_SYMBOLIZE_ROWS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/rows.h"
#include "user/base/err.h"

/* Where the bytes are: in memory if mem is set, else in the file. */
struct rows_source {
	const uint8_t *mem;
	int fd;
	uint64_t size_bytes;
};

enum rows_section_kind {
	ROWS_EH_FRAME,
	ROWS_DEBUG_FRAME,
	ROWS_PLT, /* executable stubs: .plt, .plt.got, .plt.sec, .iplt */
};

struct rows_section {
	enum rows_section_kind kind;
	bool is_compressed;
	uint64_t vaddr;
	uint64_t off_bytes;
	uint64_t size_bytes;
};

enum {
	ROWS_SECTION_CNT_MAX = 16,
};

struct rows_elf {
	struct rows_source source;
	uint16_t machine;
	uint64_t entry_vaddr;				/* 0: there is none */
	struct rows_segment segments[ROWS_SEGMENT_MAX]; /* executable, sorted by vaddr */
	uint32_t segment_cnt;
	struct rows_section sections[ROWS_SECTION_CNT_MAX];
	uint32_t section_cnt;
	uint64_t eh_frame_hdr_vaddr; /* PT_GNU_EH_FRAME, or 0 */
};

/* Bytes of the source; *ret is borrowed when they lie in memory, else owned: rows_bytes_free. */
struct rows_bytes {
	const uint8_t *data;
	size_t len_bytes;
	void *owned;
};

int rows_elf_read(struct rows_source source, struct rows_elf *ret, struct err *err);
int rows_source_read(const struct rows_source *s, uint64_t off_bytes, uint64_t size_bytes,
		     struct rows_bytes *ret, struct err *err);
/* The same for a section, decompressed; refuses more than ROWS_SECTION_MAX_BYTES. */
int rows_section_read(const struct rows_elf *elf, const struct rows_section *section,
		      struct rows_bytes *ret, struct err *err);
void rows_bytes_free(struct rows_bytes *b);

#endif
