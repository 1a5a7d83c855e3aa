/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/lines_cache.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

static const struct lines_cache_entry *find(const struct lines_cache *c, uint64_t addr)
{
	struct index_iter it = index_find(&c->index, hash_u64(addr));

	for (; index_hit(&c->index, &it); index_next(&c->index, &it))
		if (c->entries[it.elem].addr == addr)
			return &c->entries[it.elem];
	return NULL;
}

bool lines_cache_has(const struct lines_cache *c, uint64_t addr)
{
	return find(c, addr);
}

static void add_frames(struct lines_cache *c, const struct remote_lines *l, size_t at,
		       struct strtab *names)
{
	for (uint32_t i = l->starts[at]; i < l->starts[at + 1]; i++) {
		const struct remote_frame *f = &l->frames[i];

		c->frames = xgrow(c->frames, &c->frame_cap, c->frame_cnt + 1, sizeof(*c->frames));
		c->frames[c->frame_cnt++] = (struct sym_frame){
			.name = strtab_get(names, strtab_add(names, l->strings + f->name)),
			.file = strtab_get(names, strtab_add(names, l->strings + f->file)),
			.line = f->line,
			.inlined = f->inlined,
		};
	}
}

void lines_cache_add(struct lines_cache *c, const uint64_t *addrs, size_t cnt,
		     const struct remote_lines *lines, struct strtab *names)
{
	for (size_t i = 0; i < cnt; i++) {
		struct lines_cache_entry e = { .addr = addrs[i], .start = c->frame_cnt };

		if (lines)
			add_frames(c, lines, i, names);
		e.cnt = (uint32_t)(c->frame_cnt - e.start);
		index_add(&c->index, hash_u64(e.addr), (uint32_t)c->cnt);
		c->entries = xgrow(c->entries, &c->cap, c->cnt + 1, sizeof(*c->entries));
		c->entries[c->cnt++] = e;
	}
	if (lines) {
		c->unit_cnt = lines->unit_cnt;
		c->missing_cnt += lines->missing_cnt;
	}
}

size_t lines_cache_find(struct lines_cache *c, uint64_t addr, struct sym_frame **ret)
{
	const struct lines_cache_entry *e = find(c, addr);

	if (!e || !e->cnt)
		return 0;
	c->last = xgrow(c->last, &c->last_cap, e->cnt, sizeof(*c->last));
	memcpy(c->last, c->frames + e->start, e->cnt * sizeof(*c->last));
	*ret = c->last;
	return e->cnt;
}

void lines_cache_free(struct lines_cache *c)
{
	free(c->entries);
	free(c->frames);
	free(c->last);
	index_free(&c->index);
	memset(c, 0, sizeof(*c));
}
