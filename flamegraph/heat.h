/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heat map of html.h as SVG, and the slices as data for its script. Inside of flamegraph/ only. */
#ifndef CP_FLAMEGRAPH_HEAT_H
#define CP_FLAMEGRAPH_HEAT_H

#include "flamegraph/html.h"
#include "flamegraph/svg.h"

/* One map for running time and one for all other; a single one where no classes are told. */
void flame_heat_put_svg(const struct flame_heat *h, const struct flame_picture *p, struct buf *out);
/* Slices in order, neighbours merged: for each the slice's distance to the one before, the box, the column (if
 * there are several) and the weight, in the digits of encode.h. Weights of boxes that were too narrow to be
 * drawn belong to the nearest box below. */
void flame_heat_put_data(struct flame_heat *h, const struct flame_picture *p, struct buf *out);

#endif
