/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All function symbols that one program or library has, from the descriptors handed in: its own .symtab or
 * that of its separate debug file, .dynsym, MiniDebugInfo, and the stubs of its PLT. Opens nothing. */
#ifndef CP_SYMBOLIZE_SYMFILE_H
#define CP_SYMBOLIZE_SYMFILE_H

#include "symbolize/elf.h"
#include "symbolize/symtab.h"

/* How many functions each source gave, or a negative errno: -ENOENT not there, -EINVAL damaged. */
struct symfile_counts {
	int symtab, debug_symtab, dynsym, minidebug, plt;
	size_t dropped_cnt; /* beyond the limits */
};

/* debug may be NULL. The table is always made, empty if there is nothing. */
void symfile_read(const struct elf *main, const struct elf *debug, struct symtab *ret,
		  struct symfile_counts *counts);
/* Whether a source was damaged or too large, so that names may be missing. */
bool symfile_is_damaged(const struct symfile_counts *counts);

#endif
