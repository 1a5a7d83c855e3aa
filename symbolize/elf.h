/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structure of an ELF file: segments, sections, notes. 64-bit little-endian files are read; others are
 * refused. The bytes are hostile: every offset is checked, tables that lie outside of the file count as
 * absent, so that a damaged file still gives what is whole. Source: System V ABI, chapters 4 and 5. */
#ifndef CP_SYMBOLIZE_ELF_H
#define CP_SYMBOLIZE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/image.h"

enum {
	ELF_BUILD_ID_MAX_BYTES = 20, /* longer ones are cut */
	ELF_SECTIONS_MAX = 1 << 20,
	ELF_LOADS_MAX = 4096,
};

struct elf {
	struct image image; /* the descriptor or memory is borrowed */
	uint16_t type, machine;
	Elf64_Phdr *phdrs; /* all program headers */
	size_t phdr_cnt;
	Elf64_Shdr *sections;
	size_t section_cnt;
	char *section_names;
	size_t section_names_bytes;
	uint32_t build_id_bytes; /* 0 = none */
	uint8_t build_id[ELF_BUILD_ID_MAX_BYTES];
};

/* What a file says about the place of its debug data; both names are NUL-terminated and may be hostile. */
struct elf_debug_links {
	char *debuglink; /* NULL = none; owned */
	uint32_t debuglink_crc;
	char *altlink; /* NULL = none; owned */
	uint32_t altlink_id_bytes;
	uint8_t altlink_id[ELF_BUILD_ID_MAX_BYTES];
};

/* 0, or -ENOEXEC when it is not an ELF file of the kinds that are read. elf_close is needed either way. */
int elf_open(struct elf *e, const struct image *image);
void elf_close(struct elf *e);

const char *elf_section_name(const struct elf *e, const Elf64_Shdr *s); /* "" if it has none */
const Elf64_Shdr *elf_section(const struct elf *e, const char *name);	/* first one, or NULL */
const Elf64_Shdr *elf_section_by_type(const struct elf *e, uint32_t type);
/* The bytes of a section, decompressed if SHF_COMPRESSED; owned by the caller; NULL and 0 bytes if
 * absent, NOBITS or beyond max_bytes. */
void *elf_section_copy(const struct elf *e, const Elf64_Shdr *s, uint64_t max_bytes,
		       uint64_t *len_bytes);
void elf_debug_links(const struct elf *e, struct elf_debug_links *links);
void elf_debug_links_free(struct elf_debug_links *links);
bool elf_has_debug_info(const struct elf *e);

/* Where the byte at a file offset stands in the file's own address space: the load bias of a mapping is its
 * address minus this. Executable segments are preferred where several hold the byte. */
bool elf_addr_of_offset(const struct elf *e, uint64_t off_bytes, uint64_t *addr);
/* Whether the pages from first to last are code: those of one executable segment. Gives the file offset of
 * first. */
bool elf_code_pages(const struct elf *e, uint64_t first, uint64_t last, uint64_t *off_bytes);

#endif
