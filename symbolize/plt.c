/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/plt.h"
#include "user/base/mem.h"

#define TABLE_MAX_BYTES ((uint64_t)256 << 20)
#define ENTRY_MAX_BYTES 16u
#define PIECE_CNT	2048
#define IFUNCS_MAX	512 /* resolvers that are looked up by linear search */

struct slot {
	uint64_t addr; /* of the GOT entry */
	uint32_t symbol;
	uint64_t resolver; /* of an IRELATIVE relocation, else 0 */
};

struct stubs {
	struct slot *slots; /* by addr */
	size_t slot_cnt, slot_cap;
	Elf64_Rela *jumps; /* .rela.plt in file order: lazy stubs push an index into it */
	size_t jump_cnt;
	const struct symtab_section *dynamic;
	size_t ifunc_cnt;
};

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static Elf64_Rela *read_relocations(const struct elf *e, const char *section, size_t *cnt)
{
	uint64_t len_bytes = 0;
	Elf64_Rela *r = elf_section_copy(e, elf_section(e, section), TABLE_MAX_BYTES, &len_bytes);

	*cnt = r ? len_bytes / sizeof(*r) : 0;
	return r;
}

static void add_slots(struct stubs *s, const Elf64_Rela *relocations, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const Elf64_Rela *r = &relocations[i];
		uint64_t type = ELF64_R_TYPE(r->r_info);

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
		    type != R_X86_64_IRELATIVE)
			continue;
		s->slots = xgrow(s->slots, &s->slot_cap, s->slot_cnt + 1, sizeof(*s->slots));
		s->slots[s->slot_cnt++] = (struct slot){
			.addr = r->r_offset,
			.symbol = (uint32_t)ELF64_R_SYM(r->r_info),
			.resolver = type == R_X86_64_IRELATIVE ? (uint64_t)r->r_addend : 0,
		};
	}
}

/* The relocations of data are many, and few of them are slots: they are looked through in small pieces. */
static void add_slots_of_data(struct stubs *s, const struct elf *e)
{
	const Elf64_Shdr *h = elf_section(e, ".rela.dyn");
	Elf64_Rela piece[PIECE_CNT];
	uint64_t cnt = h && h->sh_type != SHT_NOBITS && !(h->sh_flags & SHF_COMPRESSED) &&
				       h->sh_size <= TABLE_MAX_BYTES ?
			       h->sh_size / sizeof(*piece) :
			       0;

	for (uint64_t at = 0; at < cnt; at += PIECE_CNT) {
		uint64_t n = cnt - at < PIECE_CNT ? cnt - at : PIECE_CNT;

		if (!image_read(&e->image, h->sh_offset + at * sizeof(*piece), piece,
				n * sizeof(*piece)))
			return;
		add_slots(s, piece, n);
	}
}

static void stubs_open(struct stubs *s, const struct elf *e)
{
	s->jumps = read_relocations(e, ".rela.plt", &s->jump_cnt);
	add_slots(s, s->jumps, s->jump_cnt);
	add_slots_of_data(s, e);
	if (s->slot_cnt)
		qsort(s->slots, s->slot_cnt, sizeof(*s->slots), compare_slots);
}

static void stubs_close(struct stubs *s)
{
	free(s->slots);
	free(s->jumps);
}

static const char *symbol_name(const struct stubs *s, const struct symtab_builder *b,
			       uint32_t symbol)
{
	return symbol ? symtab_section_name(s->dynamic, b, symbol) : NULL;
}

static const char *resolver_name(struct stubs *s, const struct symtab_builder *b, uint64_t addr)
{
	if (s->ifunc_cnt++ >= IFUNCS_MAX)
		return NULL;
	for (size_t i = 0; i < b->cnt; i++)
		if (b->symbols[i].start == addr && b->symbols[i].typed)
			return b->strings.data + b->symbols[i].name;
	return NULL;
}

static const char *slot_name(struct stubs *s, const struct symtab_builder *b, uint64_t addr)
{
	size_t low = 0, high = s->slot_cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->slots[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low >= s->slot_cnt || s->slots[low].addr != addr)
		return NULL;
	if (s->slots[low].resolver)
		return resolver_name(s, b, s->slots[low].resolver);
	return symbol_name(s, b, s->slots[low].symbol);
}

/* The two forms of a stub: "jmp *slot(%rip)" (ff 25 rel32), perhaps behind endbr64 or bnd, and the lazy
 * "push $index" (68 imm32) whose jump stands in .plt.sec. */
static const char *stub_name(struct stubs *s, const struct symtab_builder *b, const uint8_t *code,
			     uint64_t code_bytes, uint64_t addr)
{
	for (uint64_t i = 0; i + 6 <= code_bytes; i++) {
		int32_t rel;

		memcpy(&rel, code + i + 2, 4);
		if (code[i] == 0xff && code[i + 1] == 0x25)
			return slot_name(s, b, addr + i + 6 + (uint64_t)(int64_t)rel);
	}
	for (uint64_t i = 0; i + 5 <= code_bytes; i++) {
		uint32_t at;

		memcpy(&at, code + i + 1, 4);
		if (code[i] == 0x68 && at < s->jump_cnt)
			return symbol_name(s, b, (uint32_t)ELF64_R_SYM(s->jumps[at].r_info));
	}
	return NULL;
}

static void add_stub(struct symtab_builder *b, const char *name, uint64_t addr, uint64_t size_bytes)
{
	struct symtab_symbol symbol = {
		.start = addr,
		.size_bytes = size_bytes,
		.typed = 1,
		.binding = 2,
	};

	symtab_add(b, &symbol, name, strlen(name));
}

static int add_section(struct symtab_builder *b, const struct elf *e, const char *section,
		       struct stubs *s)
{
	const Elf64_Shdr *h = elf_section(e, section);
	uint64_t len_bytes = 0, entry_bytes;
	uint8_t *code = h && (h->sh_flags & SHF_EXECINSTR) ?
				elf_section_copy(e, h, TABLE_MAX_BYTES, &len_bytes) :
				NULL;
	int cnt = 0;

	if (!code)
		return 0;
	entry_bytes = h->sh_entsize == 8 ? 8 : ENTRY_MAX_BYTES;
	for (uint64_t at = 0; at + entry_bytes <= len_bytes; at += entry_bytes) {
		const char *name = stub_name(s, b, code + at, entry_bytes, h->sh_addr + at);
		char *full = name ? xasprintf("%.*s@plt", 4096, name) : xstrdup(section);

		add_stub(b, full, h->sh_addr + at, entry_bytes);
		free(full);
		cnt++;
	}
	free(code);
	return cnt;
}

int plt_add(struct symtab_builder *b, const struct elf *e, const struct symtab_section *dynamic)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct stubs s = { .dynamic = dynamic };
	int cnt = 0;

	if (e->machine != EM_X86_64)
		return 0;
	stubs_open(&s, e);
	for (size_t i = 0; i < ARRAY_CNT(sections); i++)
		cnt += add_section(b, e, sections[i], &s);
	stubs_close(&s);
	return cnt;
}
