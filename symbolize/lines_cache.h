/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions and lines by address, as they came from the sandbox. */
#ifndef CP_SYMBOLIZE_LINES_CACHE_H
#define CP_SYMBOLIZE_LINES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/remote.h"
#include "symbolize/symbolizer.h"
#include "user/base/index.h"
#include "user/base/strtab.h"

/* Zero-initialised is empty. */
struct lines_cache {
	struct lines_cache_entry *entries;
	size_t cnt, cap;
	struct index index; /* by address */
	struct sym_frame *frames;
	size_t frame_cnt, frame_cap;
	struct sym_frame *last; /* of the last answer */
	size_t last_cap;
	uint64_t unit_cnt, missing_cnt;
	bool failed; /* the file was too much for the sandbox: it is not asked again */
};

struct lines_cache_entry {
	uint64_t addr;
	size_t start;
	uint32_t cnt;
};

bool lines_cache_has(const struct lines_cache *c, uint64_t addr);
/* Adds an answer (lines NULL = nothing is known about any of them); strings are kept in names. */
void lines_cache_add(struct lines_cache *c, const uint64_t *addrs, size_t cnt,
		     const struct remote_lines *lines, struct strtab *names);
/* The frames of an address, innermost first, in memory that the caller may change until the next call; 0 if
 * nothing is known. */
size_t lines_cache_find(struct lines_cache *c, uint64_t addr, struct sym_frame **ret);
void lines_cache_free(struct lines_cache *c);

#endif
