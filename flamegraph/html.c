/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page that stands alone; see html.h. The page forbids itself everything but its own script and style. */
#include "flamegraph/html.h"

#include <errno.h>
#include <stdio.h>

#include "flamegraph/heat.h"
#include "flamegraph/svg.h"
#include "gen/flame.css.h"
#include "gen/flame.js.h"
#include "gen/page.css.h"
#include "gen/page.js.h"

static void put_head(const struct flame_picture *p, struct buf *out)
{
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n<title>");
	flame_put_xml(out, flame_picture__title(p));
	buf_puts(out, "</title>\n<style>\n");
	buf_puts(out, flame_css);
	buf_puts(out, page_css);
	buf_puts(out, "</style>\n</head>\n<body>\n");
}

static void put_heat(struct flame_heat *h, const struct flame_picture *p, struct buf *out)
{
	buf_puts(out, "<section id=\"heat\">\n");
	flame_heat_put_svg(h, p, out);
	buf_puts(out, "<p id=\"range\">Drag over the map to see the flame graph of that stretch "
		      "of time; click to see all.</p>\n<template id=\"slices\">");
	flame_heat_put_data(h, p, out);
	buf_puts(out, "</template>\n</section>\n");
}

int flame_html(const struct flame_tab *tabs, size_t tab_cnt, struct flame_heat *heat,
	       struct buf *out, struct err *err)
{
	size_t put_cnt = 0;

	for (size_t i = 0; i < tab_cnt; i++) {
		struct flame_picture p;
		char scope[24];

		if (flame_picture__init(&p, tabs[i].tree, tabs[i].opts, NULL)) {
			flame_picture__fini(&p);
			continue;
		}
		snprintf(scope, sizeof(scope), "f%zu", i);
		p.scope = scope;
		if (!put_cnt++)
			put_head(&p, out);
		if (!i && heat && heat->cnt && heat->slice_cnt && heat->row_cnt)
			put_heat(heat, &p, out);
		buf_puts(out, "<section class=\"tab\" aria-label=\"");
		flame_put_xml(out, tabs[i].label);
		buf_puts(out, "\">\n<h2>");
		flame_put_xml(out, tabs[i].label);
		buf_puts(out, "</h2>\n");
		flame_picture__put_svg(&p, out);
		buf_puts(out, "</section>\n");
		flame_picture__fini(&p);
	}
	if (!put_cnt)
		return err_set(err, -ENODATA, "there are no stacks with a count above 0");
	buf_puts(out, "<script>\n");
	buf_puts(out, page_js);
	buf_puts(out, flame_js);
	buf_puts(out, "</script>\n</body>\n</html>\n");
	return 0;
}
