/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/convpaths.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

#define ECHO_SHARE 0.8 /* of a path's messages that longer ones must explain to drop it */

static int cmp_path(const void *a, const void *b)
{
	const struct conv_path *x = a, *y = b;
	uint32_t n = x->hops_cnt < y->hops_cnt ? x->hops_cnt : y->hops_cnt;

	if (x->messages != y->messages)
		return x->messages > y->messages ? -1 : 1;
	for (uint32_t i = 0; i <= n; i++)
		if (x->nodes[i] != y->nodes[i])
			return x->nodes[i] < y->nodes[i] ? -1 : 1;
	if (x->hops_cnt != y->hops_cnt)
		return x->hops_cnt < y->hops_cnt ? -1 : 1;
	for (uint32_t i = 0; i + 1 < n; i++)
		if (x->delay_ns[i] != y->delay_ns[i])
			return x->delay_ns[i] < y->delay_ns[i] ? -1 : 1;
	return 0;
}

/* Whether a path of hops [from, to) of big, in its stead one of small, takes the same time. */
static bool same_delay(const struct conv_path *small, const struct conv_path *big, uint32_t hop,
		       uint32_t from, uint32_t to, int64_t quantum_ns)
{
	int64_t sum_ns = 0, slack_ns = 2 * quantum_ns + 3 * small->deviation_ns[hop];

	for (uint32_t k = from; k < to; k++) {
		sum_ns += big->delay_ns[k];
		slack_ns += 3 * big->deviation_ns[k];
	}
	return llabs(sum_ns - small->delay_ns[hop]) <= slack_ns;
}

/* Whether the rest of small, from node i, is the rest of big, from node k, with loops cut out. */
static bool rest_is_cut(const struct conv_path *small, uint32_t i, const struct conv_path *big,
			uint32_t k, int64_t quantum_ns)
{
	if (i == small->hops_cnt)
		return k == big->hops_cnt;
	for (uint32_t leave = k; leave < big->hops_cnt; leave++) {
		if (big->nodes[leave] != small->nodes[i] ||
		    big->nodes[leave + 1] != small->nodes[i + 1])
			continue;
		/* node n has delay n - 1: here small waits as long as big goes round */
		if (i ? same_delay(small, big, i - 1, k - 1, leave, quantum_ns) : leave == 0)
			if (rest_is_cut(small, i + 1, big, leave + 1, quantum_ns))
				return true;
	}
	return false;
}

static bool is_echo(const struct conv_path *small, const struct conv_path *big, int64_t quantum_ns)
{
	return big->hops_cnt > small->hops_cnt && big->nodes[0] == small->nodes[0] &&
	       rest_is_cut(small, 0, big, 0, quantum_ns);
}

static int by_length(const void *a, const void *b)
{
	const struct conv_path *x = a, *y = b;

	if (x->hops_cnt != y->hops_cnt)
		return x->hops_cnt > y->hops_cnt ? -1 : 1;
	return cmp_path(a, b);
}

/* A path that others explain, each less a loop (a call and its return): the messages of those that stay make
 * up for nearly all of its own. O(paths^2). */
void conv_paths_drop_echoes(struct conv_result *r)
{
	size_t kept = 0;

	if (r->cnt)
		qsort(r->paths, r->cnt, sizeof(*r->paths), by_length);
	for (size_t i = 0; i < r->cnt; i++) {
		double explained = 0;

		for (size_t k = 0; k < kept; k++)
			if (is_echo(&r->paths[i], &r->paths[k], r->quantum_ns))
				explained += (double)r->paths[k].messages;
		if (explained >= ECHO_SHARE * (double)r->paths[i].messages)
			r->stats.echo_cnt++;
		else
			r->paths[kept++] = r->paths[i];
	}
	r->cnt = kept;
}

void conv_paths_sort(struct conv_result *r)
{
	if (r->cnt)
		qsort(r->paths, r->cnt, sizeof(*r->paths), cmp_path);
}

static bool is_same(const struct conv_path *a, const struct conv_path *b, int64_t quantum_ns)
{
	if (a->hops_cnt != b->hops_cnt ||
	    memcmp(a->nodes, b->nodes, (a->hops_cnt + 1) * sizeof(*a->nodes)) != 0)
		return false;
	for (uint32_t i = 0; i + 1 < a->hops_cnt; i++)
		if (llabs(a->delay_ns[i] - b->delay_ns[i]) >= quantum_ns)
			return false;
	return true;
}

/* Mean and deviation of two groups together. */
static void add_delay(struct conv_path *to, const struct conv_path *from, uint32_t i)
{
	double a = (double)to->messages, b = (double)from->messages, n = a + b > 0 ? a + b : 1;
	double x = (double)to->delay_ns[i], y = (double)from->delay_ns[i],
	       mean = (a * x + b * y) / n;
	double dx = (double)to->deviation_ns[i], dy = (double)from->deviation_ns[i];
	double square = (a * (dx * dx + (x - mean) * (x - mean)) +
			 b * (dy * dy + (y - mean) * (y - mean))) /
			n;

	to->delay_ns[i] = (int64_t)llround(mean);
	to->deviation_ns[i] = (int64_t)llround(sqrt(square));
}

static void add_path(struct conv_path *to, const struct conv_path *from)
{
	for (uint32_t i = 0; i + 1 < to->hops_cnt; i++)
		add_delay(to, from, i);
	for (uint32_t i = 0; i < to->hops_cnt; i++)
		to->hop_messages[i] += from->hop_messages[i];
	to->messages += from->messages;
	to->chance += from->chance;
}

void conv_paths_merge(struct conv_result *r, struct conv_result *piece)
{
	size_t before = r->cnt;

	for (size_t i = 0; i < piece->cnt; i++) {
		size_t k = 0;

		while (k < before && !is_same(&r->paths[k], &piece->paths[i], r->quantum_ns))
			k++;
		if (k < before) {
			add_path(&r->paths[k], &piece->paths[i]);
		} else if (r->cnt < CONV_PATHS_MAX) {
			r->paths = xgrow(r->paths, &r->cap, r->cnt + 1, sizeof(*r->paths));
			r->paths[r->cnt++] = piece->paths[i];
		} else {
			r->stats.cut_cnt++;
		}
	}
	r->stats.correlations_cnt += piece->stats.correlations_cnt;
	r->stats.cut_cnt += piece->stats.cut_cnt;
	conv_free(piece);
}
