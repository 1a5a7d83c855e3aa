/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as a flame graph: running, runnable and blocked time in one picture and one unit. For the verbs
 * record and flame. */
#ifndef CP_USER_CMD_PICTURE_H
#define CP_USER_CMD_PICTURE_H

#include "flamegraph/picture.h"
#include "flamegraph/tree.h"
#include "user/analysis/fold.h"
#include "user/base/outfile.h"
#include "user/model/profile.h"

struct picture_opts {
	uint32_t classes;	 /* mask of 1 << enum flame_class; 0 = all */
	unsigned int fold_flags; /* enum fold_flag */
	enum fold_root root;
	bool reverse; /* from the leaf on */
};

/* Adds the stacks of a profile to a tree, as the chosen side. */
void picture__fill(struct flame_tree *t, const struct profile *p, const struct picture_opts *o,
		   enum flame_side side);

/* Title, subtitle and unit from the profile, where f has none. The texts live in *text until it is freed. */
struct picture_text {
	struct buf title, subtitle;
};
void picture__describe(const struct profile *p, struct flame_opts *f, struct picture_text *text);
void picture_text_free(struct picture_text *text);

/* The SVG of a profile with default looks. A profile without time gives a picture that says so. */
int picture__save(const struct profile *p, const char *path, enum outfile_mode mode,
		  struct err *err);

#endif
