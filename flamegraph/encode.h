/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data behind a picture, for its script: a table of names (one a line) and a table of boxes in the
 * order of the layout, as compact text.
 *
 * A box is a sequence of whole numbers, each in digits of 5 bits, low ones first, one character a digit
 * (A-Z a-z 0-9 - _), bit 5 set on all but the last:
 *
 *	up      levels to climb from the box before before going down one
 *	name    number in the table of names
 *	gap     weight between the end of the sibling before (or the parent's start) and this box
 *	color   number in the table of colours
 *	bar     in a difference: 1 + the colour of the subtree's change, or 0
 *	width   weight
 *	self    weight that ends here (of the width)
 *	count   waits or samples, if the picture says "counts"
 *	mask    if there are several columns: a bit for each that is not 0 ...
 *	value   ... and for each of these its weight
 *
 * Weights are multiplied by a scale that the picture states, so that fractions fit. */
#ifndef CP_FLAMEGRAPH_ENCODE_H
#define CP_FLAMEGRAPH_ENCODE_H

#include "flamegraph/layout.h"
#include "flamegraph/palette.h"
#include "user/base/buf.h"

struct flame_encoding {
	double scale;
	bool counts;		/* a count of waits or samples is known */
	uint32_t *name_numbers; /* by id in the tree: 1 + number in the table of names */
	uint32_t *names;	/* ids, by number */
	size_t name_cnt, name_cap;
	uint64_t *cnts; /* by node; NULL unless counts */
};

void flame_encoding__init(struct flame_encoding *e, const struct flame_tree *t,
			  const struct flame_layout *l);
void flame_encoding__put_names(const struct flame_encoding *e, const struct flame_tree *t,
			       struct buf *out);
void flame_encoding__put_boxes(const struct flame_encoding *e, const struct flame_tree *t,
			       const struct flame_layout *l, const struct flame_colors *c,
			       const struct flame_opts *o, struct buf *out);
void flame_encoding__put_digits(struct buf *out, double v); /* v >= 0, below 2^63 */
void flame_encoding__fini(struct flame_encoding *e);

#endif
