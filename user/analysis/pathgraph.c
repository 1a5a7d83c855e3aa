/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of patterns; see pathgraph.h. */
#include "user/analysis/pathgraph.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/strtab.h"

static void put_ns(struct buf *out, double ns)
{
	if (ns < 0)
		buf_putc(out, '-');
	buf_put_duration(out, (uint64_t)(ns < 0 ? -ns : ns));
}

/* A string between double quotes in DOT: what is visible after escape_terminal, quotes and backslashes escaped. */
static void put_dot(struct buf *out, const char *s)
{
	struct buf visible = { 0 };

	escape_terminal(&visible, s, strlen(s));
	for (size_t i = 0; i < visible.len_bytes; i++) {
		if (visible.data[i] == '"' || visible.data[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, visible.data[i]);
	}
	buf_free(&visible);
}

static void dot_pattern(const struct paths *p, uint32_t number, size_t rank, struct buf *out)
{
	const struct path_pattern *pat = &p->patterns[number];
	size_t cnt, slowest;
	struct path_pos *pos = paths__stats(p, pat, INT64_MIN, INT64_MAX, &cnt);

	slowest = pathreport_slowest(pos, cnt);
	buf_printf(out, "  subgraph cluster_%zu {\n    label=\"#%zu: %u instances, total ", rank,
		   rank + 1, pat->cnt);
	put_ns(out, (double)pat->total_ns);
	buf_printf(out, "\";\n    p%zu_c [shape=plaintext label=\"", rank);
	put_dot(out, msgtrace__node_name(p->t, pat->caller));
	buf_puts(out, "\"];\n");
	for (size_t i = 0; i < cnt; i++) {
		buf_printf(out, "    p%zu_%zu [label=\"", rank, i);
		put_dot(out, msgtrace__node_name(p->t, pos[i].node));
		buf_puts(out, "\\nown ");
		put_ns(out, pos[i].own.mean_ns);
		buf_puts(out, "\\nincl. ");
		put_ns(out, pos[i].latency.mean_ns);
		buf_printf(out, "\"%s];\n",
			   i == slowest ? " style=filled fillcolor=\"#f4a582\" penwidth=2" : "");
		if (pos[i].parent == CALL_NONE) {
			buf_printf(out, "    p%zu_c -> p%zu_%zu;\n", rank, rank, i);
			continue;
		}
		buf_printf(out, "    p%zu_%u -> p%zu_%zu [label=\"", rank, pos[i].parent, rank, i);
		put_ns(out, pos[i].delay.mean_ns);
		buf_puts(out, "\"];\n");
	}
	buf_puts(out, "  }\n");
	free(pos);
}

static size_t shown_cnt(const struct paths *p, const struct pathreport_opts *o)
{
	return o->top_cnt && o->top_cnt < p->pattern_cnt ? o->top_cnt : p->pattern_cnt;
}

void pathgraph_dot(const struct paths *p, const struct pathreport_opts *o, struct buf *out)
{
	uint32_t *rank = pathreport_rank(p, o->order);

	buf_puts(out, "digraph paths {\n  node [shape=box fontname=\"sans-serif\" fontsize=11];\n"
		      "  edge [fontname=\"sans-serif\" fontsize=10];\n");
	for (size_t i = 0; i < shown_cnt(p, o); i++)
		dot_pattern(p, rank[i], i, out);
	buf_puts(out, "}\n");
	free(rank);
}

static void put_xml(struct buf *out, const char *s)
{
	escape_xml(out, s, strlen(s));
}

static void html_position(const struct paths *p, const struct path_pos *pos, bool slowest,
			  double whole_ns, struct buf *out)
{
	buf_printf(out, "<tr%s><td style=\"padding-left:%uem\">", slowest ? " class=s" : "",
		   1 + (pos->depth > 40 ? 40 : pos->depth) * 2);
	put_xml(out, msgtrace__node_name(p->t, pos->node));
	buf_puts(out, "</td><td>");
	put_ns(out, pos->own.mean_ns);
	buf_puts(out, "</td><td>");
	put_ns(out, pos->latency.mean_ns);
	buf_puts(out, "</td><td>");
	put_ns(out, (double)pos->latency.p95_ns);
	buf_puts(out, "</td><td>");
	put_ns(out, (double)pos->latency.p99_ns);
	buf_puts(out, "</td><td>");
	if (pos->delay.cnt)
		put_ns(out, pos->delay.mean_ns);
	buf_printf(out, "</td><td><div style=\"width:%.1fpx\"></div></td></tr>\n",
		   whole_ns > 0 && pos->own.mean_ns > 0 ? 300 * pos->own.mean_ns / whole_ns : 0);
}

static void html_pattern(const struct paths *p, uint32_t number, size_t rank, struct buf *out)
{
	const struct path_pattern *pat = &p->patterns[number];
	struct buf name = { 0 };
	size_t cnt, slowest;
	struct path_pos *pos = paths__stats(p, pat, INT64_MIN, INT64_MAX, &cnt);

	slowest = pathreport_slowest(pos, cnt);
	paths__name(p, pat, &name);
	buf_printf(out, "<details%s><summary>#%zu &#215;%u, total ", rank < 3 ? " open" : "",
		   rank + 1, pat->cnt);
	put_ns(out, (double)pat->total_ns);
	buf_puts(out, ": ");
	put_xml(out, buf_str(&name));
	buf_puts(out, "</summary><table><tr><th>node<th>own<th>inclusive<th>p95<th>p99<th>called "
		      "after<th>share of own time</tr>\n");
	for (size_t i = 0; i < cnt; i++)
		html_position(p, &pos[i], i == slowest, pos[0].latency.mean_ns, out);
	buf_puts(out, "</table></details>\n");
	free(pos);
	buf_free(&name);
}

void pathgraph_html(const struct paths *p, const struct pathreport_opts *o, struct buf *out)
{
	uint32_t *rank = pathreport_rank(p, o->order);

	buf_puts(out,
		 "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>causal paths</title>\n"
		 "<style>body{font:14px sans-serif;margin:1em}table{border-collapse:collapse}"
		 "td,th{padding:2px 8px;text-align:right}td:first-child,th:first-child{text-align:"
		 "left}td div{height:10px;background:#e08214}.s{background:#fde0dd;font-weight:"
		 "bold}summary{cursor:pointer;padding:4px 0;overflow-wrap:anywhere}</style>\n");
	buf_printf(out, "<h1>%zu causal paths in %zu patterns</h1>\n", p->root_cnt, p->pattern_cnt);
	for (size_t i = 0; i < shown_cnt(p, o); i++)
		html_pattern(p, rank[i], i, out);
	buf_puts(out, "</html>\n");
	free(rank);
}

struct folded_sums {
	struct strtab stacks;
	double *sums_ns;
	size_t cap;
};

static void folded_add(struct folded_sums *f, const struct buf *stack, double ns)
{
	uint32_t id = strtab_addn(&f->stacks, buf_str(stack), stack->len_bytes);
	size_t old = f->cap;

	if (id >= f->cap) {
		f->sums_ns = xgrow(f->sums_ns, &f->cap, id + 1, sizeof(*f->sums_ns));
		memset(f->sums_ns + old, 0, (f->cap - old) * sizeof(*f->sums_ns));
	}
	f->sums_ns[id] += ns;
}

/* A frame's name: ";" separates frames, and a line is a stack. */
static void put_frame(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_putc(out, *name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name);
}

static void folded_pattern(const struct paths *p, const struct path_pattern *pat,
			   struct folded_sums *f)
{
	size_t cnt, depth_cap = 0;
	struct path_pos *pos = paths__stats(p, pat, INT64_MIN, INT64_MAX, &cnt);
	size_t *ends = NULL; /* length of the stack's text up to each depth */
	struct buf stack = { 0 };

	put_frame(&stack, msgtrace__node_name(p->t, pat->caller));
	for (size_t i = 0; i < cnt; i++) {
		ends = xgrow(ends, &depth_cap, pos[i].depth + 2, sizeof(*ends));
		if (!i)
			ends[0] = stack.len_bytes;
		stack.len_bytes = ends[pos[i].depth];
		buf_putc(&stack, ';');
		put_frame(&stack, msgtrace__node_name(p->t, pos[i].node));
		ends[pos[i].depth + 1] = stack.len_bytes;
		folded_add(f, &stack, pos[i].own.mean_ns * (double)pos[i].own.cnt);
	}
	free(pos);
	free(ends);
	buf_free(&stack);
}

static int text_cmp(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pathgraph_folded(const struct paths *p, struct buf *out)
{
	struct folded_sums f = { 0 };
	const char **sorted;
	size_t cnt = 0;

	strtab_add(&f.stacks, "");
	for (size_t i = 0; i < p->pattern_cnt; i++)
		folded_pattern(p, &p->patterns[i], &f);
	sorted = xcalloc(f.stacks.cnt, sizeof(*sorted));
	for (uint32_t i = 1; i < f.stacks.cnt; i++)
		sorted[cnt++] = strtab_get(&f.stacks, i);
	if (cnt)
		qsort(sorted, cnt, sizeof(*sorted), text_cmp);
	for (size_t i = 0; i < cnt; i++) {
		double us = f.sums_ns[strtab_add(&f.stacks, sorted[i])] / 1000;

		buf_printf(out, "%s %llu\n", sorted[i],
			   (unsigned long long)(us > 0 ? us + 0.5 : 0));
	}
	free(sorted);
	free(f.sums_ns);
	strtab_free(&f.stacks);
}
