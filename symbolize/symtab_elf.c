/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions among an ELF file's symbols: rule 1 of symtab.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symtab.h"

#define SYMBOLS_MAX_BYTES ((uint64_t)SYMTAB_SYMBOLS_MAX * sizeof(Elf64_Sym))
#define STRINGS_MAX_BYTES ((uint64_t)1 << 30)
#define NAME_MAX_BYTES	  ((size_t)16 << 10) /* longer names are cut */

static bool is_mapping_symbol(const char *name)
{
	return (name[0] == '$' && name[1] && (!name[2] || name[2] == '.')) ||
	       (name[0] == '.' && name[1] == 'L');
}

static uint8_t binding_rank(const Elf64_Sym *s)
{
	if (ELF64_ST_BIND(s->st_info) == STB_LOCAL)
		return 2;
	return ELF64_ST_BIND(s->st_info) == STB_WEAK ? 1 : 0;
}

/* Finds where code of that symbol may lie: its section, or its segment when there are no sections. */
static bool code_limit(const struct elf *e, const Elf64_Sym *s, uint64_t *limit)
{
	if (s->st_shndx < e->section_cnt) {
		const Elf64_Shdr *section = &e->sections[s->st_shndx];

		*limit = section->sh_addr + section->sh_size;
		return (section->sh_flags & SHF_EXECINSTR) && s->st_value >= section->sh_addr &&
		       s->st_value < *limit;
	}
	for (size_t i = 0; i < e->phdr_cnt; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		*limit = p->p_vaddr + p->p_memsz;
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && s->st_value >= p->p_vaddr &&
		    s->st_value < *limit)
			return true;
	}
	return false;
}

static bool is_function(const Elf64_Sym *s)
{
	int type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF &&
	       (s->st_shndx < SHN_LORESERVE || s->st_shndx == SHN_XINDEX) && s->st_name &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static bool add_symbol(struct symtab_builder *b, const struct elf *e, const Elf64_Sym *s,
		       const char *name)
{
	struct symtab_symbol symbol = {
		.start = s->st_value,
		.size_bytes = s->st_size,
		.typed = ELF64_ST_TYPE(s->st_info) != STT_NOTYPE,
		.binding = binding_rank(s),
	};

	if (!*name || b->dropped_cnt || is_mapping_symbol(name) || !code_limit(e, s, &symbol.limit))
		return false;
	/* a size beyond the section is a lie or a table from a linker script: bounded by the section */
	if (symbol.size_bytes > symbol.limit - symbol.start)
		symbol.size_bytes = symbol.limit - symbol.start;
	symtab_add(b, &symbol, name, strnlen(name, NAME_MAX_BYTES));
	return true;
}

static int add_table(struct symtab_builder *b, const struct elf *e, const Elf64_Shdr *section)
{
	const Elf64_Shdr *link =
		section->sh_link < e->section_cnt ? &e->sections[section->sh_link] : NULL;
	uint64_t symbols_bytes, strings_bytes;
	Elf64_Sym *symbols = elf_section_copy(e, section, SYMBOLS_MAX_BYTES, &symbols_bytes);
	char *strings = elf_section_copy(e, link, STRINGS_MAX_BYTES, &strings_bytes);
	int cnt = symbols && strings ? 0 : -EINVAL;

	for (size_t i = 0; cnt >= 0 && i < symbols_bytes / sizeof(*symbols); i++)
		if (is_function(&symbols[i]) && symbols[i].st_name < strings_bytes)
			cnt += add_symbol(b, e, &symbols[i], strings + symbols[i].st_name);
	free(symbols);
	free(strings);
	return cnt;
}

int symtab_add_elf(struct symtab_builder *b, const struct elf *e, uint32_t section_type)
{
	const Elf64_Shdr *section = elf_section_by_type(e, section_type);

	if (!section || section->sh_type == SHT_NOBITS || section->sh_entsize != sizeof(Elf64_Sym))
		return -ENOENT;
	return add_table(b, e, section);
}
