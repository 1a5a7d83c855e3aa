/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of addresses that nest or overlap, made disjoint: of those that hold an address the one that was
 * opened last, the innermost, keeps it. */
#ifndef CP_SYMBOLIZE_RANGES_H
#define CP_SYMBOLIZE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* end is not part of it */
	uint32_t id;	     /* the caller's */
	uint32_t depth; /* of nesting; decides between equal ranges: the deeper one is inside */
};

struct ranges {
	struct range *items;
	size_t cnt, cap;
	uint32_t *blocks; /* NULL, or the first range that ends behind the start of each block */
	size_t block_cnt;
	unsigned int block_shift;
};

void ranges_add(struct ranges *r, uint64_t start, uint64_t end, uint32_t id, uint32_t depth);
/* By start, then the longer one first, then depth. */
void ranges_sort(struct ranges *r);
/* Replaces sorted ranges (by start; where starts are equal the outer one first) by at most twice as many
 * disjoint ones, sorted. O(n). */
void ranges_flatten(struct ranges *r);
/* Makes ranges_find on disjoint ranges O(1) in most cases: equal blocks of addresses, about twice as many as
 * there are ranges, each with the first range in it. Forgotten when ranges are added. */
void ranges_index(struct ranges *r);
/* In disjoint ranges: the one that holds addr, or NULL. At most O(log n). */
const struct range *ranges_find(const struct ranges *r, uint64_t addr);
/* The same for many: ret[i] = 1 + the place in items of the one that holds addrs[i], 0 = none. Faster, since they are
 * looked up in an order that goes through the ranges once. */
void ranges_find_all(const struct ranges *r, const uint64_t *addrs, size_t cnt, uint32_t *ret);
void ranges_free(struct ranges *r);

#endif
