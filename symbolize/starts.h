/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the functions of a file start, though nobody says what they are called: the search table that the linker makes of
 * all unwind entries (.eh_frame_hdr, Linux Standard Base, "Exception Frames"). It is in every stripped file, since C++
 * exceptions and backtraces need it; an entry is a function, or the part of one that the compiler put elsewhere. */
#ifndef CP_SYMBOLIZE_STARTS_H
#define CP_SYMBOLIZE_STARTS_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf.h"

/* Zero-initialised is empty. */
struct starts {
	uint8_t *table; /* as it is in the file: pairs of 4 bytes, start and entry */
	size_t cnt;
	uint64_t base_vaddr; /* what the pairs count from */
};

/* Empty if there is none, it is damaged, or of an encoding that linkers do not write. O(cnt). */
void starts_read(const struct elf *e, struct starts *ret);
/* The last start at or below addr; 0 = none. In a file with a table out of order any of its starts. O(log n). */
uint64_t starts_find(const struct starts *s, uint64_t addr);
void starts_free(struct starts *s);

#endif
