/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of a file, arbitrary 64-bit ones, to numbers of ours. */
#ifndef CP_USER_EXCHANGE_IDMAP_H
#define CP_USER_EXCHANGE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/index.h"

struct idmap_entry {
	uint64_t id;
	uint32_t value;
};

/* Zero-initialised is empty. */
struct idmap {
	struct idmap_entry *entries;
	size_t cnt, cap;
	struct index index;
};

bool idmap_add(struct idmap *m, uint64_t id, uint32_t value); /* false: the id is there already */
bool idmap_get(const struct idmap *m, uint64_t id, uint32_t *value);
void idmap_free(struct idmap *m);

#endif
