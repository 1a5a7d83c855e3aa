/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/model/builds.h"

struct build {
	uint8_t id[BUILD_ID_MAX_BYTES];
	uint32_t id_bytes; /* 0 = none seen yet */
	bool several;
};

static void note(struct builds *b, const char *module, const struct mapping *m)
{
	uint32_t at = strtab_add(&b->modules, module);
	size_t old_cap = b->cap;
	struct build *build;

	if (at >= b->cap) {
		b->items = xgrow(b->items, &b->cap, at + 1, sizeof(*b->items));
		memset(b->items + old_cap, 0, (b->cap - old_cap) * sizeof(*b->items));
	}
	build = &b->items[at];
	if (!build->id_bytes) {
		memcpy(build->id, m->build_id, sizeof(build->id));
		build->id_bytes = m->build_id_bytes;
	} else if (!build->several && (build->id_bytes != m->build_id_bytes ||
				       memcmp(build->id, m->build_id, build->id_bytes))) {
		build->several = true;
		b->several_cnt++;
	}
}

void builds_add(struct builds *b, const struct profile *p)
{
	for (size_t i = 1; i < p->frames.cnt; i++) {
		const struct frame *f = &p->frames.items[i];
		const struct mapping *m =
			f->mapping < p->mappings.cnt ? &p->mappings.items[f->mapping] : NULL;

		if (f->function && !*profile__str(p, f->name_sid) && m && m->build_id_bytes &&
		    m->build_id_bytes <= BUILD_ID_MAX_BYTES)
			note(b, profile__str(p, f->module_sid), m);
	}
}

bool builds_differ(const struct builds *b, const char *module)
{
	uint32_t at =
		b->several_cnt ? strtab_find(&b->modules, module, strlen(module)) : UINT32_MAX;

	return at < b->cap && b->items[at].several;
}

void builds_free(struct builds *b)
{
	strtab_free(&b->modules);
	free(b->items);
	*b = (struct builds){ 0 };
}
