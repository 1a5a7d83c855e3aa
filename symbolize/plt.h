/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the stubs through which calls to other files go. They have no symbols: the instruction of a
 * stub is decoded, the GOT slot that it jumps through is looked up among the relocations, and the stub is
 * called after the relocation's symbol: "strcmp@plt". x86-64. Source: psABI, Procedure Linkage Table. */
#ifndef CP_SYMBOLIZE_PLT_H
#define CP_SYMBOLIZE_PLT_H

#include "symbolize/elf.h"
#include "symbolize/symtab.h"

/* Adds one symbol a stub of .plt, .plt.sec, .plt.got and .iplt; returns how many. Call it after the file's
 * own symbols were added: IRELATIVE stubs are called after the function at their resolver. dynamic: the file's dynamic
 * symbols. O(n log n). */
int plt_add(struct symtab_builder *b, const struct elf *e, const struct symtab_section *dynamic);

#endif
