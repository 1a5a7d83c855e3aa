/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of paths found by convolution: order, sums over pieces of a trace, echoes.
 * Only library code of the convolution method uses this header. */
#ifndef CP_USER_ANALYSIS_CONVPATHS_H
#define CP_USER_ANALYSIS_CONVPATHS_H

#include "user/analysis/convolution.h"

void conv_paths_sort(struct conv_result *r); /* as struct conv_result says */

/* A path that others explain, each less a loop (a call and its return), is dropped and counted. O(paths^2). */
void conv_paths_drop_echoes(struct conv_result *r);

/* Adds what another piece of the same trace has: paths over the same nodes whose delays differ by less than a
 * quantum at each are one. Empties piece. */
void conv_paths_merge(struct conv_result *r, struct conv_result *piece);

#endif
