/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the spans beside the critical path; see opportunity.h. */
#include "user/analysis/opportunity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

void opportunity__free(struct opportunity *o)
{
	free(o->path);
	free(o->slack_ns);
	free(o->stack);
	free(o->kids);
	free(o->starts);
	*o = (struct opportunity){ 0 };
}

struct kid_context {
	const struct spantree *tree;
	const uint32_t *path;
};

static int by_end(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct spantree *t = ((const struct kid_context *)arg)->tree;

	if (t->end_ns[x] != t->end_ns[y])
		return t->end_ns[x] < t->end_ns[y] ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int by_start(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct spantree *t = ((const struct kid_context *)arg)->tree;

	if (t->start_ns[x] != t->start_ns[y])
		return t->start_ns[x] < t->start_ns[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_path_and_start(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint32_t *path = ((const struct kid_context *)arg)->path;

	if (path[x] != path[y])
		return path[x] < path[y] ? -1 : 1;
	return by_start(a, b, arg);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t duration_ns(const struct spantree *t, uint32_t i)
{
	return t->end_ns[i] - t->start_ns[i];
}

/* When a child that ends at end_ns would be waited for: the next start on the path, or the path's last end. */
static int64_t boundary_ns(const struct opportunity *o, size_t on_path, int64_t last_end_ns,
			   int64_t end_ns)
{
	size_t lo = 0, hi = on_path;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->starts[mid] < end_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < on_path ? o->starts[lo] : last_end_ns;
}

/* Slack of children off the path, drag of those on it. kids: by end, latest first. */
static void add_room(struct opportunity *o, struct ccct *c, const struct spantree *t,
		     uint32_t parent, size_t cnt)
{
	int64_t last_end_ns = t->end_ns[o->kids[0]];
	bool parent_off = o->slack_ns[parent] >= 0, found = false;
	size_t on_path = 0;

	o->starts = xgrow(o->starts, &o->starts_cap, cnt, sizeof(*o->starts));
	for (size_t i = 0; i < cnt; i++) {
		if (o->slack_ns[o->kids[i]] >= 0)
			continue;
		if (!found)
			last_end_ns = t->end_ns[o->kids[i]];
		found = true;
		o->starts[on_path++] = t->start_ns[o->kids[i]];
	}
	qsort(o->starts, on_path, sizeof(*o->starts), by_value);
	for (size_t i = 0; i < cnt; i++) {
		uint32_t k = o->kids[i];
		struct ccct_fact f = { .kind = FACT_ROOM, .path = o->path[k], .cnt = 1 };

		if (o->slack_ns[k] < 0) {
			int64_t gap_ns = INT64_MAX;

			if (i && t->end_ns[o->kids[i - 1]] == t->end_ns[k])
				gap_ns = 0;
			else if (i + 1 < cnt)
				gap_ns = t->end_ns[k] - t->end_ns[o->kids[i + 1]];
			f.ns = duration_ns(t, k) < gap_ns ? duration_ns(t, k) : gap_ns;
		} else {
			int64_t until_ns =
				parent_off ? last_end_ns :
					     boundary_ns(o, on_path, last_end_ns, t->end_ns[k]);

			f.more_ns = until_ns > t->end_ns[k] ? until_ns - t->end_ns[k] : 0;
			f.more_ns += parent_off ? o->slack_ns[parent] : 0;
			o->slack_ns[k] = f.more_ns;
		}
		ccct__add_fact(c, &f);
	}
}

/* Many calls of one path under one parent, nearly all one after the other. kids: by path, then start. */
static void add_repeated(struct opportunity *o, struct ccct *c, const struct spantree *t,
			 size_t cnt)
{
	for (size_t i = 0, end; i < cnt; i = end) {
		struct ccct_fact f = { .kind = FACT_REPEATED,
				       .path = o->path[o->kids[i]],
				       .cnt = 1 };
		size_t overlaps = 0;

		for (end = i; end < cnt && o->path[o->kids[end]] == f.path; end++) {
			f.ns += duration_ns(t, o->kids[end]);
			overlaps +=
				end > i && t->start_ns[o->kids[end]] < t->end_ns[o->kids[end - 1]];
		}
		f.more_cnt = end - i;
		if (end - i >= REPEATED_CALLS_MIN && overlaps * 10 <= end - i)
			ccct__add_fact(c, &f);
	}
}

/* Neighbours in time with different operations. kids: by start. */
static void add_serial(struct opportunity *o, struct ccct *c, const struct spantree *t, size_t cnt)
{
	uint32_t before = SPAN_NONE;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t k = o->kids[i];
		struct ccct_fact f = { .kind = FACT_SERIAL };

		if (i && t->start_ns[k] < t->end_ns[o->kids[i - 1]] &&
		    o->path[k] != o->path[o->kids[i - 1]]) {
			f.path = o->path[o->kids[i - 1]];
			f.other = o->path[k];
			f.more_cnt = 1;
			ccct__add_fact(c, &f);
		}
		if (o->slack_ns[k] >= 0)
			continue;
		if (before != SPAN_NONE && o->path[before] != o->path[k] &&
		    t->end_ns[before] <= t->start_ns[k]) {
			f = (struct ccct_fact){ .kind = FACT_SERIAL,
						.path = o->path[before],
						.other = o->path[k],
						.cnt = 1 };
			f.ns = duration_ns(t, before) < duration_ns(t, k) ? duration_ns(t, before) :
									    duration_ns(t, k);
			ccct__add_fact(c, &f);
		}
		before = k;
	}
}

/* Calls on the path: how much of them is the server's work. */
static void add_call(struct opportunity *o, struct ccct *c, const struct spantree *t,
		     uint32_t client, size_t kid_cnt)
{
	struct ccct_fact f = { .path = o->path[client], .cnt = 1, .ns = duration_ns(t, client) };

	if (o->slack_ns[client] >= 0 || t->trace->spans[client].kind != SPAN_CLIENT)
		return;
	f.kind = kid_cnt ? FACT_TRANSPORT : FACT_STORE;
	if (kid_cnt > 1 || (kid_cnt && t->trace->spans[o->kids[0]].kind != SPAN_SERVER))
		return;
	f.more_ns = kid_cnt ? duration_ns(t, o->kids[0]) : 0;
	ccct__add_fact(c, &f);
}

static uint32_t child_path(struct ccct *c, const struct trace *t, uint32_t parent, uint32_t span)
{
	const struct span *s = &t->spans[span];

	return ccct__path(
		c, parent,
		ccct__frame(c, trace__str(t, s->service_sid), trace__str(t, s->operation_sid)));
}

/* The kept children of a span, on the stack and in kids; those on the path have slack -1 already. */
static size_t list_kids(struct opportunity *o, struct ccct *c, const struct spantree *t,
			uint32_t span, size_t *depth)
{
	size_t cnt = 0, most = t->child_off[span + 1] - t->child_off[span];

	o->kids = xgrow(o->kids, &o->kids_cap, most + 1, sizeof(*o->kids));
	o->stack = xgrow(o->stack, &o->stack_cap, *depth + most + 1, sizeof(*o->stack));
	for (uint32_t k = t->child_off[span]; k < t->child_off[span + 1]; k++) {
		uint32_t kid = t->children[k];

		if (t->flags[kid] & NODE_OUTSIDE)
			continue;
		o->path[kid] = child_path(c, t->trace, o->path[span], kid);
		o->kids[cnt++] = kid;
		o->stack[(*depth)++] = kid;
	}
	return cnt;
}

void opportunity__add(struct opportunity *o, struct ccct *c, const struct spantree *t,
		      const struct critpath *p)
{
	struct kid_context context = { t, NULL };
	uint32_t root = p->nodes[0].span;
	size_t depth = 0;

	if (t->cnt > o->cap) {
		o->cap = t->cnt + t->cnt / 2;
		o->path = xreallocarray(o->path, o->cap, sizeof(*o->path));
		o->slack_ns = xreallocarray(o->slack_ns, o->cap, sizeof(*o->slack_ns));
	}
	context.path = o->path;
	memset(o->slack_ns, 0, t->cnt * sizeof(*o->slack_ns));
	for (size_t i = 0; i < p->node_cnt; i++)
		o->slack_ns[p->nodes[i].span] = -1;
	o->path[root] = child_path(c, t->trace, SPAN_NONE, root);
	ccct__add_fact(c, &(struct ccct_fact){ .kind = FACT_ROOM,
					       .path = o->path[root],
					       .cnt = 1,
					       .ns = duration_ns(t, root) });
	o->stack = xgrow(o->stack, &o->stack_cap, 1, sizeof(*o->stack));
	o->stack[depth++] = root;
	while (depth) {
		uint32_t span = o->stack[--depth];
		size_t cnt = list_kids(o, c, t, span, &depth);

		add_call(o, c, t, span, cnt);
		if (!cnt)
			continue;
		qsort_r(o->kids, cnt, sizeof(*o->kids), by_end, &context);
		add_room(o, c, t, span, cnt);
		if (cnt < 2)
			continue;
		qsort_r(o->kids, cnt, sizeof(*o->kids), by_start, &context);
		add_serial(o, c, t, cnt);
		qsort_r(o->kids, cnt, sizeof(*o->kids), by_path_and_start, &context);
		add_repeated(o, c, t, cnt);
	}
}

/* Buckets of offsets: logarithmic on both sides of 1 us around 0. */
static uint32_t clock_bucket(int64_t offset_ns)
{
	double us = fabs((double)offset_ns) / 1e3;
	int32_t b = us < 1 ? 0 : 1 + (int32_t)floor(log2(us) * CLOCK_BUCKETS_PER_OCTAVE);

	return (uint32_t)((1 << 16) + (offset_ns < 0 ? -b : b));
}

static uint32_t host_frame(struct ccct *c, const struct trace *t, uint32_t span)
{
	const struct span *s = &t->spans[span];

	return ccct__frame(c, trace__str(t, s->host_sid ? s->host_sid : s->service_sid), "");
}

void opportunity__add_clocks(struct ccct *c, const struct spantree *t)
{
	for (size_t i = 0; i < t->clock_cnt; i++) {
		const struct clock_pair *p = &t->clocks[i];
		struct ccct_fact f = { .kind = FACT_CLOCK, .cnt = 1, .ns = p->offset_ns };

		f.path = host_frame(c, t->trace, p->client);
		f.other = host_frame(c, t->trace, p->server);
		f.bucket = clock_bucket(p->offset_ns);
		f.more_cnt = t->flags[p->server] & NODE_SHIFTED ? 1 : 0;
		if (f.path != f.other)
			ccct__add_fact(c, &f);
	}
}
