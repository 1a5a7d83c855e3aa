/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical paths as pictures: flame graphs and differences (SVG), the heat map (HTML), and as a pprof profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/picture.h"
#include "flamegraph/tree.h"
#include "user/analysis/ccct_graph.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"
#include "user/exchange/exchange.h"

/* A call path as names, root first. */
struct names {
	struct buf text; /* NUL-terminated names */
	const char **items;
	size_t cnt, cap;
};

static void list_names(const struct ccct *c, uint32_t path, struct names *n)
{
	uint32_t *chain = NULL;
	size_t depth = 0, cap = 0, at = 0;

	for (uint32_t p = path; p != SPAN_NONE; p = c->paths[p].parent) {
		chain = xgrow(chain, &cap, depth + 1, sizeof(*chain));
		chain[depth++] = c->paths[p].frame;
	}
	buf_reset(&n->text);
	for (size_t i = depth; i-- > 0;) {
		ccct__put_frame(c, chain[i], false, &n->text);
		buf_append(&n->text, "", 1);
	}
	n->items = xgrow(n->items, &n->cap, depth, sizeof(*n->items));
	n->cnt = depth;
	for (size_t i = 0; i < depth; i++) {
		n->items[i] = n->text.data + at;
		at += strlen(n->items[i]) + 1;
	}
	free(chain);
}

static void free_names(struct names *n)
{
	buf_free(&n->text);
	free(n->items);
}

static double width_ns(int64_t ns)
{
	return ns > 0 ? (double)ns : 0;
}

static void describe(const struct percent_range *r, size_t cnt, const struct ccct_graph *g,
		     struct buf *out)
{
	for (size_t i = 0; i < cnt; i++)
		buf_printf(out, "%s%llu traces from P%g to P%g", i ? " against " : "",
			   (unsigned long long)g[i].trace_cnt, r[i].from, r[i].to);
}

int critical_print_svg(const struct ccct *c, const struct critical_options *o,
		       const struct percent_range *r, size_t cnt, struct buf *out, struct err *err)
{
	struct flame_tree *tree = flame_tree__new(FLAME_MERGE_ALL);
	struct flame_opts opts;
	struct ccct_graph g[2] = { 0 };
	struct names names = { 0 };
	struct buf subtitle = { 0 };
	uint32_t *order;
	size_t paths;
	int rc;

	for (size_t i = 0; i < cnt; i++)
		ccct_graph__fill(&g[i], c, SPAN_NONE, r[i].from, r[i].to);
	order = ccct_graph__order(c, &g[0], cnt > 1 ? &g[1] : NULL, &paths);
	for (size_t i = 0; i < paths; i++) {
		uint32_t p = order[i];
		struct flame_weight w[2] = { { .side = FLAME_AFTER }, { .side = FLAME_BEFORE } };

		w[0].value = width_ns(g[cnt - 1].paths[p].exclusive_ns);
		w[0].cnt = g[cnt - 1].paths[p].freq;
		if (cnt > 1)
			w[1].value =
				width_ns(o->no_normalize ? g[0].paths[p].exclusive_ns :
							   ccct_graph__scaled_ns(&g[0], &g[1], p));
		list_names(c, p, &names);
		flame_tree__add_names(tree, names.items, names.cnt, w, cnt);
	}
	flame_tree__finish(tree);
	flame_opts_init(&opts);
	describe(r, cnt, g, &subtitle);
	opts.title = cnt > 1 ? "Critical paths: difference" : "Critical paths";
	opts.subtitle = buf_str(&subtitle);
	opts.name_type = "Operation:";
	opts.count_name = "spans";
	opts.unit = FLAME_UNIT_NS;
	opts.hash = true;
	rc = flame_svg(tree, &opts, out, err);
	free(order);
	free_names(&names);
	buf_free(&subtitle);
	ccct_graph__free(&g[0]);
	ccct_graph__free(&g[1]);
	flame_tree__free(tree);
	return rc;
}

