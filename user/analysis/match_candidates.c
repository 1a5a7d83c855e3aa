/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which requests may have caused a call: those that contain it. Where calls are seen that no request contains,
 * answers are stamped before the last call has returned (two clocks, a deferred clean-up, work that goes on);
 * then a call to that endpoint may outlive its request by as much as those do. */
#include <math.h>
#include <stdlib.h>

#include "user/analysis/match_node.h"
#include "user/base/mem.h"

/* Requests open at some instant, by number. Those that ended are dropped when the list is walked. */
struct open_list {
	uint32_t *reqs;
	size_t cnt, cap;
	uint32_t next; /* the first request that has not begun */
};

static void move_on(const struct match_node *n, struct open_list *open, int64_t now)
{
	size_t keep = 0;

	for (; open->next < n->reqs_cnt && n->reqs[open->next].start - n->skew <= now;
	     open->next++) {
		open->reqs = xgrow(open->reqs, &open->cap, open->cnt + 1, sizeof(*open->reqs));
		open->reqs[open->cnt++] = open->next;
	}
	for (size_t i = 0; i < open->cnt; i++)
		if (n->reqs[open->reqs[i]].end + n->skew >= now)
			open->reqs[keep++] = open->reqs[i];
	open->cnt = keep;
}

bool match_node_fits(const struct match_node *n, uint32_t o, uint32_t r)
{
	int64_t end = n->reqs[r].end + n->skew;

	if (n->reqs[r].start - n->skew > n->outs[o].start)
		return false;
	if (n->late[o])
		return end >= n->outs[o].start;
	return end + n->slack[n->outs[o].endpoint] >= n->outs[o].end;
}

struct overhang {
	uint32_t endpoint;
	int64_t ticks; /* by which a call outlives the last of the open requests */
};

static int by_endpoint(const void *a, const void *b)
{
	const struct overhang *x = a, *y = b;

	if (x->endpoint != y->endpoint)
		return x->endpoint < y->endpoint ? -1 : 1;
	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Finds the calls that no request contains, and how far their like may stick out. */
static void find_late(struct match_node *n)
{
	struct open_list open = { 0 };
	struct overhang *found = NULL;
	size_t cnt = 0, cap = 0, from = 0;

	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		int64_t last = INT64_MIN;

		move_on(n, &open, n->outs[o].start);
		for (size_t i = 0; i < open.cnt; i++)
			if (n->reqs[open.reqs[i]].end > last)
				last = n->reqs[open.reqs[i]].end;
		if (!open.cnt || last + n->skew >= n->outs[o].end)
			continue;
		n->late[o] = true;
		found = xgrow(found, &cap, cnt + 1, sizeof(*found));
		found[cnt++] =
			(struct overhang){ n->outs[o].endpoint, n->outs[o].end - last - n->skew };
	}
	free(open.reqs);
	if (cnt)
		qsort(found, cnt, sizeof(*found), by_endpoint);
	for (size_t i = 1; i <= cnt; i++) {
		if (i < cnt && found[i].endpoint == found[from].endpoint)
			continue;
		n->slack[found[from].endpoint] =
			found[from + (size_t)(MATCH_SLACK_SHARE * (double)(i - 1 - from))].ticks;
		from = i;
	}
	free(found);
}

static void add_candidates(struct match_node *n, uint32_t o, const struct open_list *open,
			   size_t *cap)
{
	size_t at = n->cand_start[o], from = 0, fits = 0;

	for (size_t i = 0; i < open->cnt; i++)
		fits += match_node_fits(n, o, open->reqs[i]);
	if (fits > MATCH_CANDIDATES_MAX) {
		from = fits - MATCH_CANDIDATES_MAX;
		n->cut_cnt += from;
	}
	for (size_t i = 0; i < open->cnt; i++) {
		if (!match_node_fits(n, o, open->reqs[i]))
			continue;
		if (from) {
			from--;
			continue;
		}
		n->cands = xgrow(n->cands, cap, at + 1, sizeof(*n->cands));
		n->cands[at++] = open->reqs[i];
	}
	n->cand_start[o + 1] = at;
}

/* Time during which no request was open, and the time of all. */
static void measure_idle(const struct match_node *n, double *idle, double *span)
{
	int64_t first = n->outs[0].start, busy_to = first, last = n->outs[n->outs_cnt - 1].start;

	*idle = 1;
	for (uint32_t r = 0; r < n->reqs_cnt; r++) {
		if (n->reqs[r].start > busy_to)
			*idle += (double)(n->reqs[r].start - busy_to);
		first = n->reqs[r].start < first ? n->reqs[r].start : first;
		busy_to = n->reqs[r].end > busy_to ? n->reqs[r].end : busy_to;
	}
	if (last > busy_to)
		*idle += (double)(last - busy_to);
	*span = (double)((last > busy_to ? last : busy_to) - first) + 1;
}

/* Calls made while no request is open tell how often a node calls by itself. */
static void price_spontaneous(struct match_node *n)
{
	double idle, span;

	if (!n->outs_cnt)
		return;
	measure_idle(n, &idle, &span);
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		n->none_cost[n->outs[o].endpoint] += n->cand_start[o] == n->cand_start[o + 1];
	for (uint32_t e = 0; e < n->endpoints; e++)
		n->none_cost[e] = n->none_cost[e] > 0 ? log(idle / n->none_cost[e]) : log(2 * span);
}

double match_node_none_cost(const struct match_node *n, uint32_t out)
{
	return n->late[out] ? n->none_cost[n->outs[out].endpoint] : MATCH_NONE_COST;
}

static void allocate(struct match_node *n)
{
	size_t outs = (size_t)n->outs_cnt + 1, endpoints = (size_t)n->endpoints + 1;

	n->cand_start = xcalloc(outs, sizeof(*n->cand_start));
	n->req_of = xcalloc(outs, sizeof(*n->req_of));
	n->next = xcalloc(outs, sizeof(*n->next));
	n->first = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*n->first));
	if (!n->fixed)
		n->fixed = xcalloc(outs, sizeof(*n->fixed));
	n->posterior = xcalloc(outs, sizeof(*n->posterior));
	n->late = xcalloc(outs, sizeof(*n->late));
	n->slack = xcalloc(endpoints, sizeof(*n->slack));
	n->none_cost = xcalloc(endpoints, sizeof(*n->none_cost));
}

void match_node_prepare(struct match_node *n)
{
	struct open_list open = { 0 };
	size_t cap = 0;

	allocate(n);
	for (uint32_t i = 0; i < n->reqs_cnt; i++)
		n->first[i] = MATCH_NOBODY;
	find_late(n);
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		n->req_of[o] = MATCH_NOBODY;
		move_on(n, &open, n->outs[o].start);
		add_candidates(n, o, &open, &cap);
	}
	free(open.reqs);
	price_spontaneous(n);
}
