/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory with one lifetime: allocated piece by piece, released at once. For tables and analyses. */
#ifndef CP_USER_BASE_ARENA_H
#define CP_USER_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used_bytes;	    /* in the newest block */
	size_t total_bytes;	    /* held in all blocks */
};

/* Zero-initialised is empty. Results are aligned to 16 bytes, zeroed, and live until arena_free. */
void *arena_alloc(struct arena *a, size_t size_bytes);
char *arena_strndup(struct arena *a, const char *s, size_t len_bytes);
void arena_reset(struct arena *a); /* empties; keeps the newest block */
void arena_free(struct arena *a);

#endif
