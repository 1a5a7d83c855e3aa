/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What if an operation were faster; see whatif.h. */
#include "user/analysis/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

void whatif__free(struct whatif *w)
{
	free(w->duration_ns);
	free(w->order);
	free(w->kids);
	free(w->by_end);
	*w = (struct whatif){ 0 };
}

static int by_start(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct spantree *t = arg;

	if (t->start_ns[x] != t->start_ns[y])
		return t->start_ns[x] < t->start_ns[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_end(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct spantree *t = arg;

	if (t->end_ns[x] != t->end_ns[y])
		return t->end_ns[x] < t->end_ns[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int64_t changed(const struct spantree *t, uint32_t span, int64_t ns,
		       const struct whatif_change *changes, size_t cnt)
{
	const struct span *s = &t->trace->spans[span];

	for (size_t i = 0; i < cnt; i++) {
		const struct whatif_change *c = &changes[i];

		if ((c->service && strcmp(c->service, trace__str(t->trace, s->service_sid))) ||
		    (c->operation && strcmp(c->operation, trace__str(t->trace, s->operation_sid))))
			continue;
		ns = (int64_t)((double)ns * c->factor) - c->less_ns;
	}
	return ns > 0 ? ns : 0;
}

static size_t list_kids(struct whatif *w, const struct spantree *t, uint32_t span)
{
	size_t cnt = 0, most = t->child_off[span + 1] - t->child_off[span];

	if (most > w->kids_cap) {
		w->kids_cap = most * 2;
		w->kids = xreallocarray(w->kids, w->kids_cap, sizeof(*w->kids));
		w->by_end = xreallocarray(w->by_end, w->kids_cap, sizeof(*w->by_end));
	}
	for (uint32_t k = t->child_off[span]; k < t->child_off[span + 1]; k++) {
		uint32_t kid = t->children[k];

		if (!(t->flags[kid] & NODE_OUTSIDE) && t->start_ns[kid] < t->end_ns[kid])
			w->kids[cnt++] = kid;
	}
	if (cnt)
		memcpy(w->by_end, w->kids, cnt * sizeof(*w->kids));
	if (cnt > 1) {
		qsort_r(w->kids, cnt, sizeof(*w->kids), by_start, (void *)(uintptr_t)t);
		qsort_r(w->by_end, cnt, sizeof(*w->by_end), by_end, (void *)(uintptr_t)t);
	}
	return cnt;
}

/* The duration of a span whose children's new durations are known. In order of starts, each child starts
 * when all siblings that had ended before it have ended, and as long after that as it did. */
static int64_t retime(struct whatif *w, const struct spantree *t, uint32_t span)
{
	size_t cnt = list_kids(w, t, span), ended = 0;
	int64_t last_end_ns = t->start_ns[span], ready_ns = 0, latest_ns = 0;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t k = w->kids[i];
		int64_t new_end_ns;

		/* what ended before k started, started before it: its new end is known */
		while (ended < cnt && t->end_ns[w->by_end[ended]] <= t->start_ns[k]) {
			uint32_t e = w->by_end[ended++];

			last_end_ns = t->end_ns[e];
			ready_ns = w->duration_ns[e] > ready_ns ? w->duration_ns[e] : ready_ns;
		}
		new_end_ns = ready_ns + (t->start_ns[k] - last_end_ns) + w->duration_ns[k];
		w->duration_ns[k] = new_end_ns; /* from here on, from the parent's start */
		latest_ns = new_end_ns > latest_ns ? new_end_ns : latest_ns;
	}
	if (cnt)
		last_end_ns = t->end_ns[w->by_end[cnt - 1]];
	return latest_ns + (t->end_ns[span] - last_end_ns);
}

int64_t whatif__root_ns(struct whatif *w, const struct spantree *t, uint32_t root,
			const struct whatif_change *changes, size_t change_cnt)
{
	size_t cnt = 1;

	if (t->cnt > w->cap) {
		w->cap = t->cnt + t->cnt / 2;
		w->duration_ns = xreallocarray(w->duration_ns, w->cap, sizeof(*w->duration_ns));
		w->order = xreallocarray(w->order, w->cap, sizeof(*w->order));
	}
	w->order[0] = root; /* parents before children */
	for (size_t i = 0; i < cnt; i++) {
		uint32_t span = w->order[i];

		for (uint32_t k = t->child_off[span]; k < t->child_off[span + 1]; k++)
			if (!(t->flags[t->children[k]] & NODE_OUTSIDE))
				w->order[cnt++] = t->children[k];
	}
	for (size_t i = cnt; i-- > 0;) {
		uint32_t span = w->order[i];

		w->duration_ns[span] = changed(t, span, retime(w, t, span), changes, change_cnt);
	}
	return w->duration_ns[root];
}
