/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/code_maps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

static const struct code_maps_space *find_space(const struct code_maps *c, uint64_t space)
{
	struct index_iter it = index_find(&c->index, hash_u64(space));

	for (; index_hit(&c->index, &it); index_next(&c->index, &it))
		if (c->spaces[it.elem].space == space)
			return &c->spaces[it.elem];
	return NULL;
}

static void add_mapping(struct profile *p, const struct sym_mapping *from, uint32_t process)
{
	struct mapping m = {
		.start = from->start,
		.end = from->end,
		.off_bytes = from->off_bytes,
		.path_sid = profile__string(p, from->path),
		.build_id_bytes = from->build_id_bytes,
		.process = process,
	};

	memcpy(m.build_id, from->build_id, sizeof(m.build_id));
	profile__add_mapping(p, &m);
}

void code_maps_add(struct code_maps *c, struct profile *p, const struct symbolizer *s,
		   uint64_t space, uint32_t process)
{
	struct code_maps_space entry = { .space = space };
	struct sym_mapping m;

	if (find_space(c, space))
		return;
	entry.first = (uint32_t)p->mappings.cnt;
	for (; symbolizer__mapping(s, space, entry.cnt, &m); entry.cnt++)
		add_mapping(p, &m, process);
	index_add(&c->index, hash_u64(space), (uint32_t)c->cnt);
	c->spaces = xgrow(c->spaces, &c->cap, c->cnt + 1, sizeof(*c->spaces));
	c->spaces[c->cnt++] = entry;
}

uint32_t code_maps_find(const struct code_maps *c, const struct profile *p, uint64_t space,
			uint64_t addr)
{
	const struct code_maps_space *s = find_space(c, space);
	uint32_t low = s ? s->first : 0, end = s ? s->first + s->cnt : 0, high = end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->mappings.items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < end && p->mappings.items[low].start <= addr ? low : 0;
}

static void note_tried(struct profile *p, uint32_t mapping, uint64_t space,
		       const struct symbolizer *s)
{
	struct buf tried = { 0 };

	symbolizer__tried_user(s, space, p->mappings.items[mapping].start, &tried);
	p->mappings.items[mapping].tried_sid = profile__string(p, buf_str(&tried));
	buf_free(&tried);
}

void code_maps_note_tried(const struct code_maps *c, struct profile *p, const struct symbolizer *s)
{
	bool *wanted = xcalloc(p->mappings.cnt + 1, sizeof(*wanted));

	for (size_t i = 1; i < p->frames.cnt; i++)
		wanted[p->frames.items[i].mapping] |= p->frames.items[i].reason != NAME_OK;
	for (size_t i = 0; i < c->cnt; i++) {
		const struct code_maps_space *space = &c->spaces[i];

		for (uint32_t n = 0; n < space->cnt; n++)
			if (wanted[space->first + n])
				note_tried(p, space->first + n, space->space, s);
	}
	free(wanted);
}

void code_maps_free(struct code_maps *c)
{
	free(c->spaces);
	index_free(&c->index);
	memset(c, 0, sizeof(*c));
}
