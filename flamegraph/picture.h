/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of stacks as a picture: what can be chosen, and the ways out. Option names and meanings are those
 * that users of flame graphs know: widths in pixels, "minwidth" in pixels or percent, and so on. */
#ifndef CP_FLAMEGRAPH_PICTURE_H
#define CP_FLAMEGRAPH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flamegraph/tree.h"
#include "user/base/buf.h"
#include "user/base/err.h"

enum flame_unit {
	FLAME_UNIT_COUNT, /* shown as they are, with count_name behind */
	FLAME_UNIT_NS,	  /* shown as "1.25 s" */
	FLAME_UNIT_BYTES, /* shown as "3.4 MiB" */
};

enum flame_palette {
	FLAME_HOT,
	FLAME_MEM,
	FLAME_IO,
	FLAME_WAKEUP,
	FLAME_CHAIN,
	FLAME_JAVA,
	FLAME_JS,
	FLAME_PERL,
	FLAME_RED,
	FLAME_GREEN,
	FLAME_BLUE,
	FLAME_AQUA,
	FLAME_YELLOW,
	FLAME_PURPLE,
	FLAME_ORANGE,
	FLAME_PALETTE_MAX,
};

/* What the width of a frame is in a tree with two sides. */
enum flame_width_by {
	FLAME_BY_AFTER,
	FLAME_BY_BEFORE,
	FLAME_BY_UNION, /* the larger side of each frame's self: vanished code is seen in its old width */
};

/* Which changes count, told by whoever knows statistics. Both may be NULL: everything counts. */
struct flame_mask {
	const uint8_t *self;	/* per node of the tree, after flame_tree__add: 1 = significant */
	const uint8_t *subtree; /* the same for the node with all below it */
	size_t node_cnt;
};

struct flame_opts {
	const char *title;    /* NULL: "Flame Graph" or what fits the view */
	const char *subtitle; /* NULL: none; window, threads, normalisation */
	const char *notes;    /* NULL: none; becomes an XML comment */
	const char *count_name, *name_type, *font_type;
	const char *bg_colors; /* NULL: what fits the palette; "yellow", "blue", ..., "#rrggbb" */
	double width_px, frame_height_px, font_size_px, font_width_em;
	double min_width; /* in pixels, or in percent of the total */
	double total;	  /* 0: the sum; else the weight that the whole width stands for */
	double factor;	  /* shown values are multiplied by it */
	enum flame_unit unit;
	enum flame_palette palette;
	enum flame_width_by width_by;
	struct flame_mask mask;
	bool min_width_is_percent;
	bool hash;	   /* names that start alike get colours that are alike */
	bool random;	   /* colours vary more; still the same for the same name */
	bool negate;	   /* red and blue of a difference change places */
	bool inverted;	   /* the root is on top: an icicle graph */
	bool reversed;	   /* only a remark: stacks were turned around by the caller */
	bool all_elements; /* every frame an element of its own, however many there are */
	bool plain;	   /* no script: only the picture */
};

/* The defaults of the field: 1200 px wide, frames 16 px high, font size 12, 0.1 px least width. */
void flame_opts_init(struct flame_opts *o);
int flame_palette_of_word(const char *word);	/* -1 = unknown */
extern const char *const flame_palette_words[]; /* NULL-terminated, in the order of the enum */

/* Refuses values that cannot be drawn (a width of 3 px, a name that is no colour): 0 or -EINVAL. */
int flame_opts_check(const struct flame_opts *o, struct err *err);

/* A picture that stands alone, with its script inside. The tree must be finished and its total above 0,
 * else -ENODATA. Same tree and options, same bytes. */
int flame_svg(const struct flame_tree *t, const struct flame_opts *o, struct buf *out,
	      struct err *err);
/* A picture that says why there is none, for tools that expect a file. */
void flame_svg_message(const struct flame_opts *o, const char *text, struct buf *out);

#endif
