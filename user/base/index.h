/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash index over somebody else's array: maps a hash to an element number; the caller compares elements.
 * Open addressing, grows at 3/4; nothing is ever removed. Zero-initialised is empty.
 *
 *	struct index_iter it = index_find(&ix, hash);
 *	for (; index_hit(&ix, &it); index_next(&ix, &it))
 *		if (elems[it.elem].key == key)
 *			return it.elem;
 *	index_add(&ix, hash, new_elem);
 */
#ifndef CP_USER_BASE_INDEX_H
#define CP_USER_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index {
	struct index_slot *slots;
	size_t cap; /* a power of two, or 0 */
	size_t cnt;
};

struct index_slot {
	uint32_t hash_top;    /* upper half of the hash */
	uint32_t elem_plus_1; /* 0 = free */
};

struct index_iter {
	size_t at;
	uint32_t hash_top;
	uint32_t elem; /* valid after index_hit returned true */
};

struct index_iter index_find(const struct index *ix, uint64_t hash);
bool index_hit(const struct index *ix, struct index_iter *it);
/* Starts to load the place of a hash, for callers that know several hashes ahead. */
void index_prefetch(const struct index *ix, uint64_t hash);
void index_next(const struct index *ix, struct index_iter *it);
void index_add(struct index *ix, uint64_t hash, uint32_t elem); /* elem < UINT32_MAX */
void index_reset(struct index *ix); /* empties, keeps the memory; O(capacity) */
void index_free(struct index *ix);

#endif