static int append(void *ctx, const void *data, size_t len_bytes, struct err *err)
{
	(void)err;
	buf_append(ctx, data, len_bytes);
	return 0;
}

int critical_print_pprof(const struct ccct *c, const struct percent_range *r, struct buf *out,
			 struct err *err)
{
	const struct exchange_format *format = exchange_find("pprof");
	struct export_options options = { 0 };
	struct export_sink sink = { append, out };
	struct profile *p = profile__new();
	struct ccct_graph g;
	struct names names = { 0 };
	uint32_t *order;
	size_t cnt;
	int rc;

	ccct_graph__fill(&g, c, SPAN_NONE, r->from, r->to);
	order = ccct_graph__order(c, &g, NULL, &cnt);
	p->header.flags = HEADER_IMPORTED;
	p->header.unit_sid = profile__string(p, "ns");
	for (size_t i = 0; i < cnt; i++) {
		const struct ccct_times *t = &g.paths[order[i]];
		struct sum s = { .ns = t->exclusive_ns > 0 ? (uint64_t)t->exclusive_ns : 0,
				 .cnt = t->freq };
		uint32_t stack = 0;

		list_names(c, order[i], &names);
		for (size_t k = 0; k < names.cnt; k++) {
			struct frame f = { .name_sid = profile__string(p, names.items[k]) };

			stack = profile__add_stack(p, stack, profile__add_frame(p, &f));
		}
		s.stack = stack;
		if (s.ns)
			profile__add_sum(p, &s);
	}
	rc = format && format->export ? format->export(p, &options, &sink, err) :
					err_set(err, -ENOTSUP, "this build cannot write pprof");
	free(order);
	free_names(&names);
	ccct_graph__free(&g);
	profile__free(p);
	return rc;
}

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Critical paths: heat map</title>\n"
	"<style>body{font:13px sans-serif;margin:12px}table{border-collapse:collapse}"
	"th,td{padding:1px 4px;text-align:right;white-space:nowrap}"
	"td.n,th.n{text-align:left;position:sticky;left:0;background:#fff}"
	"td.c{padding:0;min-width:5px;height:16px}tr:hover td.n{background:#ffd}"
	"thead th{border-bottom:1px solid #888;vertical-align:bottom;cursor:pointer}</style></head><body>\n";

/* Clicking on a head sorts the rows by that column; without script the table is sorted by total time. */
static const char page_script[] =
	"<script>\ndocument.querySelectorAll('thead th[data-k]').forEach(function (th) {\n"
	"  th.addEventListener('click', function () {\n"
	"    var k = +th.dataset.k, up = th.dataset.up === '1', body = document.querySelector('tbody');\n"
	"    th.dataset.up = up ? '0' : '1';\n"
	"    Array.from(body.rows).sort(function (a, b) {\n"
	"      var x = +a.cells[k].dataset.v, y = +b.cells[k].dataset.v;\n"
	"      return up ? x - y : y - x;\n"
	"    }).forEach(function (r) { body.appendChild(r); });\n  });\n});\n</script>\n";

static void put_value_cell(struct buf *out, double ns, double root_ns)
{
	struct buf b = { 0 };

	buf_put_duration(&b, ns > 0 ? (uint64_t)ns : 0);
	buf_printf(out, "<td data-v=\"%.0f\">%s <small>%.1f&nbsp;%%</small></td>", ns, buf_str(&b),
		   root_ns > 0 ? ns / root_ns * 100 : 0);
	buf_free(&b);
}

