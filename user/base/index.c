/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash index over an array; see index.h. A slot keeps the hash's upper half, which both rejects most
 * false candidates and is enough to place the slot again when the table grows (up to 2^32 slots). */
#include "user/base/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <string.h>

#include "user/base/mem.h"

static size_t home(uint32_t hash_top, size_t cap)
{
	return hash_top & (cap - 1);
}

struct index_iter index_find(const struct index *ix, uint64_t hash)
{
	struct index_iter it = { .hash_top = (uint32_t)(hash >> 32) };

	it.at = ix->cap ? home(it.hash_top, ix->cap) : 0;
	return it;
}

bool index_hit(const struct index *ix, struct index_iter *it)
{
	if (!ix->cap)
		return false;
	for (;; it->at = (it->at + 1) & (ix->cap - 1)) {
		const struct index_slot *s = &ix->slots[it->at];

		if (!s->elem_plus_1)
			return false;
		if (s->hash_top == it->hash_top) {
			it->elem = s->elem_plus_1 - 1;
			return true;
		}
	}
}

void index_prefetch(const struct index *ix, uint64_t hash)
{
	if (ix->cap)
		__builtin_prefetch(&ix->slots[home((uint32_t)(hash >> 32), ix->cap)]);
}

void index_next(const struct index *ix, struct index_iter *it)
{
	it->at = (it->at + 1) & (ix->cap - 1);
}

static void place(struct index_slot *slots, size_t cap, struct index_slot s)
{
	size_t at = home(s.hash_top, cap);

	while (slots[at].elem_plus_1)
		at = (at + 1) & (cap - 1);
	slots[at] = s;
}

/* Large tables are touched all over: huge pages spare a walk of the page tables at nearly every look-up. */
static struct index_slot *new_slots(size_t cap)
{
	enum {
		HUGE_PAGE_BYTES = 2 << 20
	};
	size_t size_bytes = cap * sizeof(struct index_slot);
	void *slots = NULL;

	if (size_bytes < 2 * HUGE_PAGE_BYTES || posix_memalign(&slots, HUGE_PAGE_BYTES, size_bytes))
		return xcalloc(cap, sizeof(struct index_slot));
	madvise(slots, size_bytes, MADV_HUGEPAGE); /* only a hint */
	return memset(slots, 0, size_bytes);
}

void index_add(struct index *ix, uint64_t hash, uint32_t elem)
{
	struct index_slot s = { .hash_top = (uint32_t)(hash >> 32), .elem_plus_1 = elem + 1 };

	if (ix->cnt + 1 > ix->cap / 4 * 3) {
		size_t cap = ix->cap ? ix->cap * 2 : 64;
		struct index_slot *slots = new_slots(cap);

		for (size_t i = 0; i < ix->cap; i++)
			if (ix->slots[i].elem_plus_1)
				place(slots, cap, ix->slots[i]);
		free(ix->slots);
		ix->slots = slots;
		ix->cap = cap;
	}
	place(ix->slots, ix->cap, s);
	ix->cnt++;
}

void index_reset(struct index *ix)
{
	if (ix->cnt)
		memset(ix->slots, 0, ix->cap * sizeof(*ix->slots));
	ix->cnt = 0;
}

void index_free(struct index *ix)
{
	free(ix->slots);
	*ix = (struct index){ 0 };
}
