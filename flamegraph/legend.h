/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the colours mean, below the frames: classes of time with their totals, or the scale of a difference
 * and the code that vanished from it. */
#ifndef CP_FLAMEGRAPH_LEGEND_H
#define CP_FLAMEGRAPH_LEGEND_H

#include "flamegraph/layout.h"
#include "user/base/buf.h"

enum {
	FLAME_LEGEND_ROW_PX = 18
};

struct flame_legend {
	struct buf svg; /* drawn for a first base line at y = 0 */
	int row_cnt;	/* 0 = nothing to explain */
	double x_px;	/* where the next entry begins */
};

void flame_legend__make(struct flame_legend *g, const struct flame_tree *t,
			const struct flame_layout *l, const struct flame_opts *o);
double flame_legend__height_px(const struct flame_legend *g);
void flame_legend__put(const struct flame_legend *g, double y_px, struct buf *out);
void flame_legend__fini(struct flame_legend *g);

#endif
