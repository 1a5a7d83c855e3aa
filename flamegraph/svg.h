/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture in the making: tree, geometry, colours and data together. Inside of flamegraph/ only; callers
 * use picture.h. */
#ifndef CP_FLAMEGRAPH_SVG_H
#define CP_FLAMEGRAPH_SVG_H

#include "flamegraph/encode.h"
#include "flamegraph/layout.h"
#include "flamegraph/legend.h"
#include "flamegraph/palette.h"
#include "flamegraph/picture.h"

struct flame_picture {
	const struct flame_tree *tree; /* borrowed */
	const struct flame_opts *opts; /* borrowed */
	struct flame_layout layout;
	struct flame_colors colors;
	struct flame_encoding encoding;
	struct flame_legend legend;
	struct flame_px px;
	double height_px; /* with the legend */
	const char *bg;
	const char *scope; /* class of this picture inside of a page; NULL = it stands alone */
	bool classes, change;
};

/* 0 or -ENODATA; flame_picture__fini in both cases. */
int flame_picture__init(struct flame_picture *p, const struct flame_tree *t,
			const struct flame_opts *o, struct err *err);
/* With data; the script only where the picture stands alone. */
void flame_picture__put_svg(const struct flame_picture *p, struct buf *out);
const char *flame_picture__title(const struct flame_picture *p);
void flame_picture__fini(struct flame_picture *p);

void flame_put_xml(struct buf *out, const char *s); /* escaped, for text and attributes */

#endif
