/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting by a number, without comparisons. */
#ifndef CP_USER_BASE_SORT_H
#define CP_USER_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_pair {
	uint64_t key;
	uint32_t value;
};

/* By key; equal keys keep their order. Radix sort by bytes, the lowest first; bytes that all keys share cost nothing. O(n),
 * and as much memory again. */
void sort_pairs(struct sort_pair *pairs, size_t cnt);

#endif
