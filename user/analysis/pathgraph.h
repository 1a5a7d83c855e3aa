/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of patterns: DOT for graphviz, a page of HTML without scripts, folded stacks for flame graphs. */
#ifndef CP_USER_ANALYSIS_PATHGRAPH_H
#define CP_USER_ANALYSIS_PATHGRAPH_H

#include "user/analysis/pathreport.h"
#include "user/analysis/paths.h"
#include "user/base/buf.h"

/* One tree a pattern: nodes with own and inclusive mean delay, the one with the largest own delay filled; edges
 * with the mean delay from entry to call. */
void pathgraph_dot(const struct paths *p, const struct pathreport_opts *o, struct buf *out);
/* The same as nested lists with bars. */
void pathgraph_html(const struct paths *p, const struct pathreport_opts *o, struct buf *out);
/* "caller;node;node SUM": own time in whole microseconds over all patterns, sorted. */
void pathgraph_folded(const struct paths *p, struct buf *out);

#endif
