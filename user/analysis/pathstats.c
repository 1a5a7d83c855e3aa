/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays at the positions of a pattern; see paths.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/paths.h"
#include "user/base/mem.h"

static void stats_add(struct delay_stats *s, const struct delaybins *bins, int64_t ns)
{
	double off = (double)ns - s->mean_ns;

	if (!s->cnt || ns < s->min_ns)
		s->min_ns = ns;
	if (!s->cnt || ns > s->max_ns)
		s->max_ns = ns;
	s->cnt++;
	s->mean_ns += off / (double)s->cnt;
	s->m2 += off * ((double)ns - s->mean_ns);
	s->bins[delaybins_of(bins, ns)]++;
}

static int64_t percentile(const struct delay_stats *s, const struct delaybins *bins, int percent)
{
	uint64_t want = (s->cnt * (uint64_t)percent + 99) / 100, sum = 0;
	int64_t ns = 0;

	for (int i = 0; i < bins->cnt; i++) {
		sum += s->bins[i];
		ns = delaybins_mid_ns(bins, i);
		if (sum >= want)
			break;
	}
	return ns < s->min_ns ? s->min_ns : ns > s->max_ns ? s->max_ns : ns;
}

static void finish(struct delay_stats *s, const struct delaybins *bins)
{
	if (!s->cnt)
		return;
	s->p50_ns = percentile(s, bins, 50);
	s->p95_ns = percentile(s, bins, 95);
	s->p99_ns = percentile(s, bins, 99);
}

double delay_stats_sd_ns(const struct delay_stats *s)
{
	return s->cnt > 1 ? sqrt(s->m2 / (double)(s->cnt - 1)) : 0;
}

/* Time of [start, end) that some child covers. Children come in order of their starts, except where
 * overlapping ones were reordered; then the union is what a sweep over the order at hand gives at least. */
static int64_t covered_ns(const struct paths *p, uint32_t call)
{
	const struct call *calls = p->t->calls, *c = &calls[call];
	int64_t at_ns = c->server_start_ns, sum_ns = 0;

	for (uint32_t k = p->first_child[call]; k != CALL_NONE; k = p->next_child[k]) {
		int64_t start_ns = calls[k].client_start_ns, end_ns = calls[k].client_end_ns;

		if (start_ns < at_ns)
			start_ns = at_ns;
		if (end_ns > c->server_end_ns)
			end_ns = c->server_end_ns;
		if (end_ns <= start_ns)
			continue;
		sum_ns += end_ns - start_ns;
		at_ns = end_ns;
	}
	return sum_ns;
}

/* The parents of the positions, from the shape: preorder with a stack of what is open. */
static struct path_pos *make_positions(const struct paths *p, const struct path_pattern *pattern,
				       size_t size)
{
	uint32_t cnt = 0;
	struct path_pos *pos = xcalloc(size, sizeof(*pos));
	struct {
		uint32_t shape, pos, next;
	} *open = xcalloc(size, sizeof(*open));
	uint32_t depth = 0;

	pos[0] = (struct path_pos){ .node = p->shapes[pattern->shape].node, .parent = CALL_NONE };
	open[0].shape = pattern->shape;
	cnt = depth = 1;
	while (depth) {
		const struct path_shape *s = &p->shapes[open[depth - 1].shape];

		if (open[depth - 1].next == s->cnt || cnt == size) {
			depth--;
			continue;
		}
		open[depth].shape = p->subs[s->first + open[depth - 1].next++];
		open[depth].pos = cnt;
		open[depth].next = 0;
		pos[cnt].node = p->shapes[open[depth].shape].node;
		pos[cnt].parent = open[depth - 1].pos;
		pos[cnt++].depth = depth;
		depth++;
	}
	free(open);
	return pos;
}

static void add_instance(const struct paths *p, const struct delaybins *bins, struct path_pos *pos,
			 const uint32_t *calls, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct call *c = &p->t->calls[calls[i]];
		int64_t latency_ns = c->server_end_ns - c->server_start_ns;
		int64_t network_ns = c->client_end_ns - c->client_start_ns - latency_ns;

		stats_add(&pos[i].latency, bins, latency_ns);
		stats_add(&pos[i].own, bins, latency_ns - covered_ns(p, calls[i]));
		if (c->server_start_ns != c->client_start_ns || network_ns) {
			pos[i].has_network = true;
			stats_add(&pos[i].network, bins, network_ns);
		}
		if (pos[i].parent != CALL_NONE)
			stats_add(&pos[i].delay, bins,
				  c->client_start_ns - p->t->calls[c->parent].server_start_ns);
	}
}

struct path_pos *paths__stats(const struct paths *p, const struct path_pattern *pattern,
			      int64_t from_ns, int64_t to_ns, size_t *ret_cnt)
{
	uint32_t whole = p->shapes[pattern->shape].size;
	size_t size = whole < PATH_POS_MAX ? whole : PATH_POS_MAX;
	struct path_pos *pos = make_positions(p, pattern, size);
	uint32_t *calls = xcalloc(size, sizeof(*calls));
	struct delaybins bins;

	delaybins_init(&bins, 1000, DELAYBINS_MAX_CNT);
	for (uint32_t i = 0; i < pattern->cnt; i++) {
		uint32_t root = p->roots[pattern->first_root + i];
		int64_t start_ns = p->t->calls[root].client_start_ns;

		if (start_ns < from_ns || start_ns >= to_ns)
			continue;
		add_instance(p, &bins, pos, calls, paths__instance(p, root, calls, size));
	}
	for (size_t i = 0; i < size; i++) {
		finish(&pos[i].latency, &bins);
		finish(&pos[i].own, &bins);
		finish(&pos[i].delay, &bins);
		finish(&pos[i].network, &bins);
	}
	free(calls);
	*ret_cnt = size;
	return pos;
}
