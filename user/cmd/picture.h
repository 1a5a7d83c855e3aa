/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a capture: its heading, and the file that record writes beside the profile. How stacks
 * become a tree is flame_fill.h's business. */
#ifndef CP_USER_CMD_PICTURE_H
#define CP_USER_CMD_PICTURE_H

#include "flamegraph/picture.h"
#include "user/base/buf.h"
#include "user/base/outfile.h"
#include "user/model/profile.h"

/* Title and subtitle from the profile, where f has none. The texts live in *text until it is freed. */
struct picture_text {
	struct buf title, subtitle;
};
void picture__describe(const struct profile *p, struct flame_opts *f, struct picture_text *text);
void picture_text_free(struct picture_text *text);

/* The SVG of a profile with default looks. A profile without time gives a picture that says so. */
int picture__save(const struct profile *p, const char *path, enum outfile_mode mode,
		  struct err *err);

#endif
