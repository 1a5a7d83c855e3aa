/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interned strings: equal bytes get equal ids. Id 0 is the empty string. Zero-initialised is empty. */
#ifndef CP_USER_BASE_STRTAB_H
#define CP_USER_BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/arena.h"
#include "user/base/index.h"

struct strtab {
	struct arena arena;
	struct index index;
	const char **strs; /* by id */
	uint32_t *lens_bytes;
	size_t cnt;
	size_t cap;
};

uint32_t strtab_add(struct strtab *t, const char *s);
uint32_t strtab_addn(struct strtab *t, const char *s, size_t len_bytes); /* may hold NUL bytes */
/* UINT32_MAX if the table does not hold it. */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t len_bytes);
const char *strtab_get(const struct strtab *t,
		       uint32_t id); /* lives as long as the table; "" if unknown */
size_t strtab_len_bytes(const struct strtab *t, uint32_t id);
void strtab_reset(struct strtab *t); /* empties, keeps memory */
void strtab_free(struct strtab *t);

#endif
