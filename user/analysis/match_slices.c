/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Long traces: delays are learned from a few stretches of the trace, which say as much as the whole. What is
 * cut at the ends of a stretch is a handful of requests. */
#include <stdlib.h>
#include <string.h>

#include "user/analysis/match_node.h"
#include "user/base/mem.h"

static void copy_slice(struct match_node *to, const struct match_node *from, uint32_t lo,
		       uint32_t hi)
{
	int64_t begin = from->outs[lo].start, end = from->outs[hi - 1].start;

	for (uint32_t r = 0; r < from->reqs_cnt; r++)
		if (from->reqs[r].start >= begin && from->reqs[r].end <= end)
			to->reqs[to->reqs_cnt++] = from->reqs[r];
	for (uint32_t o = lo; o < hi; o++)
		if (from->outs[o].end <= end)
			to->outs[to->outs_cnt++] = from->outs[o];
}

void match_node_learn_slices(struct match_node *n, const struct gap_kernels *kernels)
{
	struct match_node part = {
		.classes = n->classes, .endpoints = n->endpoints, .tick = n->tick, .skew = n->skew
	};
	uint32_t each = MATCH_LEARN_CALLS / MATCH_SLICES;

	part.reqs = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*part.reqs));
	part.outs = xcalloc((size_t)MATCH_LEARN_CALLS + 1, sizeof(*part.outs));
	for (uint32_t s = 0; s < MATCH_SLICES; s++) {
		uint32_t lo = (uint32_t)((uint64_t)s * (n->outs_cnt - each) / (MATCH_SLICES - 1));

		copy_slice(&part, n, lo, lo + each);
	}
	match_node_prepare(&part);
	match_node_learn(&part, kernels);
	match_model_free(&n->model);
	n->model = part.model;
	memset(&part.model, 0, sizeof(part.model));
	match_node_free(&part);
}
