/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbols and their demangled names, read when they are asked for: all of them, or, where it is known
 * beforehand which addresses will be looked up, only those around these. */
#ifndef CP_SYMBOLIZE_KERNEL_NAMES_H
#define CP_SYMBOLIZE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/kallsyms.h"

struct strtab;
struct sym_opts;

struct kernel_names {
	struct kallsyms kallsyms;
	const char **names; /* demangled, by range; NULL = not asked for yet */
	uint64_t *wanted;   /* sorted: kallsyms has the names of these alone; NULL: all */
	size_t wanted_cnt;
	bool is_read;
};

void kernel_names_free(struct kernel_names *k);
/* Reads what cnt addresses need. Takes wanted over, and sorts it. O(cnt log cnt + symbols). */
void kernel_names_prepare(struct kernel_names *k, const struct sym_opts *opts, uint64_t *wanted,
			  size_t cnt);
/* So that at can be looked up; k->kallsyms.reason says why nothing can. */
void kernel_names_read(struct kernel_names *k, const struct sym_opts *opts, uint64_t at);
/* NULL if there is none at this address; *owner is its module, "" for the kernel proper. Lives as long as names.
 * O(log n). */
const char *kernel_names_find(struct kernel_names *k, const struct sym_opts *opts,
			      struct strtab *names, uint64_t at, const char **owner);

#endif
