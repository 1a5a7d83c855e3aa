/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of causal paths as JSON; see pathreport.h. */
#include <stdlib.h>

#include "user/analysis/pathreport.h"
#include "user/analysis/pathsimilar.h"
#include "user/analysis/pathwindows.h"

enum {
	RARE_MAX = 20
};

static void stats_json(struct json *j, const char *key, const struct delay_stats *s,
		       const struct delaybins *bins)
{
	if (!s->cnt)
		return;
	json_begin_object(j, key);
	json_u64(j, "count", s->cnt);
	json_f64(j, "mean_ns", s->mean_ns);
	json_f64(j, "sd_ns", delay_stats_sd_ns(s));
	json_i64(j, "min_ns", s->min_ns);
	json_i64(j, "max_ns", s->max_ns);
	json_i64(j, "p50_ns", s->p50_ns);
	json_i64(j, "p95_ns", s->p95_ns);
	json_i64(j, "p99_ns", s->p99_ns);
	json_begin_array(j, "histogram"); /* [lower edge in ns, count], bins without any left out */
	for (int i = 0; i < bins->cnt; i++) {
		if (!s->bins[i])
			continue;
		json_begin_array(j, NULL);
		json_i64(j, NULL, i ? bins->edges_ns[i] : 0);
		json_u64(j, NULL, s->bins[i]);
		json_end_array(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void pattern_json(const struct paths *p, uint32_t number, struct json *j)
{
	const struct path_pattern *pat = &p->patterns[number];
	struct delaybins bins;
	struct buf name = { 0 };
	size_t cnt, slowest;
	struct path_pos *pos = paths__stats(p, pat, INT64_MIN, INT64_MAX, &cnt);

	delaybins_init(&bins, 1000, DELAYBINS_MAX_CNT);
	paths__name(p, pat, &name);
	slowest = pathreport_slowest(pos, cnt);
	json_begin_object(j, NULL);
	json_str(j, "pattern", buf_str(&name));
	json_str(j, "caller", msgtrace__node_name(p->t, pat->caller));
	json_u64(j, "count", pat->cnt);
	json_u64(j, "total_ns", pat->total_ns);
	json_u64(j, "calls", p->shapes[pat->shape].size);
	json_begin_array(j, "positions");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_str(j, "node", msgtrace__node_name(p->t, pos[i].node));
		if (pos[i].parent != CALL_NONE)
			json_u64(j, "parent", pos[i].parent);
		json_bool(j, "slowest", i == slowest);
		stats_json(j, "own", &pos[i].own, &bins);
		stats_json(j, "inclusive", &pos[i].latency, &bins);
		stats_json(j, "call_delay", &pos[i].delay, &bins);
		stats_json(j, "network", &pos[i].network, &bins);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	free(pos);
	buf_free(&name);
}

static void groups_json(const struct paths *p, struct json *j)
{
	struct pathsimilar s;

	pathsimilar_find(p, &s);
	json_begin_array(j, "similar");
	for (size_t i = 0; i < s.group_cnt; i++) {
		json_begin_object(j, NULL);
		json_str(j, "pattern", strtab_get(&s.names, s.groups[i].name_sid));
		json_u64(j, "count", s.groups[i].instance_cnt);
		json_u64(j, "patterns", s.groups[i].cnt);
		json_u64(j, "total_ns", s.groups[i].total_ns);
		json_end_object(j);
	}
	json_end_array(j);
	pathsimilar_free(&s);
}

static void windows_json(const struct paths *p, const struct pathreport_opts *o, struct json *j)
{
	size_t cnt;
	int64_t start_ns;
	struct pathwindow_entry *e = pathwindows_count(p, o->window_ns, &cnt, &start_ns);
	struct buf name = { 0 };

	json_i64(j, "windows_start_ns", start_ns);
	json_begin_array(j, "windows");
	for (size_t i = 0; i < cnt; i++) {
		buf_reset(&name);
		paths__name(p, &p->patterns[e[i].pattern], &name);
		json_begin_object(j, NULL);
		json_u64(j, "window", e[i].window);
		json_str(j, "pattern", buf_str(&name));
		json_u64(j, "count", e[i].cnt);
		json_u64(j, "total_ns", e[i].total_ns);
		json_end_object(j);
	}
	json_end_array(j);
	buf_free(&name);
	free(e);
}

void pathreport_json(const struct paths *p, const struct pathreport_opts *o, struct json *j)
{
	uint32_t *rank = pathreport_rank(p, o->order), rare[RARE_MAX];
	size_t cnt = o->top_cnt && o->top_cnt < p->pattern_cnt ? o->top_cnt : p->pattern_cnt;
	size_t rare_cnt = pathreport_rare_slow(p, rare, RARE_MAX);

	json_u64(j, "paths", p->root_cnt);
	json_u64(j, "pattern_count", p->pattern_cnt);
	json_begin_array(j, "patterns");
	for (size_t i = 0; i < cnt; i++)
		pattern_json(p, rank[i], j);
	json_end_array(j);
	groups_json(p, j);
	json_begin_array(j, "rare_slow");
	for (size_t i = 0; i < rare_cnt; i++)
		pattern_json(p, rare[i], j);
	json_end_array(j);
	if (o->window_ns)
		windows_json(p, o, j);
	free(rank);
}
