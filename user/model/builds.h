/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of which several profiles hold several builds. A function without a name is known by where it starts in its file,
 * which says the same in all runs of one build and nothing across builds. */
#ifndef CP_USER_MODEL_BUILDS_H
#define CP_USER_MODEL_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/strtab.h"
#include "user/model/profile.h"

/* Zero-initialised is empty. */
struct builds {
	struct strtab modules;
	struct build *items; /* by module */
	size_t cap;
	size_t several_cnt; /* modules with more than one build */
};

/* Notes the builds of the files in which p has functions without a name. O(frames). */
void builds_add(struct builds *b, const struct profile *p);
/* Whether there was more than one; a file without a build-id counts as the build that was seen. */
bool builds_differ(const struct builds *b, const char *module);
void builds_free(struct builds *b);

#endif
