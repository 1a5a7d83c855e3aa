/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest ELF file with unwind information: an executable segment, one unwind section, one PLT section,
 * section names. For tests and fuzzing. */
#ifndef CP_TESTS_UNIT_TINY_ELF_H
#define CP_TESTS_UNIT_TINY_ELF_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	TINY_TEXT = 0x1000, /* vaddr and file offset of the text */
	TINY_TEXT_BYTES = 0x10000,
	TINY_FRAME = TINY_TEXT + TINY_TEXT_BYTES, /* vaddr and file offset of the unwind section */
};

struct tiny_elf {
	uint8_t *data;
	size_t len_bytes;
};

static inline struct tiny_elf tiny_elf_make(const char *section, const uint8_t *frames,
					    size_t frames_bytes, uint64_t plt_vaddr)
{
	static const char names[] = "\0.shstrtab\0.plt";
	size_t names_off = TINY_FRAME + frames_bytes;
	size_t names_bytes = sizeof(names) + strlen(section) + 1;
	size_t headers_off = (names_off + names_bytes + 7) & ~(size_t)7;
	struct tiny_elf e = { .len_bytes = headers_off + 4 * sizeof(Elf64_Shdr) };
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(eh),
			  .e_shoff = headers_off,
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 4,
			  .e_shstrndx = 1 };
	Elf64_Phdr ph = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_offset = TINY_TEXT,
			  .p_vaddr = TINY_TEXT,
			  .p_filesz = TINY_TEXT_BYTES,
			  .p_memsz = TINY_TEXT_BYTES };
	Elf64_Shdr sh[4] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = names_off,
		  .sh_size = names_bytes },
		{ .sh_name = sizeof(names),
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = TINY_FRAME,
		  .sh_offset = TINY_FRAME,
		  .sh_size = frames_bytes },
		{ .sh_name = 11,
		  .sh_type = plt_vaddr ? SHT_PROGBITS : SHT_NULL,
		  .sh_flags = SHF_EXECINSTR,
		  .sh_addr = plt_vaddr,
		  .sh_offset = plt_vaddr,
		  .sh_size = 64 },
	};

	e.data = calloc(1, e.len_bytes);
	memcpy(e.data, &eh, sizeof(eh));
	memcpy(e.data + sizeof(eh), &ph, sizeof(ph));
	if (frames_bytes)
		memcpy(e.data + TINY_FRAME, frames, frames_bytes);
	memcpy(e.data + names_off, names, sizeof(names));
	memcpy(e.data + names_off + sizeof(names), section, strlen(section) + 1);
	memcpy(e.data + headers_off, sh, sizeof(sh));
	return e;
}

#endif
