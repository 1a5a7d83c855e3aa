/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding profiles. Equal stacks add up; tables that name things (strings, frames, mappings) are joined,
 * processes and threads are kept apart unless every field is equal. Totals are the exact sums. */
#ifndef CP_USER_ANALYSIS_MERGE_H
#define CP_USER_ANALYSIS_MERGE_H

#include "user/base/err.h"
#include "user/model/profile.h"

/* Adds src to dst. They must have one unit (an empty dst takes src's). The window becomes the hull of both;
 * facts of the machine stay dst's where they differ; labels that both have but with other values go. Slices
 * add by their number. -EINVAL when the units differ or numbers would not fit. O(size of src). */
int merge_profile(struct profile *dst, const struct profile *src, struct err *err);

#endif
