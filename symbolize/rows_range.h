/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address ranges with the place that their rows come from, in order; private to symbolize/rows.c. */
#ifndef CP_SYMBOLIZE_ROWS_RANGE_H
#define CP_SYMBOLIZE_ROWS_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of an unwind section, or a PLT section. Not empty. */
struct rows_range {
	uint64_t lo;
	uint32_t len_bytes;
	uint32_t insn_off, insn_end;
	uint32_t cie;
	uint16_t part; /* number of the section */
	bool is_plt;
	bool is_entry; /* returned into, not called: rows_code_is_entry */
	bool is_start; /* where the kernel starts the program: nobody called it */
};

struct rows_ranges {
	struct rows_range *items;
	size_t cnt;
	size_t cap;
};

void rows_ranges_add(struct rows_ranges *list, struct rows_range r);
/* The smallest lo, or UINT64_MAX. */
uint64_t rows_ranges_lowest(const struct rows_ranges *list);
/* Drops what starts span_bytes or more above base, cuts what ends there; returns how many were dropped. */
uint32_t rows_ranges_limit(struct rows_ranges *list, uint64_t base, uint64_t span_bytes);
/* By address, those of one address in the order in which they were added. All lie within 4 GiB of base. */
void rows_ranges_sort(struct rows_ranges *list, uint64_t base);
void rows_ranges_free(struct rows_ranges *list);

#endif
