/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a picture; see picture.h. */
#include "flamegraph/picture.h"

#include <errno.h>
#include <string.h>

void flame_opts_init(struct flame_opts *o)
{
	*o = (struct flame_opts){
		.count_name = "samples",
		.name_type = "Function:",
		.font_type = "Verdana",
		.width_px = 1200,
		.frame_height_px = 16,
		.font_size_px = 12,
		.font_width_em = 0.59,
		.min_width = 0.1,
		.factor = 1,
	};
}

static int check_range(const char *name, double v, double min, double max, struct err *err)
{
	if (v >= min && v <= max)
		return 0;
	return err_set(err, -EINVAL, "--%s %g: it must be from %g to %g", name, v, min, max);
}

static int check_background(const char *bg, struct err *err)
{
	static const char *const words[] = { "yellow", "blue", "green", "grey" };

	if (!bg)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(bg, words[i]))
			return 0;
	if (bg[0] == '#' && strlen(bg) == 7 && strspn(bg + 1, "0123456789abcdefABCDEF") == 6)
		return 0;
	return err_set(err, -EINVAL,
		       "--bgcolors '%s': it must be yellow, blue, green, grey or #rrggbb", bg);
}

int flame_opts_check(const struct flame_opts *o, struct err *err)
{
	int rc = check_range("width", o->width_px, 100, 100000, err);

	rc = rc ? rc : check_range("height", o->frame_height_px, 2, 200, err);
	rc = rc ? rc : check_range("fontsize", o->font_size_px, 2, 100, err);
	rc = rc ? rc : check_range("fontwidth", o->font_width_em, 0.1, 5, err);
	rc = rc ? rc : check_range("minwidth", o->min_width, 0, 10000, err);
	rc = rc ? rc : check_range("factor", o->factor, 1e-12, 1e12, err);
	return rc ? rc : check_background(o->bg_colors, err);
}
