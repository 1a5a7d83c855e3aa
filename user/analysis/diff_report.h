/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference in words: for a terminal, for a pull request, for programs, for flamegraph.pl. Names are
 * escaped for where they go. */
#ifndef CP_USER_ANALYSIS_DIFF_REPORT_H
#define CP_USER_ANALYSIS_DIFF_REPORT_H

#include "user/analysis/diff.h"
#include "user/base/buf.h"

/* The ranked tables, at most top rows each. */
void diff_report_text(const struct diff *d, size_t top, struct buf *out);
void diff_report_markdown(const struct diff *d, size_t top, struct buf *out);
/* Everything: method, totals, all tested functions, and the frames of the tree that changed. */
void diff_report_json(const struct diff *d, struct buf *out);
/* "stack BEFORE AFTER" lines as difffolded.pl writes them, values rounded half up. */
void diff_report_folded(const struct diff *d, struct buf *out);
/* The same in at most 110 characters, for the picture's subtitle. */
void diff_report_caption(const struct diff *d, struct buf *out);
/* How sure this is and what was compared, one paragraph without a line end. */
void diff_report_method(const struct diff *d, struct buf *out);

#endif
