/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions among an ELF file's symbols: rule 1 of symtab.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symtab.h"

#define SYMBOLS_MAX_BYTES ((uint64_t)SYMTAB_SYMBOLS_MAX * sizeof(Elf64_Sym))
#define STRINGS_MAX_BYTES ((uint64_t)1 << 30)

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
		.name = (uint32_t)(name - b->strings.data),
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
	symtab_add_named(b, &symbol);
	return true;
}

/* The first block of names becomes the builder's; most files have but one. */
static void take_strings(struct symtab_builder *b, char *strings, size_t len_bytes)
{
	if (b->strings.data) {
		buf_append(&b->strings, strings, len_bytes + 1);
		free(strings);
	} else {
		b->strings = (struct buf){ strings, len_bytes + 1, len_bytes + 1 };
	}
}

void symtab_section_read(struct symtab_section *s, struct symtab_builder *b, const struct elf *e,
			 uint32_t type)
{
	const Elf64_Shdr *section = elf_section_by_type(e, type), *link;
	uint64_t symbols_bytes;
	char *strings;

	*s = (struct symtab_section){ .error = -ENOENT };
	if (!section || section->sh_type == SHT_NOBITS || section->sh_entsize != sizeof(Elf64_Sym))
		return;
	link = section->sh_link < e->section_cnt ? &e->sections[section->sh_link] : NULL;
	s->symbols = elf_section_copy(e, section, SYMBOLS_MAX_BYTES, &symbols_bytes);
	strings = elf_section_copy(e, link, STRINGS_MAX_BYTES, &s->strings_bytes);
	if (!s->symbols || !strings) {
		free(strings);
		symtab_section_free(s);
		s->error = -EINVAL;
		return;
	}
	s->error = 0;
	s->cnt = symbols_bytes / sizeof(*s->symbols);
	s->strings_at = b->strings.len_bytes;
	take_strings(b, strings, s->strings_bytes);
}

void symtab_section_free(struct symtab_section *s)
{
	free(s->symbols);
	*s = (struct symtab_section){ .error = -ENOENT };
}

const char *symtab_section_name(const struct symtab_section *s, const struct symtab_builder *b,
				size_t symbol)
{
	if (symbol >= s->cnt || s->symbols[symbol].st_name >= s->strings_bytes)
		return NULL;
	return b->strings.data + s->strings_at + s->symbols[symbol].st_name;
}

int symtab_add_section(struct symtab_builder *b, const struct elf *e,
		       const struct symtab_section *s)
{
	int cnt = s->error;

	for (size_t i = 0; i < s->cnt; i++) {
		const char *name = symtab_section_name(s, b, i);

		if (name && is_function(&s->symbols[i]))
			cnt += add_symbol(b, e, &s->symbols[i], name);
	}
	return cnt;
}

int symtab_add_elf(struct symtab_builder *b, const struct elf *e, uint32_t section_type)
{
	struct symtab_section s;
	int cnt;

	symtab_section_read(&s, b, e, section_type);
	cnt = symtab_add_section(b, e, &s);
	symtab_section_free(&s);
	return cnt;
}
