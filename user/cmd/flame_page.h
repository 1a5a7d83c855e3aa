/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page of a profile: the picture, its parts and its other ways to be read as tabs; with a heat map
 * where the profile has intervals. */
#ifndef CP_USER_CMD_FLAME_PAGE_H
#define CP_USER_CMD_FLAME_PAGE_H

#include "flamegraph/html.h"
#include "user/cmd/flame_fill.h"

/* f is filled and finished; heat may be NULL. */
int flame_page__put(const struct flame_fill *f, const struct flame_opts *o, struct flame_heat *heat,
		    struct buf *out, struct err *err);

/* Time slices of the profile's intervals for the tree in f, which must have been filled from p alone, with
 * FLAME_BY_NOTHING, before it is finished: adds no weight, only finds the nodes. *h is zeroed where the
 * profile has no intervals; free slices with flame_heat_fini. */
void flame_heat_init(struct flame_heat *h, struct flame_fill *f, const struct profile *p);
void flame_heat_fini(struct flame_heat *h);

#endif
