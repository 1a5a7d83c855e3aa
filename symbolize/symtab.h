/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of one file as disjoint, sorted address ranges.
 *
 * Symbol tables are not that: names share addresses (aliases), hand-written assembly has functions of size
 * 0, labels lie inside functions, sized functions nest, and stretches belong to nobody. The rule:
 *
 * 1. Code only: typed FUNC or IFUNC, or untyped, defined in an executable section (without section headers:
 *    in an executable segment), named, and no mapping symbol ("$x", "$d", ".L...").
 * 2. At one address one symbol: typed before untyped, sized before size 0, global or weak before local,
 *    fewer leading underscores, global before weak, larger, shorter name, then the first in byte order.
 * 3. A size is believed: behind it the function has ended, and what follows belongs to nobody. A symbol of
 *    size 0 reaches to the next symbol or the end of its section, and none begins inside of a sized one.
 * 4. Where sized symbols nest, the innermost one names the address.
 *
 * A built table is flat (ranges and one block of strings), so that a reader without privileges can hand it
 * to its parent, which checks it with symtab_check. */
#ifndef CP_SYMBOLIZE_SYMTAB_H
#define CP_SYMBOLIZE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf.h"
#include "symbolize/ranges.h"
#include "user/base/buf.h"

enum {
	SYMTAB_SYMBOLS_MAX = 16 << 20,
};

struct symtab {
	struct ranges ranges; /* id = offset of the name in the strings */
	struct buf
		strings; /* NUL-terminated: names as they stand in the file, and others that nothing refers to */
};

/* Symbols on their way into a table. Zero-initialised is empty. */
struct symtab_builder {
	struct symtab_symbol *symbols;
	size_t cnt, cap;
	struct buf strings;
	size_t dropped_cnt; /* beyond SYMTAB_SYMBOLS_MAX */
};

struct symtab_symbol {
	uint64_t start, size_bytes;
	uint64_t limit; /* a symbol of size 0 ends here at the latest */
	uint32_t name;
	uint8_t typed, binding; /* binding: 0 global, 1 weak, 2 local */
};

/* A section of symbols as it stands in the file; their names are in a builder's strings. */
struct symtab_section {
	Elf64_Sym *symbols;
	size_t cnt;
	size_t strings_at, strings_bytes;
	int error; /* -EINVAL when the section is there but damaged, -ENOENT when there is none; the rest is then 0 */
};

/* Reads e's section of that type (SHT_SYMTAB, SHT_DYNSYM), and all of its names into b's strings. */
void symtab_section_read(struct symtab_section *s, struct symtab_builder *b, const struct elf *e,
			 uint32_t type);
void symtab_section_free(struct symtab_section *s);
/* A symbol's name, or NULL; borrowed until something is added to b. */
const char *symtab_section_name(const struct symtab_section *s, const struct symtab_builder *b,
				size_t symbol);

/* Adds those of the section's symbols that are functions; returns how many, or the section's error. */
int symtab_add_section(struct symtab_builder *b, const struct elf *e,
		       const struct symtab_section *s);
/* Reads, adds and frees a section. */
int symtab_add_elf(struct symtab_builder *b, const struct elf *e, uint32_t section_type);
/* One with a name of its own, and one whose name is in the builder's strings already. */
void symtab_add(struct symtab_builder *b, const struct symtab_symbol *symbol, const char *name,
		size_t name_bytes);
void symtab_add_named(struct symtab_builder *b, const struct symtab_symbol *symbol);

/* Makes the table and empties the builder. O(n log n). */
void symtab_build(struct symtab_builder *b, struct symtab *ret);
void symtab_builder_free(struct symtab_builder *b);

/* The range that holds addr, or NULL; borrowed. O(log n). */
const struct range *symtab_find(const struct symtab *t, uint64_t addr);
const char *symtab_name(const struct symtab *t, const struct range *r); /* perhaps very long */
/* Ranges sorted and disjoint, names inside the strings: what a table from elsewhere must fulfil. */
bool symtab_check(const struct symtab *t);
void symtab_free(struct symtab *t);

#endif
