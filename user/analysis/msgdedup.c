/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages seen twice; see msgdedup.h. */
#include "user/analysis/msgdedup.h"

#include <stdlib.h>

#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"

/* What was seen of one kind of message: the latest one without its copy. */
struct seen {
	struct msg msg;
	size_t kept_as; /* its number after dropping */
	bool waits;	/* for its copy */
};

static bool alike(const struct msg *a, const struct msg *b)
{
	return a->op == b->op && a->sender == b->sender && a->receiver == b->receiver &&
	       a->id == b->id;
}

static struct seen *find(struct index *ix, struct seen **seen, size_t *cnt, size_t *cap,
			 const struct msg *m)
{
	uint64_t hash =
		hash_pair((uint64_t)m->sender << 32 | m->receiver, (uint64_t)m->id << 8 | m->op);
	struct index_iter it = index_find(ix, hash);

	for (; index_hit(ix, &it); index_next(ix, &it))
		if (alike(&(*seen)[it.elem].msg, m))
			return &(*seen)[it.elem];
	*seen = xgrow(*seen, cap, *cnt + 1, sizeof(**seen));
	index_add(ix, hash, (uint32_t)*cnt);
	(*seen)[*cnt] = (struct seen){ *m, 0, false };
	return &(*seen)[(*cnt)++];
}

uint64_t msgdedup(struct msgtrace *t, int64_t window_ns)
{
	struct index ix = { 0 };
	struct seen *seen = NULL;
	size_t cnt = 0, cap = 0, kept = 0, all = t->msg_cnt;

	free(t->msg_heard_ns);
	t->msg_heard_ns = xcalloc(all + 1, sizeof(*t->msg_heard_ns));
	for (size_t i = 0; i < all; i++) {
		struct msg m = *msgtrace__msg(t, i);
		struct seen *s = find(&ix, &seen, &cnt, &cap, &m);

		if (s->waits && m.time_ns - s->msg.time_ns <= window_ns) {
			s->waits = false;
			t->msg_heard_ns[s->kept_as] = m.time_ns;
			continue;
		}
		*s = (struct seen){ m, kept, true };
		t->msg_heard_ns[kept] = MSG_UNHEARD;
		*msgtrace__msg(t, kept) = m;
		if (t->msg_witness)
			t->msg_witness[kept] = t->msg_witness[i];
		kept++;
	}
	msgtrace__cut_msgs(t, kept);
	free(seen);
	index_free(&ix);
	return all - kept;
}
