/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of causal paths as text and JSON; see pathreport.h. */
#include "user/analysis/pathreport.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"

struct ranked {
	uint64_t key;
	uint32_t pattern;
};

static int ranked_cmp(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

uint32_t *pathreport_rank(const struct paths *p, enum pathreport_order order)
{
	struct ranked *ranked = xcalloc(p->pattern_cnt + 1, sizeof(*ranked));
	uint32_t *numbers = xcalloc(p->pattern_cnt + 1, sizeof(*numbers));

	for (size_t i = 0; i < p->pattern_cnt; i++)
		ranked[i] =
			(struct ranked){ order == PATHREPORT_BY_LATENCY ? p->patterns[i].total_ns :
									  p->patterns[i].cnt,
					 (uint32_t)i };
	qsort(ranked, p->pattern_cnt, sizeof(*ranked), ranked_cmp);
	for (size_t i = 0; i < p->pattern_cnt; i++)
		numbers[i] = ranked[i].pattern;
	free(ranked);
	return numbers;
}

size_t pathreport_slowest(const struct path_pos *pos, size_t cnt)
{
	size_t best = 0;

	for (size_t i = 1; i < cnt; i++)
		if (pos[i].own.mean_ns > pos[best].own.mean_ns)
			best = i;
	return best;
}

static void put_ns(struct buf *out, double ns)
{
	struct buf text = { 0 };

	if (ns < 0)
		buf_putc(&text, '-');
	buf_put_duration(&text, (uint64_t)(ns < 0 ? -ns : ns));
	buf_printf(out, " %10s", buf_str(&text));
	buf_free(&text);
}

static void put_position(const struct paths *p, const struct path_pos *pos, bool slowest,
			 struct buf *out)
{
	struct buf name = { 0 };
	size_t indent = 2 + (size_t)(pos->depth > 30 ? 30 : pos->depth) * 2, width;

	escape_terminal(&name, msgtrace__node_name(p->t, pos->node),
			strlen(msgtrace__node_name(p->t, pos->node)));
	width = indent + name.len_bytes;
	buf_printf(out, "%*s%s%*s%c", (int)indent, "", buf_str(&name),
		   width < 38 ? (int)(38 - width) : 1, "", slowest ? '*' : ' ');
	put_ns(out, pos->own.mean_ns);
	put_ns(out, pos->latency.mean_ns);
	put_ns(out, (double)pos->latency.p50_ns);
	put_ns(out, (double)pos->latency.p95_ns);
	put_ns(out, (double)pos->latency.p99_ns);
	if (pos->delay.cnt)
		put_ns(out, pos->delay.mean_ns);
	else
		buf_printf(out, " %10s", "-");
	if (pos->has_network)
		put_ns(out, pos->network.mean_ns);
	buf_putc(out, '\n');
	buf_free(&name);
}

static void put_pattern(const struct paths *p, uint32_t number, size_t rank, struct buf *out)
{
	const struct path_pattern *pat = &p->patterns[number];
	size_t cnt, slowest;
	struct path_pos *pos = paths__stats(p, pat, INT64_MIN, INT64_MAX, &cnt);
	struct buf total = { 0 };

	buf_put_duration(&total, pat->total_ns);
	buf_printf(out, "\n#%zu  %u instances (%.1f %%), total %s, from ", rank + 1, pat->cnt,
		   100.0 * pat->cnt / (double)p->root_cnt, buf_str(&total));
	escape_terminal(out, msgtrace__node_name(p->t, pat->caller),
			strlen(msgtrace__node_name(p->t, pat->caller)));
	buf_printf(out, "\n  %-36s  %10s %10s %10s %10s %10s %10s%s\n", "node", "own", "inclusive",
		   "p50", "p95", "p99", "call after", pos[0].has_network ? "    network" : "");
	slowest = pathreport_slowest(pos, cnt);
	for (size_t i = 0; i < cnt; i++)
		put_position(p, &pos[i], i == slowest, out);
	if (p->shapes[pat->shape].size > cnt)
		buf_printf(out, "    ... and %zu calls more\n", p->shapes[pat->shape].size - cnt);
	free(pos);
	buf_free(&total);
}

static void put_line(const struct paths *p, uint32_t number, struct buf *out)
{
	const struct path_pattern *pat = &p->patterns[number];
	struct buf name = { 0 };

	buf_printf(out, "  %8u", pat->cnt);
	put_ns(out, (double)pat->total_ns / pat->cnt);
	buf_puts(out, "  ");
	paths__name(p, pat, &name);
	escape_terminal(out, buf_str(&name), name.len_bytes > 200 ? 200 : name.len_bytes);
	buf_puts(out, name.len_bytes > 200 ? " ...\n" : "\n");
	buf_free(&name);
}

void pathreport_text(const struct paths *p, const struct pathreport_opts *o, struct buf *out)
{
	uint32_t *rank = pathreport_rank(p, o->order);
	size_t cnt = o->top_cnt && o->top_cnt < p->pattern_cnt ? o->top_cnt : p->pattern_cnt;

	buf_put_grouped(out, p->root_cnt);
	buf_puts(out, " paths in ");
	buf_put_grouped(out, p->pattern_cnt);
	buf_puts(out, " patterns\n");
	for (size_t i = 0; i < cnt; i++)
		put_pattern(p, rank[i], i, out);
	(void)put_line;
	free(rank);
}

void pathreport_json(const struct paths *p, const struct pathreport_opts *o, struct json *j)
{
	(void)o;
	json_u64(j, "paths", p->root_cnt);
}
