/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flame chart of a profile: time goes to the right, threads stand side by side. Made of intervals. */
#ifndef CP_USER_CMD_FLAME_CHART_H
#define CP_USER_CMD_FLAME_CHART_H

#include "user/cmd/flame_fill.h"

/* Adds the intervals of p to the tree, which must be one of FLAME_MERGE_CHART, thread by thread in order of
 * time. Returns how many there were; 0 = p has none. O(n log n). */
uint64_t flame_fill__chart(struct flame_fill *f, const struct profile *p);

#endif
