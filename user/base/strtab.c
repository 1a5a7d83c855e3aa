/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interned strings; see strtab.h. */
#include "user/base/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

static uint32_t append(struct strtab *t, const char *s, size_t len_bytes, uint64_t hash)
{
	uint32_t id = (uint32_t)t->cnt;
	size_t cap = t->cap;

	if (t->cnt == t->cap) {
		t->strs = xgrow(t->strs, &cap, t->cnt + 1, sizeof(*t->strs));
		t->lens_bytes = xreallocarray(t->lens_bytes, cap, sizeof(*t->lens_bytes));
		t->cap = cap;
	}
	t->strs[id] = arena_strndup(&t->arena, s, len_bytes);
	t->lens_bytes[id] = (uint32_t)len_bytes;
	t->cnt++;
	index_add(&t->index, hash, id);
	return id;
}

static uint32_t find(const struct strtab *t, const char *s, size_t len_bytes, uint64_t hash)
{
	struct index_iter it = index_find(&t->index, hash);

	for (; index_hit(&t->index, &it); index_next(&t->index, &it))
		if (t->lens_bytes[it.elem] == len_bytes && !memcmp(t->strs[it.elem], s, len_bytes))
			return it.elem;
	return UINT32_MAX;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t len_bytes)
{
	return find(t, s, len_bytes, hash_bytes(s, len_bytes));
}

uint32_t strtab_addn(struct strtab *t, const char *s, size_t len_bytes)
{
	uint64_t hash = hash_bytes(s, len_bytes);
	uint32_t id;

	if (!t->cnt)
		append(t, "", 0, hash_bytes("", 0));
	id = find(t, s, len_bytes, hash);
	return id == UINT32_MAX ? append(t, s, len_bytes, hash) : id;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_addn(t, s, strlen(s));
}

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->cnt ? t->strs[id] : "";
}

size_t strtab_len_bytes(const struct strtab *t, uint32_t id)
{
	return id < t->cnt ? t->lens_bytes[id] : 0;
}

void strtab_reset(struct strtab *t)
{
	arena_reset(&t->arena);
	index_reset(&t->index);
	t->cnt = 0;
}

void strtab_free(struct strtab *t)
{
	arena_free(&t->arena);
	index_free(&t->index);
	free(t->strs);
	free(t->lens_bytes);
	*t = (struct strtab){ 0 };
}
