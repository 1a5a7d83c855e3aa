/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ccct as bytes, for partial results that are merged later: by threads, hosts or any engine that a site
 * has. Same content, same bytes, whatever order it was added in (after ccct__finish).
 *
 * Layout: "CPCCCT1\n"; then numbers as LEB128 (signed ones zigzag), texts as length and bytes; at the end the
 * xxHash64 of all before, 8 bytes little-endian. Sections, each with its count: totals, strings, frames,
 * paths (parents first), groups with their cells, facts. */
#ifndef CP_USER_ANALYSIS_CCCT_ENCODE_H
#define CP_USER_ANALYSIS_CCCT_ENCODE_H

#include "user/analysis/ccct.h"
#include "user/base/err.h"

#define CCCT_MAGIC "CPCCCT1\n"

void ccct_encode(const struct ccct *c, struct buf *out);
/* Into *c, zero-initialised. 0, or -EINVAL (not such a file, damaged, or inconsistent); *c is to be freed in
 * either case. Memory is bounded by the input's size. */
int ccct_decode(const void *data, size_t len_bytes, struct ccct *c, struct err *err);

#endif
