/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executable mappings of a profile: where a frame's code lay, so that "symbolize" can name it later. */
#ifndef CP_USER_CAPTURE_CODE_MAPS_H
#define CP_USER_CAPTURE_CODE_MAPS_H

#include <stdint.h>

#include "symbolize/symbolizer.h"
#include "user/base/index.h"
#include "user/model/profile.h"

/* Zero-initialised is empty. */
struct code_maps {
	struct code_maps_space *spaces;
	size_t cnt, cap;
	struct index index; /* by space */
};

struct code_maps_space {
	uint64_t space;
	uint32_t first, cnt; /* mappings in the profile, by start */
};

/* Puts the mappings of an address space into the profile, if it was not done; process is the first one in
 * the profile that has it. */
void code_maps_add(struct code_maps *c, struct profile *p, const struct symbolizer *s,
		   uint64_t space, uint32_t process);
/* The mapping that holds addr; 0 = none. O(log n). */
uint32_t code_maps_find(const struct code_maps *c, const struct profile *p, uint64_t space,
			uint64_t addr);
/* Notes where names were looked for with the mappings that hold frames without one. After the last frame. */
void code_maps_note_tried(const struct code_maps *c, struct profile *p, const struct symbolizer *s);
void code_maps_free(struct code_maps *c);

#endif
