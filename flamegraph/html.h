/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page that stands alone: several pictures of one profile as tabs and, where time slices are known, a heat
 * map above them, in which a range of time is chosen whose flame graph is then shown.
 *
 * The heat map is one of subsecond offsets: a column is a stretch of time (a second, in long profiles), a row
 * an offset inside of it, upwards; so what comes back every second is a horizontal line, and a pause of the
 * whole program a pale block. B. Gregg, "Subsecond offset heat maps" (2010), and FlameScope. */
#ifndef CP_FLAMEGRAPH_HTML_H
#define CP_FLAMEGRAPH_HTML_H

#include <stddef.h>
#include <stdint.h>

#include "flamegraph/picture.h"
#include "user/base/buf.h"
#include "user/base/err.h"

struct flame_tab {
	const char *label;
	const struct flame_tree *tree; /* finished */
	const struct flame_opts *opts;
};

/* Weight that a node of the first tab's tree got in a slice of time. */
struct flame_slice {
	uint32_t slice; /* from 0 */
	uint32_t node;	/* as flame_tree__add returned it */
	uint8_t cls;
	double value;
};

struct flame_heat {
	uint64_t slice_ns;
	uint32_t row_cnt;	    /* slices in a column */
	uint32_t slice_cnt;	    /* of the whole window */
	struct flame_slice *slices; /* sorted by flame_html */
	size_t cnt;
};

enum {
	FLAME_SLICE_MAX = 1 << 20 /* slices in a window */
};

/* heat may be NULL. Tabs without weight are left out; -ENODATA when none has any. */
int flame_html(const struct flame_tab *tabs, size_t tab_cnt, struct flame_heat *heat,
	       struct buf *out, struct err *err);

#endif
