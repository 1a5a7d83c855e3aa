/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of the memory of a process that runs CPython 3.11, with one code object, and an ELF file that looks like its
 * interpreter. For tests and fuzzing. */
#ifndef CP_TESTS_UNIT_TINY_PYTHON_H
#define CP_TESTS_UNIT_TINY_PYTHON_H

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "symbolize/python_code.h"

enum {
	TINY_BASE = 0x7f0000,
	TINY_CODE = TINY_BASE,
	TINY_NAME = TINY_BASE + 0x400,
	TINY_FILE = TINY_BASE + 0x500,
	TINY_LINES = TINY_BASE + 0x600,
	TINY_MEMORY_BYTES = 0x1000,
	TINY_CODE_TYPE = 0x1000,
	TINY_STRING_TYPE = 0x2000,
	TINY_BYTES_TYPE = 0x3000,
	TINY_INSTR_CNT = 20,
};

struct tiny_memory {
	uint8_t data[TINY_MEMORY_BYTES];
	int read_cnt;
	int change_at; /* the read before which the name's place changes; 0 = never */
	int gone_at;   /* the read that finds no process any more */
};

static inline int tiny_read(void *ctx, uint64_t addr, void *to, size_t len_bytes)
{
	struct tiny_memory *m = ctx;

	m->read_cnt++;
	if (m->read_cnt == m->gone_at)
		return -ESRCH;
	if (m->read_cnt == m->change_at)
		m->data[128] ^= 16;
	if (addr < TINY_BASE || len_bytes > TINY_MEMORY_BYTES ||
	    addr - TINY_BASE > TINY_MEMORY_BYTES - len_bytes)
		return -EFAULT;
	memcpy(to, m->data + (addr - TINY_BASE), len_bytes);
	return 0;
}

static inline void tiny_put(struct tiny_memory *m, uint64_t addr, uint64_t value)
{
	memcpy(m->data + (addr - TINY_BASE), &value, sizeof(value));
}

/* A compact string of the kind 1 (ASCII or Latin-1), 2 or 4. */
static inline void tiny_string(struct tiny_memory *m, uint64_t at, const void *chars,
			       uint64_t char_cnt, unsigned int kind, int ascii)
{
	tiny_put(m, at + 8, TINY_STRING_TYPE);
	tiny_put(m, at + 16, char_cnt);
	tiny_put(m, at + 32, 1 | kind << 2 | 1 << 5 | (ascii ? 1 << 6 : 0));
	memcpy(m->data + (at - TINY_BASE) + (ascii ? 48 : 72), chars, char_cnt * kind);
}

static inline void tiny_memory_make(struct tiny_memory *m)
{
	/* units 0..1 on line 7, 2..3 on line 9, 4 none, 5..12 on line 6 */
	static const uint8_t lines[] = { 0x81, 0x00, 0xe9, 4, 0xf8, 0xef, 7 };

	memset(m, 0, sizeof(*m));
	tiny_put(m, TINY_CODE + 8, TINY_CODE_TYPE);
	tiny_put(m, TINY_CODE + 16, TINY_INSTR_CNT);
	tiny_put(m, TINY_CODE + 72, 7);
	tiny_put(m, TINY_CODE + 112, TINY_FILE);
	tiny_put(m, TINY_CODE + 128, TINY_NAME);
	tiny_put(m, TINY_CODE + 136, TINY_LINES);
	tiny_string(m, TINY_NAME, "Shop.open", 9, 1, 1);
	tiny_string(m, TINY_FILE, "/srv/shop.py", 12, 1, 1);
	tiny_put(m, TINY_LINES + 8, TINY_BYTES_TYPE);
	tiny_put(m, TINY_LINES + 16, sizeof(lines));
	memcpy(m->data + (TINY_LINES - TINY_BASE) + 32, lines, sizeof(lines));
}

enum {
	TINY_ELF_VADDR = 0x400000,
	TINY_ELF_EVAL = 0x1000, /* offsets in the file */
	TINY_ELF_RUNTIME = 0x2000,
	TINY_ELF_VERSION = 0x3000,
	TINY_ELF_SYMBOLS = 0x3100,
	TINY_ELF_STRINGS = 0x3200,
	TINY_ELF_SECTIONS = 0x3400,
	TINY_ELF_BYTES = 0x3600,
};

static inline void tiny_python_elf(uint8_t file[TINY_ELF_BYTES], uint64_t version)
{
	static const char strings[] =
		"\0_PyRuntime\0Py_Version\0_PyEval_EvalFrameDefault\0PyCode_Type\0PyUnicode_Type\0"
		"PyBytes_Type";
	const struct {
		uint32_t name, at;
	} symbols[] = { { 1, TINY_ELF_RUNTIME }, { 12, TINY_ELF_VERSION }, { 23, TINY_ELF_EVAL },
			{ 48, 0x2800 },		 { 60, 0x2900 },	   { 75, 0x2a00 } };
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_phoff = sizeof(eh),
			  .e_shoff = TINY_ELF_SECTIONS,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 3 };
	Elf64_Phdr ph = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_vaddr = TINY_ELF_VADDR,
			  .p_filesz = TINY_ELF_BYTES,
			  .p_memsz = TINY_ELF_BYTES };
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_type = SHT_DYNSYM,
		  .sh_offset = TINY_ELF_SYMBOLS,
		  .sh_size = (sizeof(symbols) / sizeof(symbols[0])) * sizeof(Elf64_Sym),
		  .sh_link = 2,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB,
		  .sh_offset = TINY_ELF_STRINGS,
		  .sh_size = sizeof(strings) },
	};

	memset(file, 0, TINY_ELF_BYTES);
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), &ph, sizeof(ph));
	memcpy(file + TINY_ELF_VERSION, &version, sizeof(version));
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		Elf64_Sym s = { .st_name = symbols[i].name,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				.st_shndx = 1,
				.st_value = TINY_ELF_VADDR + symbols[i].at,
				.st_size = 0x100 };

		memcpy(file + TINY_ELF_SYMBOLS + i * sizeof(s), &s, sizeof(s));
	}
	memcpy(file + TINY_ELF_STRINGS, strings, sizeof(strings));
	memcpy(file + TINY_ELF_SECTIONS, sections, sizeof(sections));
}

/* The layout of the memory above. */
static inline int tiny_layout(struct python_layout *l)
{
	static uint8_t file[TINY_ELF_BYTES];
	struct image image;
	int rc;

	tiny_python_elf(file, 0x030b02f0);
	image_from_mem(&image, file, sizeof(file));
	rc = python_layout_read(&image, l, NULL);
	l->code_type = TINY_CODE_TYPE;
	l->string_type = TINY_STRING_TYPE;
	l->bytes_type = TINY_BYTES_TYPE;
	return rc;
}

#endif
