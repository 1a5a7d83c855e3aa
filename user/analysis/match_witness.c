/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links that need no guessing: the kernel saw which request a thread was serving when it made a call, or
 * which thread, woken by the one that took the request, made it. Those are fixed before matching begins. */
#include <stdlib.h>

#include "user/analysis/match_node.h"
#include "user/base/hash.h"
#include "user/base/index.h"

static bool open_at(const struct match_node *n, uint32_t r, uint32_t o)
{
	return n->reqs[r].start - n->skew <= n->outs[o].start &&
	       n->reqs[r].end + n->skew >= n->outs[o].start;
}

/* The request with this id that was open; ids may be used again later. */
static uint32_t by_id(const struct match_node *n, const struct msgtrace *t, const struct index *ids,
		      uint32_t id, uint32_t o)
{
	struct index_iter it = index_find(ids, hash_u64(id));
	uint32_t best = MATCH_NOBODY;

	for (; index_hit(ids, &it); index_next(ids, &it))
		if (t->calls[n->reqs[it.elem].call_no].id == id && open_at(n, it.elem, o) &&
		    (best == MATCH_NOBODY || it.elem > best))
			best = it.elem;
	return best;
}

/* The request that thread tid took, if it is the only one open: a thread that serves several at once, as an
 * event loop does, says nothing certain. */
static uint32_t by_thread(const struct match_node *n, uint32_t tid, uint32_t o)
{
	uint32_t found = MATCH_NOBODY;

	for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++) {
		if (n->reqs[n->cands[c]].tid != tid)
			continue;
		if (found != MATCH_NOBODY)
			return MATCH_NOBODY;
		found = n->cands[c];
	}
	return found;
}

void match_node_witness(struct match_node *n, const struct msgtrace *t)
{
	struct index ids = { 0 };

	if (!t->call_witness)
		return;
	for (uint32_t r = 0; r < n->reqs_cnt; r++)
		if (t->calls[n->reqs[r].call_no].id)
			index_add(&ids, hash_u64(t->calls[n->reqs[r].call_no].id), r);
	for (uint32_t o = 0; o < n->outs_cnt; o++) {
		const struct witness *w = &t->call_witness[n->outs[o].call_no];
		uint32_t r = MATCH_NOBODY;

		if (w->cause_kind == CAUSE_CALL && w->cause)
			r = by_id(n, t, &ids, w->cause, o);
		else if (w->cause_kind == CAUSE_THREAD && w->cause)
			r = by_thread(n, w->cause, o);
		if (r == MATCH_NOBODY)
			continue;
		match_node_move(n, o, r);
		n->fixed[o] = true;
	}
	index_free(&ids);
}
