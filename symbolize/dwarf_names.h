/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions, source files and lines of one program, from its DWARF. Works on descriptors; only for
 * split units (.dwo) libdw opens files itself, by the names in the skeleton units, so in the unprivileged
 * child those opens are answered by the parent. */
#ifndef CP_SYMBOLIZE_DWARF_NAMES_H
#define CP_SYMBOLIZE_DWARF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbolizer.h"
#include "user/base/strtab.h"

struct dwarf_names;

struct dwarf_opts {
	bool no_demangle, keep_suffixes;
	struct strtab *strings; /* borrowed; names and files are kept there */
};

/* fd holds .debug_info; alt_fd is the file that dwz made, or -1. Both are borrowed and must stay open. NULL
 * if there is no debug information that libdw reads. O(units). */
struct dwarf_names *dwarf_names__open(int fd, int alt_fd, const struct dwarf_opts *opts);
void dwarf_names__close(struct dwarf_names *d);
/* The functions around an address, innermost first; the last one is the real one, the others are inlined.
 * Its name may be "" where only a line is known. The array is borrowed until the next call; 0 if nothing is known. */
size_t dwarf_names__find(struct dwarf_names *d, uint64_t addr, struct sym_frame **ret);
/* Units, and those whose .dwo file was missing so far. */
void dwarf_names__count(const struct dwarf_names *d, size_t *unit_cnt, size_t *missing_cnt);

#endif
