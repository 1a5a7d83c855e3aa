/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of a file to numbers of ours; see idmap.h. */
#include "user/exchange/idmap.h"

#include <stdlib.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

bool idmap_get(const struct idmap *m, uint64_t id, uint32_t *value)
{
	struct index_iter it = index_find(&m->index, hash_u64(id));

	for (; index_hit(&m->index, &it); index_next(&m->index, &it))
		if (m->entries[it.elem].id == id) {
			*value = m->entries[it.elem].value;
			return true;
		}
	return false;
}

bool idmap_add(struct idmap *m, uint64_t id, uint32_t value)
{
	uint32_t have;

	if (idmap_get(m, id, &have))
		return false;
	if (m->cnt == m->cap)
		m->entries = xgrow(m->entries, &m->cap, m->cnt + 1, sizeof(*m->entries));
	m->entries[m->cnt] = (struct idmap_entry){ id, value };
	index_add(&m->index, hash_u64(id), (uint32_t)m->cnt++);
	return true;
}

void idmap_free(struct idmap *m)
{
	free(m->entries);
	index_free(&m->index);
}
