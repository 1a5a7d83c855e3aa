/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of causal paths as text and JSON; see pathreport.h. */
#include "user/analysis/pathreport.h"

#include <stdlib.h>
#include <string.h>

#include "user/analysis/pathsimilar.h"
#include "user/analysis/pathwindows.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	NAME_SHOWN = 200, /* bytes of a pattern's name in lists */
	RARE_MAX = 5
};

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
	bool network = false;

	buf_put_duration(&total, pat->total_ns);
	buf_printf(out, "\n#%zu  %u instances (%.1f %%), total %s, from ", rank + 1, pat->cnt,
		   100.0 * pat->cnt / (double)p->root_cnt, buf_str(&total));
	escape_terminal(out, msgtrace__node_name(p->t, pat->caller),
			strlen(msgtrace__node_name(p->t, pat->caller)));
	for (size_t i = 0; i < cnt; i++)
		network |= pos[i].has_network;
	buf_printf(out, "\n  %-36s  %10s %10s %10s %10s %10s %10s%s\n", "node", "own", "inclusive",
		   "p50", "p95", "p99", "call after", network ? "    network" : "");
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
	escape_terminal(out, buf_str(&name),
			name.len_bytes > NAME_SHOWN ? NAME_SHOWN : name.len_bytes);
	buf_puts(out, name.len_bytes > NAME_SHOWN ? " ...\n" : "\n");
	buf_free(&name);
}

struct slow {
	double mean_ns;
	uint32_t pattern;
};

static int slow_cmp(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	if (x->mean_ns != y->mean_ns)
		return x->mean_ns > y->mean_ns ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

size_t pathreport_rare_slow(const struct paths *p, uint32_t *ret, size_t max)
{
	struct slow *slow = xcalloc(p->pattern_cnt + 1, sizeof(*slow));
	double total_ns = 0, mean_ns;
	size_t cnt = 0;

	for (size_t i = 0; i < p->pattern_cnt; i++)
		total_ns += (double)p->patterns[i].total_ns;
	for (size_t i = 0; i < p->pattern_cnt; i++) {
		const struct path_pattern *pat = &p->patterns[i];

		mean_ns = (double)pat->total_ns / pat->cnt;
		if ((double)pat->cnt < 0.01 * (double)p->root_cnt &&
		    mean_ns > 2 * total_ns / (double)p->root_cnt)
			slow[cnt++] = (struct slow){ mean_ns, (uint32_t)i };
	}
	if (cnt)
		qsort(slow, cnt, sizeof(*slow), slow_cmp);
	for (size_t i = 0; i < cnt && i < max; i++)
		ret[i] = slow[i].pattern;
	free(slow);
	return cnt < max ? cnt : max;
}

static void put_groups(const struct paths *p, size_t top_cnt, struct buf *out)
{
	struct pathsimilar s;
	size_t shown = 0;

	pathsimilar_find(p, &s);
	for (size_t i = 0; i < s.group_cnt && s.group_cnt < p->pattern_cnt; i++) {
		const struct pathsimilar_group *g = &s.groups[i];
		const char *name = strtab_get(&s.names, g->name_sid);

		if (top_cnt && shown == top_cnt)
			break;
		if (!shown++)
			buf_puts(out, "\nsimilar patterns as one (replicas differ in a number):\n"
				      "     count patterns       mean  pattern\n");
		buf_printf(out, "  %8llu %8u", (unsigned long long)g->instance_cnt, g->cnt);
		put_ns(out, (double)g->total_ns / (double)g->instance_cnt);
		buf_puts(out, "  ");
		escape_terminal(out, name, strlen(name) > NAME_SHOWN ? NAME_SHOWN : strlen(name));
		buf_puts(out, strlen(name) > NAME_SHOWN ? " ...\n" : "\n");
	}
	pathsimilar_free(&s);
}

static void put_windows(const struct paths *p, const struct pathreport_opts *o, struct buf *out)
{
	size_t cnt, shown = 0;
	int64_t start_ns;
	struct pathwindow_entry *e = pathwindows_count(p, o->window_ns, &cnt, &start_ns);

	for (size_t i = 0, end; i < cnt; i = end) {
		uint64_t sum = 0;

		for (end = i; end < cnt && e[end].window == e[i].window; end++)
			sum += e[end].cnt;
		buf_puts(out, "\nwindow at ");
		buf_put_duration(out, e[i].window * (uint64_t)o->window_ns);
		buf_printf(out, ": %llu paths\n     count      burst  pattern\n",
			   (unsigned long long)sum);
		for (shown = i; shown < end && (!o->top_cnt || shown - i < o->top_cnt); shown++) {
			struct buf name = { 0 };

			paths__name(p, &p->patterns[e[shown].pattern], &name);
			buf_printf(out, "  %8u %9.1fx  ", e[shown].cnt,
				   pathwindow_burst(p, &e[shown], sum));
			escape_terminal(out, buf_str(&name),
					name.len_bytes > NAME_SHOWN ? NAME_SHOWN : name.len_bytes);
			buf_putc(out, '\n');
			buf_free(&name);
		}
	}
	free(e);
}

void pathreport_text(const struct paths *p, const struct pathreport_opts *o, struct buf *out)
{
	uint32_t *rank = pathreport_rank(p, o->order), rare[RARE_MAX];
	size_t cnt = o->top_cnt && o->top_cnt < p->pattern_cnt ? o->top_cnt : p->pattern_cnt;
	size_t rare_cnt = pathreport_rare_slow(p, rare, RARE_MAX);

	buf_put_grouped(out, p->root_cnt);
	buf_puts(out, p->root_cnt == 1 ? " path in " : " paths in ");
	buf_put_grouped(out, p->pattern_cnt);
	buf_puts(out, p->pattern_cnt == 1 ? " pattern\n" : " patterns\n");
	for (size_t i = 0; i < cnt; i++)
		put_pattern(p, rank[i], i, out);
	put_groups(p, o->top_cnt, out);
	if (rare_cnt)
		buf_puts(out, "\nrare and slow:\n     count       mean  pattern\n");
	for (size_t i = 0; i < rare_cnt; i++)
		put_line(p, rare[i], out);
	if (o->window_ns)
		put_windows(p, o, out);
	free(rank);
}
