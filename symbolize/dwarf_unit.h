/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of one compilation unit, the inlined ones too, as disjoint ranges: the tree of debugging
 * entries is walked once, after that an address costs a binary search. libdw's dwarf_getscopes walks the
 * whole unit for every address. Source: DWARF 5, section 3.3. */
#ifndef CP_SYMBOLIZE_DWARF_UNIT_H
#define CP_SYMBOLIZE_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/ranges.h"

enum {
	DWARF_UNIT_FUNCTIONS_MAX = 4 << 20,
	DWARF_UNIT_DEPTH_MAX = 256, /* of nested entries; deeper ones are left out */
};

/* A function, or one place where it was inlined. */
struct dwarf_function {
	Dwarf_Die die;
	const char *name;   /* found at the first question; borrowed */
	uint32_t parent;    /* the function that it is inlined into, UINT32_MAX = none */
	uint32_t call_line; /* where it is inlined, 0 = unknown */
	uint32_t call_file; /* index into the unit's files */
	bool inlined;
};

struct dwarf_unit {
	Dwarf_Die die;	      /* where the line table hangs: the skeleton of a split unit */
	Dwarf_Die code;	      /* where the functions are */
	const char *comp_dir; /* NULL = not asked for yet, "" = none */
	const char *last_raw, *last_file; /* of the last source file, as libdw and as we call it */
	bool loaded;
	bool split_missing; /* the .dwo file was not found */
	struct dwarf_function *functions;
	size_t cnt, cap;
	struct ranges ranges; /* id = index of the innermost function */
};

/* Walks the unit if it was not done. */
void dwarf_unit_load(struct dwarf_unit *u);
void dwarf_unit_fini(struct dwarf_unit *u);

#endif
