/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a name fits into a box, and numbers as a picture shows them. */
#ifndef CP_FLAMEGRAPH_METRICS_H
#define CP_FLAMEGRAPH_METRICS_H

#include <stddef.h>

#include "flamegraph/picture.h"
#include "user/base/buf.h"

enum {
	FLAME_NAME_MAX_BYTES = 4096 /* of a name in titles and data; the rest is cut and counted */
};

/* Puts the name, XML-escaped, without a trailing annotation ("_[k]"), cut with ".." to width_px; puts
 * nothing when not even one character and ".." fit. Widths are upper bounds for the common sans and
 * monospace fonts, so that text stays inside of its box whichever the reader has. */
void flame_put_fitting(struct buf *out, const char *name, size_t len_bytes, double width_px,
		       const struct flame_opts *o);
/* The name as titles and data show it: no annotation, line breaks visible, cut at FLAME_NAME_MAX_BYTES. */
void flame_put_name(struct buf *out, const char *name, size_t len_bytes);
size_t flame_name_len(const char *name, size_t len_bytes); /* without the annotation */

/* An upper bound for the width of text (not escaped) in the picture's font. */
double flame_text_px(const char *text, size_t len_bytes, const struct flame_opts *o);

/* "1,234 samples", "1.25 s", "3.4 MiB": a weight after opts.factor. */
void flame_put_value(struct buf *out, double weight, const struct flame_opts *o);
void flame_put_fixed1(struct buf *out, double v);		  /* "12.3"; fast */
void flame_put_share(struct buf *out, double part, double whole); /* "12.34%" */

#endif
