/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own symbols, those of its modules and of BPF programs, from /proc/kallsyms: lines of
 * "ADDRESS TYPE NAME[\t[OWNER]]" in any order. There are no sizes: a function reaches to the next symbol,
 * of data too, but at most KALLSYMS_FUNCTION_MAX_BYTES. */
#ifndef CP_SYMBOLIZE_KALLSYMS_H
#define CP_SYMBOLIZE_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/reason.h"
#include "symbolize/symtab.h"

enum {
	KALLSYMS_FUNCTION_MAX_BYTES = 64 << 10,
};

struct kallsyms {
	struct symtab table;	      /* each name is followed by its owner's name */
	enum sym_reason reason;	      /* SYM_OK, or why there are no names at all */
	size_t line_cnt, skipped_cnt; /* skipped: lines that are not understood */
};

/* Never fails: what is wrong is in reason. text need not end in a NUL. O(n log n). */
void kallsyms_parse(struct kallsyms *k, const char *text, size_t len_bytes);
void kallsyms_read(struct kallsyms *k, const char *path);
/* Only what names the wanted addresses (sorted, without repetition): the answers for these are the same, in a tenth
 * of the time, since the other lines (100,000 and more) are neither kept nor sorted. */
void kallsyms_parse_near(struct kallsyms *k, const char *text, size_t len_bytes,
			 const uint64_t *wanted, size_t cnt);
void kallsyms_read_near(struct kallsyms *k, const char *path, const uint64_t *wanted, size_t cnt);
/* The same from symbols one by one, in any order: which are those near the wanted addresses at least. */
struct kallsyms_symbol {
	uint64_t addr;
	char type;
	const char *name, *owner; /* owner with its brackets, or "" */
	size_t name_bytes, owner_bytes;
};

struct kallsyms_sieve *kallsyms_sieve__new(const uint64_t *wanted, size_t cnt); /* borrows wanted */
void kallsyms_sieve__add(struct kallsyms_sieve *s, const struct kallsyms_symbol *symbol);
/* Fills *k and ends the sieve. */
void kallsyms_sieve__finish(struct kallsyms_sieve *s, struct kallsyms *k);
/* The function that holds addr and its owner ("" = the kernel proper); NULL if none; borrowed. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **owner,
			  uint64_t *start);
void kallsyms_free(struct kallsyms *k);

#endif
