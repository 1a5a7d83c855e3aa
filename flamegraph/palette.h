/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours. A picture has a table of at most some hundred colours; each box has one of them.
 *
 *  - An ordinary graph takes the hue from the palette and a shade from the name, so that neighbours differ
 *    and equal names are equal.
 *  - A graph with classes of time: warm for running, green for runnable, blue and violet for blocked. A
 *    frame of one class has its full colour; one of several is pale, in the mean of their colours.
 *    Warm, blue-green and blue differ in every common kind of colour blindness and in grey by lightness.
 *    Functions of Python ("_[p]" at the end of the name) are lighter.
 *  - A difference: red grew, blue shrank, both by the frame's own weight; grey is not significant. */
#ifndef CP_FLAMEGRAPH_PALETTE_H
#define CP_FLAMEGRAPH_PALETTE_H

#include <stdint.h>

#include "flamegraph/layout.h"

enum {
	FLAME_COLOR_MAX = 4096
};

struct flame_colors {
	uint32_t *rgb; /* the table */
	size_t rgb_cnt, rgb_cap;
	uint16_t *of_box; /* index into the table, per box of the layout */
	uint16_t *bar; /* differences: 1 + index of the subtree's change, 0 = no bar; else NULL */
	uint16_t *lookup; /* hash table rgb -> 1 + index */
};

void flame_colors__make(struct flame_colors *c, const struct flame_tree *t,
			const struct flame_layout *l, const struct flame_opts *o);
void flame_colors__fini(struct flame_colors *c);

uint32_t flame_class_rgb(int cls); /* for legends and bars */
/* Red for share > 0, blue for < 0, nearly white at 0; share in -1..1. */
uint32_t flame_change_rgb(double share, bool negate);
enum {
	FLAME_RGB_UNCHANGED = 0xf0f0ee,
	FLAME_RGB_INSIGNIFICANT = 0xd8d8d8
};

#endif
