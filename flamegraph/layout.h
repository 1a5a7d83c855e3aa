/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Geometry: a finished tree becomes boxes in the order of a walk from the root, each parent before its
 * children, siblings from left to right. Positions are in units of weight; pixels come from the scale. */
#ifndef CP_FLAMEGRAPH_LAYOUT_H
#define CP_FLAMEGRAPH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "flamegraph/picture.h"
#include "flamegraph/tree.h"

struct flame_box {
	double start, width; /* of weight */
	uint32_t node;
	uint32_t depth; /* 0 = root */
};

struct flame_layout {
	struct flame_box *boxes;
	size_t box_cnt, box_cap;
	uint32_t depth_max;
	double total; /* weight of the whole width */
	double sum;   /* weight that is there; total - sum stays empty on the right */
	double px_per_weight;
	size_t pruned_cnt;    /* subtrees left out for being narrower than min_width */
	const double *widths; /* of each node */
	double *own_widths;   /* NULL where the tree's totals are the widths */
};

/* 0, or -ENODATA when nothing has a width. Free with flame_layout__fini in both cases. */
int flame_layout__make(struct flame_layout *l, const struct flame_tree *t,
		       const struct flame_opts *o, struct err *err);
void flame_layout__fini(struct flame_layout *l);

enum {
	FLAME_X_PAD_PX = 10,
	FLAME_FRAME_PAD_PX = 1
};

/* The frame's box in pixels, where flame graphs have always had it, so that links by position hold. */
struct flame_px {
	double top, bottom; /* heights above and below the frames */
	double height;	    /* of frames, top and bottom */
};
struct flame_px flame_layout__px(const struct flame_layout *l, const struct flame_opts *o);
double flame_layout__y(const struct flame_layout *l, const struct flame_opts *o, uint32_t depth);

#endif
