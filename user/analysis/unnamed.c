/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames without a name; see unnamed.h. */
#include "user/analysis/unnamed.h"

#include <stdlib.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

struct lister {
	const struct profile *p;
	struct unnamed *items;
	size_t cnt, cap;
	struct index index;
	uint32_t *group_of; /* by frame: 1 + item; 0 = named */
	uint64_t *stack_ns; /* by stack */
	uint32_t *seen;	    /* by item: 1 + the stack that counted it last */
};

static struct unnamed describe(const struct profile *p, const struct frame *f)
{
	const struct mapping *m = &p->mappings.items[f->mapping];

	if (f->kind == FRAME_MARK)
		return (struct unnamed){ .mark_sid = f->name_sid };
	return (struct unnamed){ .file_sid = m->path_sid ? m->path_sid : f->module_sid,
				 .tried_sid = m->tried_sid,
				 .reason = f->reason };
}

static uint32_t group(struct lister *l, const struct frame *f)
{
	struct unnamed u = describe(l->p, f);
	uint64_t hash = hash_pair((uint64_t)u.file_sid << 32 | u.mark_sid,
				  (uint64_t)u.tried_sid << 32 | u.reason);
	struct index_iter it = index_find(&l->index, hash);

	for (; index_hit(&l->index, &it); index_next(&l->index, &it)) {
		const struct unnamed *have = &l->items[it.elem];

		if (have->file_sid == u.file_sid && have->mark_sid == u.mark_sid &&
		    have->tried_sid == u.tried_sid && have->reason == u.reason)
			return it.elem;
	}
	if (l->cnt == l->cap)
		l->items = xgrow(l->items, &l->cap, l->cnt + 1, sizeof(*l->items));
	u.first_addr = UINT64_MAX;
	l->items[l->cnt] = u;
	index_add(&l->index, hash, (uint32_t)l->cnt);
	return (uint32_t)l->cnt++;
}

static void group_frames(struct lister *l)
{
	for (size_t i = 1; i < l->p->frames.cnt; i++) {
		const struct frame *f = &l->p->frames.items[i];
		struct unnamed *u;

		/* marks are unnamed only where they say that the walk stopped */
		if (f->kind == FRAME_MARK ? profile__str(l->p, f->name_sid)[0] != '[' : f->name_sid)
			continue;
		l->group_of[i] = 1 + group(l, f);
		u = &l->items[l->group_of[i] - 1];
		u->frame_cnt++;
		if (f->addr < u->first_addr)
			u->first_addr = f->addr;
	}
}

static void add_time(struct lister *l)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->sums.cnt; i++)
		l->stack_ns[p->sums.items[i].stack] += p->sums.items[i].ns;
	for (uint32_t i = 1; i < p->stacks.cnt; i++) {
		if (!l->stack_ns[i])
			continue;
		for (uint32_t s = i; s; s = p->stacks.items[s].parent) {
			uint32_t g = l->group_of[p->stacks.items[s].frame];

			if (!g || l->seen[g - 1] == i)
				continue;
			l->seen[g - 1] = i;
			l->items[g - 1].ns += l->stack_ns[i];
		}
	}
}

static int compare(const void *a, const void *b)
{
	const struct unnamed *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->frame_cnt != y->frame_cnt)
		return x->frame_cnt > y->frame_cnt ? -1 : 1;
	if (x->file_sid != y->file_sid)
		return x->file_sid < y->file_sid ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (x->tried_sid != y->tried_sid)
		return x->tried_sid < y->tried_sid ? -1 : 1;
	return (x->mark_sid > y->mark_sid) - (x->mark_sid < y->mark_sid);
}

size_t unnamed_list(const struct profile *p, struct unnamed **ret)
{
	struct lister l = { .p = p };

	l.group_of = xcalloc(p->frames.cnt, sizeof(*l.group_of));
	l.stack_ns = xcalloc(p->stacks.cnt, sizeof(*l.stack_ns));
	group_frames(&l);
	l.seen = xcalloc(l.cnt + 1, sizeof(*l.seen));
	add_time(&l);
	if (l.cnt)
		qsort(l.items, l.cnt, sizeof(*l.items), compare);
	index_free(&l.index);
	free(l.group_of);
	free(l.stack_ns);
	free(l.seen);
	*ret = l.items;
	return l.cnt;
}
