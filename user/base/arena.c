/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory with one lifetime; see arena.h. */
#include "user/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	ARENA_ALIGN_BYTES = 16,
	ARENA_FIRST_BLOCK_BYTES = 1024, /* small arenas exist in great numbers */
	ARENA_BLOCK_BYTES = 64 * 1024
};

struct arena_block {
	struct arena_block *older;
	size_t cap_bytes;
	_Alignas(ARENA_ALIGN_BYTES) char data[];
};

static void add_block(struct arena *a, size_t need_bytes)
{
	size_t cap_bytes = a->total_bytes ? a->total_bytes * 2 : ARENA_FIRST_BLOCK_BYTES;
	struct arena_block *b;

	if (cap_bytes > ARENA_BLOCK_BYTES)
		cap_bytes = ARENA_BLOCK_BYTES;
	if (cap_bytes < need_bytes)
		cap_bytes = need_bytes;
	b = xzalloc(sizeof(*b) + cap_bytes);
	b->cap_bytes = cap_bytes;
	b->older = a->blocks;
	a->blocks = b;
	a->used_bytes = 0;
	a->total_bytes += cap_bytes;
}

void *arena_alloc(struct arena *a, size_t size_bytes)
{
	size_t need_bytes = (size_bytes + ARENA_ALIGN_BYTES - 1) & ~(size_t)(ARENA_ALIGN_BYTES - 1);
	void *p;

	if (need_bytes < size_bytes)
		abort();
	if (!a->blocks || a->blocks->cap_bytes - a->used_bytes < need_bytes)
		add_block(a, need_bytes);
	p = a->blocks->data + a->used_bytes;
	a->used_bytes += need_bytes;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len_bytes)
{
	char *copy = arena_alloc(a, len_bytes + 1);

	memcpy(copy, s, len_bytes);
	return copy;
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->blocks;
	struct arena rest;

	if (!keep)
		return;
	rest = (struct arena){ .blocks = keep->older };
	arena_free(&rest);
	memset(keep->data, 0, a->used_bytes);
	keep->older = NULL;
	a->used_bytes = 0;
	a->total_bytes = keep->cap_bytes;
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->blocks, *older;

	for (; b; b = older) {
		older = b->older;
		free(b);
	}
	*a = (struct arena){ 0 };
}