/* Light to dark by the share of the column's (trace's) root time. */
static void put_heat_cell(struct buf *out, int64_t ns, int64_t root_ns)
{
	double share = root_ns > 0 && ns > 0 ? (double)ns / (double)root_ns : 0;
	int shade = (int)(255 - (share > 1 ? 1 : share) * 200);
	struct buf b = { 0 };

	if (ns <= 0) {
		buf_puts(out, "<td class=\"c\"></td>");
		return;
	}
	buf_put_duration(&b, (uint64_t)ns);
	buf_printf(
		out,
		"<td class=\"c\" title=\"%s, %.1f %%\" style=\"background:rgb(255,%d,%d)\"></td>",
		buf_str(&b), share * 100, shade, shade > 60 ? shade - 60 : 0);
	buf_free(&b);
}

static void put_row(struct buf *out, const struct ccct *c, const struct heatmap *h, size_t r)
{
	const struct heatmap_row *row = &h->rows[r];
	struct buf name = { 0 };

	if (row->frame == SPAN_NONE)
		buf_puts(&name, "root duration");
	else
		ccct__put_frame(c, row->frame, false, &name);
	buf_puts(out, "<tr><td class=\"n\">");
	escape_xml(out, buf_str(&name), name.len_bytes);
	buf_printf(out, "</td><td data-v=\"%llu\">%llu</td>", (unsigned long long)row->occurrence,
		   (unsigned long long)row->occurrence);
	for (int q = 0; q < HEATMAP_QUANTILES; q++)
		put_value_cell(out, row->inclusive_ns[q], h->rows[0].inclusive_ns[q]);
	for (int q = 0; q < HEATMAP_QUANTILES; q++)
		put_value_cell(out, row->exclusive_ns[q], h->rows[0].exclusive_ns[q]);
	for (size_t i = 0; i < h->column_cnt && row->frame != SPAN_NONE; i++)
		put_heat_cell(out, h->cells_ns[r * h->column_cnt + i], h->cells_ns[i]);
	buf_puts(out, "</tr>\n");
	buf_free(&name);
}

static void put_column_heads(struct buf *out, const struct ccct *c, const struct heatmap *h)
{
	for (size_t i = 0; i < h->column_cnt; i++) {
		const struct ccct_group *g = &c->groups[h->columns[i]];
		const char *id = strtab_get(&c->strings, g->trace_sid);
		struct buf b = { 0 };

		buf_put_duration(&b, (uint64_t)(g->root_ns / (int64_t)g->trace_cnt));
		buf_puts(out, "<th class=\"c\" title=\"");
		if (g->trace_cnt > 1)
			buf_printf(out, "%llu traces", (unsigned long long)g->trace_cnt);
		else
			escape_xml(out, id, strlen(id));
		buf_printf(out, ", %s\"></th>", buf_str(&b));
		buf_free(&b);
	}
}

void critical_print_html(const struct ccct *c, const struct critical_options *o, struct buf *out)
{
	static const char *const heads[] = { "traces",	  "P50 incl.", "P95 incl.", "P99 incl.",
					     "P50 excl.", "P95 excl.", "P99 excl." };
	struct heatmap h;

	heatmap__fill(&h, c, SPAN_NONE, o->columns);
	buf_puts(out, page_head);
	buf_printf(
		out,
		"<h1>Critical paths: heat map</h1><p>%llu traces; %zu columns, the slowest first: "
		"exclusive time on the critical path as a share of the trace. Quantiles are over the "
		"traces in which the operation has a time; percentages are of the same quantile of the "
		"root duration.</p>\n<table><thead><tr><th class=\"n\">operation</th>",
		(unsigned long long)h.trace_cnt, h.column_cnt);
	for (size_t i = 0; i < ARRAY_CNT(heads); i++)
		buf_printf(out, "<th data-k=\"%zu\">%s</th>", i + 1, heads[i]);
	put_column_heads(out, c, &h);
	buf_puts(out, "</tr></thead><tbody>\n");
	for (size_t r = 0; r < h.row_cnt; r++)
		put_row(out, c, &h, r);
	buf_puts(out, "</tbody></table>\n");
	buf_puts(out, page_script);
	buf_puts(out, "</body></html>\n");
	heatmap__free(&h);
}
