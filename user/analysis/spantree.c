/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a trace; see spantree.h. */
#include "user/analysis/spantree.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

static void note(struct spantree *t, enum tree_note_kind kind, uint32_t span, int64_t amount_ns)
{
	t->note_cnt[kind]++;
	if (t->notes_cnt >= TREE_NOTES_KEPT)
		return;
	t->notes = xgrow(t->notes, &t->notes_cap, t->notes_cnt + 1, sizeof(*t->notes));
	t->notes[t->notes_cnt++] = (struct tree_note){ kind, span, amount_ns };
}

const char *tree_note_name(int kind)
{
	static const char *const names[TREE_NOTE_MAX] = {
		[TREE_ORPHAN] = "parent missing",
		[TREE_ASYNC] = "not waited for",
		[TREE_CIRCLE] = "cycle of parents opened",
		[TREE_TWICE] = "span sent twice",
		[TREE_SHARED_ID] = "client and server share an id",
		[TREE_AMBIGUOUS_ID] = "id used by different spans",
		[TREE_OUTSIDE] = "outside its parent, dropped",
		[TREE_CUT] = "cut to its parent",
		[TREE_SHIFTED] = "shifted into its client (clock skew)",
		[TREE_NEGATIVE] = "negative duration taken as 0",
		[TREE_FOREIGN_TRACE] = "span with another trace id",
		[TREE_PARENT_WARNED] = "collector warned of its parent id",
		[TREE_NO_ROOT] = "no root, the earliest span stands in",
	};

	return kind >= 0 && kind < TREE_NOTE_MAX ? names[kind] : "?";
}

static void reserve(struct spantree *t, size_t span_cnt, size_t sid_cnt)
{
	if (span_cnt + 1 > t->cap) {
		size_t cap = span_cnt + span_cnt / 2 + 1;

		t->parent = xreallocarray(t->parent, cap, sizeof(*t->parent));
		t->child_off = xreallocarray(t->child_off, cap, sizeof(*t->child_off));
		t->children = xreallocarray(t->children, cap, sizeof(*t->children));
		t->start_ns = xreallocarray(t->start_ns, cap, sizeof(*t->start_ns));
		t->end_ns = xreallocarray(t->end_ns, cap, sizeof(*t->end_ns));
		t->flags = xreallocarray(t->flags, cap, sizeof(*t->flags));
		t->roots = xreallocarray(t->roots, cap, sizeof(*t->roots));
		t->cap = cap;
	}
	if (sid_cnt > t->sid_cap) {
		t->sid_cap = sid_cnt + sid_cnt / 2;
		t->by_sid = xreallocarray(t->by_sid, t->sid_cap, sizeof(*t->by_sid));
	}
	memset(t->by_sid, 0xff, sid_cnt * sizeof(*t->by_sid));
	memset(t->flags, 0, span_cnt);
}

void spantree__free(struct spantree *t)
{
	free(t->parent);
	free(t->child_off);
	free(t->children);
	free(t->start_ns);
	free(t->end_ns);
	free(t->flags);
	free(t->roots);
	free(t->notes);
	free(t->clocks);
	free(t->by_sid);
	free(t->stack);
	*t = (struct spantree){ 0 };
}

uint32_t spantree__find(const struct spantree *t, uint32_t id_sid)
{
	return id_sid ? t->by_sid[id_sid] : SPAN_NONE;
}

static bool same_span(const struct span *a, const struct span *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->kind == b->kind &&
	       a->operation_sid == b->operation_sid && a->service_sid == b->service_sid &&
	       a->parent_sid == b->parent_sid;
}

/* A second span with an id that is taken. by_sid names the span that children of the id belong to: of a
 * client and a server the server. parent[] of the server is set here already. */
static void second_with_id(struct spantree *t, uint32_t i)
{
	const struct span *s = &t->trace->spans[i];
	uint32_t first = t->by_sid[s->id_sid];
	const struct span *f = &t->trace->spans[first];

	if (same_span(s, f)) {
		t->flags[i] |= NODE_TWICE;
		note(t, TREE_TWICE, i, 0);
	} else if (t->parent[first] != SPAN_NONE || s->kind == f->kind ||
		   (s->kind != SPAN_CLIENT && s->kind != SPAN_SERVER) ||
		   (f->kind != SPAN_CLIENT && f->kind != SPAN_SERVER)) {
		note(t, TREE_AMBIGUOUS_ID, i, 0);
	} else {
		uint32_t client = s->kind == SPAN_CLIENT ? i : first;
		uint32_t server = s->kind == SPAN_CLIENT ? first : i;

		t->parent[server] = client;
		t->by_sid[s->id_sid] = server;
		note(t, TREE_SHARED_ID, server, 0);
	}
}

static void find_ids(struct spantree *t)
{
	for (uint32_t i = 0; i < t->cnt; i++) {
		const struct span *s = &t->trace->spans[i];

		t->parent[i] = SPAN_NONE;
		if (s->flags & SPAN_NEGATIVE)
			note(t, TREE_NEGATIVE, i, 0);
		if (s->flags & SPAN_FOREIGN_TRACE)
			note(t, TREE_FOREIGN_TRACE, i, 0);
		if (t->by_sid[s->id_sid] == SPAN_NONE)
			t->by_sid[s->id_sid] = i;
		else
			second_with_id(t, i);
	}
}

static void find_parent(struct spantree *t, uint32_t i)
{
	const struct span *s = &t->trace->spans[i];
	uint32_t p = spantree__find(t, s->parent_sid);

	if (t->parent[i] != SPAN_NONE || (t->flags[i] & NODE_TWICE))
		return;
	if (s->flags & SPAN_PARENT_WARNED)
		note(t, TREE_PARENT_WARNED, i, 0);
	if (s->flags & SPAN_FOLLOWS) {
		t->flags[i] |= NODE_ASYNC;
		note(t, TREE_ASYNC, i, 0);
	} else if ((s->parent_sid && p == SPAN_NONE) || (s->flags & SPAN_FOREIGN_PARENT)) {
		t->flags[i] |= NODE_ORPHAN;
		note(t, TREE_ORPHAN, i, 0);
	} else if (p == i) {
		t->flags[i] |= NODE_CIRCLE;
		note(t, TREE_CIRCLE, i, 0);
	} else if (p != SPAN_NONE && s->kind == SPAN_CONSUMER &&
		   t->trace->spans[p].kind == SPAN_PRODUCER) {
		t->flags[i] |= NODE_ASYNC;
		note(t, TREE_ASYNC, i, 0);
	} else {
		t->parent[i] = p;
	}
}

/* Cuts the circle that at lies on at its earliest span. */
static void open_circle(struct spantree *t, uint32_t at)
{
	uint32_t earliest = at;

	for (uint32_t i = t->parent[at]; i != at; i = t->parent[i])
		if (t->trace->spans[i].start_ns < t->trace->spans[earliest].start_ns)
			earliest = i;
	t->parent[earliest] = SPAN_NONE;
	t->flags[earliest] |= NODE_CIRCLE;
	note(t, TREE_CIRCLE, earliest, 0);
}

/* Follows each chain of parents once; mark[] (child_off, not built yet) tells in which walk a span was. */
static void open_circles(struct spantree *t)
{
	uint32_t *mark = t->child_off;

	memset(mark, 0, t->cnt * sizeof(*mark));
	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t at = i;

		while (at != SPAN_NONE && !mark[at]) {
			mark[at] = i + 1;
			at = t->parent[at];
		}
		if (at != SPAN_NONE && mark[at] == i + 1)
			open_circle(t, at);
	}
}

/* A FOLLOWS_FROM link into the span's own tree closes a circle, too; it is not followed anyway. roots[] (not
 * built yet) holds the root of each span's tree. */
static void name_link_circles(struct spantree *t)
{
	uint32_t *root = t->roots;

	memset(root, 0xff, t->cnt * sizeof(*root));
	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t at = i, found;

		while (t->parent[at] != SPAN_NONE && root[at] == SPAN_NONE)
			at = t->parent[at];
		found = root[at] == SPAN_NONE ? at : root[at];
		for (at = i; at != SPAN_NONE && root[at] == SPAN_NONE; at = t->parent[at])
			root[at] = found;
	}
	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t p = spantree__find(t, t->trace->spans[i].parent_sid);

		if ((t->flags[i] & NODE_ASYNC) && p != SPAN_NONE && root[p] == i)
			note(t, TREE_CIRCLE, i, 0);
	}
}

static void list_children(struct spantree *t)
{
	memset(t->child_off, 0, (t->cnt + 1) * sizeof(*t->child_off));
	for (size_t i = 0; i < t->cnt; i++)
		if (t->parent[i] != SPAN_NONE)
			t->child_off[t->parent[i] + 1]++;
	for (size_t i = 0; i < t->cnt; i++)
		t->child_off[i + 1] += t->child_off[i];
	for (size_t i = t->cnt; i-- > 0;)
		if (t->parent[i] != SPAN_NONE)
			t->children[--t->child_off[t->parent[i] + 1]] = (uint32_t)i;
	/* each offset now stands one to the right, at the start of its own list */
	memmove(t->child_off, t->child_off + 1, t->cnt * sizeof(*t->child_off));
	t->child_off[t->cnt] = 0;
	for (size_t i = 0; i < t->cnt; i++)
		t->child_off[t->cnt] += t->parent[i] != SPAN_NONE;
}

static void push(struct spantree *t, size_t *depth, uint32_t node, int64_t shift_ns)
{
	t->stack = xgrow(t->stack, &t->stack_cap, *depth + 1, sizeof(*t->stack));
	t->stack[(*depth)++] = (struct tree_stack){ node, shift_ns };
}

static bool is_entry(const struct spantree *t, const struct spantree_options *o, uint32_t i)
{
	const struct span *s = &t->trace->spans[i];

	return (!o->entry_service ||
		!strcmp(trace__str(t->trace, s->service_sid), o->entry_service)) &&
	       (!o->entry_operation ||
		!strcmp(trace__str(t->trace, s->operation_sid), o->entry_operation));
}

/* The top-most matches below (and including) a tree's root, depth first. */
static void find_entries(struct spantree *t, const struct spantree_options *o, uint32_t root)
{
	size_t depth = 0;

	push(t, &depth, root, 0);
	while (depth && !(o->first_root && t->root_cnt)) {
		uint32_t i = t->stack[--depth].node;

		if (is_entry(t, o, i)) {
			t->roots[t->root_cnt++] = i;
			continue;
		}
		for (uint32_t k = t->child_off[i + 1]; k-- > t->child_off[i];)
			push(t, &depth, t->children[k], 0);
	}
}

/* Without any whole tree: the earliest of the others. */
static void stand_in_root(struct spantree *t)
{
	uint32_t best = SPAN_NONE;

	for (uint32_t i = 0; i < t->cnt; i++)
		if (t->parent[i] == SPAN_NONE && !(t->flags[i] & NODE_TWICE) &&
		    (best == SPAN_NONE ||
		     t->trace->spans[i].start_ns < t->trace->spans[best].start_ns))
			best = i;
	if (best == SPAN_NONE)
		return;
	note(t, TREE_NO_ROOT, best, 0);
	t->roots[t->root_cnt++] = best;
}

static void find_roots(struct spantree *t, const struct spantree_options *o)
{
	bool any = !o->entry_service && !o->entry_operation;
	uint8_t broken = NODE_ORPHAN | NODE_ASYNC | NODE_CIRCLE | NODE_TWICE;

	t->root_cnt = 0;
	for (uint32_t i = 0; i < t->cnt && !(o->first_root && t->root_cnt); i++) {
		if (t->parent[i] != SPAN_NONE || (t->flags[i] & NODE_TWICE))
			continue;
		if (!any)
			find_entries(t, o, i);
		else if (!(t->flags[i] & broken))
			t->roots[t->root_cnt++] = i;
	}
	if (any && !t->root_cnt)
		stand_in_root(t);
}

static bool is_call(const struct spantree *t, uint32_t parent, uint32_t child)
{
	return t->trace->spans[parent].kind == SPAN_CLIENT &&
	       t->trace->spans[child].kind == SPAN_SERVER;
}

/* How far to move a server so that it lies in the middle of its client; 0 = leave it. */
static int64_t skew_shift(const struct spantree *t, const struct spantree_options *o,
			  uint32_t parent, uint32_t child, int64_t shift_ns)
{
	const struct span *p = &t->trace->spans[parent], *c = &t->trace->spans[child];
	int64_t start_ns = c->start_ns + shift_ns, end_ns = c->end_ns + shift_ns;
	int64_t room_ns = t->end_ns[parent] - t->start_ns[parent] - (c->end_ns - c->start_ns);
	int64_t by_ns;

	if (o->no_shift || room_ns < 0 || !is_call(t, parent, child) ||
	    (p->host_sid && p->host_sid == c->host_sid))
		return 0;
	if (start_ns >= t->start_ns[parent] && end_ns <= t->end_ns[parent])
		return 0;
	by_ns = t->start_ns[parent] + room_ns / 2 - start_ns;
	return by_ns > o->max_shift_ns || by_ns < -o->max_shift_ns ? 0 : by_ns;
}

static void record_clocks(struct spantree *t, uint32_t parent, uint32_t child)
{
	const struct span *p = &t->trace->spans[parent], *c = &t->trace->spans[child];

	t->clocks = xgrow(t->clocks, &t->clock_cap, t->clock_cnt + 1, sizeof(*t->clocks));
	t->clocks[t->clock_cnt++] = (struct clock_pair){
		parent,
		child,
		(c->start_ns - p->start_ns) / 2 + (c->end_ns - p->end_ns) / 2,
	};
}

/* Cuts a child to its parent; false if nothing is left of it. */
static bool fit_child(struct spantree *t, const struct spantree_options *o, uint32_t parent,
		      uint32_t child)
{
	int64_t lo = t->start_ns[parent], hi = t->end_ns[parent];
	int64_t *start = &t->start_ns[child], *end = &t->end_ns[child], cut_ns = 0;

	if (*start >= lo && *end <= hi)
		return true;
	if (*end <= lo || *start >= hi || (o->drop_around && *start<lo && * end> hi)) {
		t->flags[child] |= NODE_OUTSIDE;
		note(t, TREE_OUTSIDE, child, *end - *start);
		return false;
	}
	if (*start < lo) {
		cut_ns += lo - *start;
		*start = lo;
	}
	if (*end > hi) {
		cut_ns += *end - hi;
		*end = hi;
	}
	t->cut_ns += cut_ns;
	t->flags[child] |= NODE_CUT;
	note(t, TREE_CUT, child, cut_ns);
	return true;
}

static void repair_below(struct spantree *t, const struct spantree_options *o, uint32_t root)
{
	size_t depth = 0;

	t->start_ns[root] = t->trace->spans[root].start_ns;
	t->end_ns[root] = t->trace->spans[root].end_ns;
	t->root_ns += t->end_ns[root] - t->start_ns[root];
	push(t, &depth, root, 0);
	while (depth) {
		struct tree_stack top = t->stack[--depth];

		for (uint32_t k = t->child_off[top.node]; k < t->child_off[top.node + 1]; k++) {
			uint32_t c = t->children[k];
			int64_t own_ns = skew_shift(t, o, top.node, c, top.shift_ns);
			int64_t shift_ns = top.shift_ns + own_ns;

			if (is_call(t, top.node, c))
				record_clocks(t, top.node, c);
			if (own_ns) {
				t->flags[c] |= NODE_SHIFTED;
				note(t, TREE_SHIFTED, c, own_ns);
			}
			t->start_ns[c] = t->trace->spans[c].start_ns + shift_ns;
			t->end_ns[c] = t->trace->spans[c].end_ns + shift_ns;
			if (fit_child(t, o, top.node, c))
				push(t, &depth, c, shift_ns);
		}
	}
}

void spantree__build(struct spantree *t, const struct trace *trace,
		     const struct spantree_options *o)
{
	t->trace = trace;
	t->cnt = trace->span_cnt;
	t->cut_ns = t->root_ns = 0;
	t->notes_cnt = t->clock_cnt = 0;
	memset(t->note_cnt, 0, sizeof(t->note_cnt));
	reserve(t, t->cnt, trace->strings.cnt + 1);
	find_ids(t);
	for (uint32_t i = 0; i < t->cnt; i++)
		find_parent(t, i);
	open_circles(t);
	if (t->note_cnt[TREE_ASYNC])
		name_link_circles(t);
	list_children(t);
	find_roots(t, o);
	for (size_t i = 0; i < t->root_cnt; i++)
		repair_below(t, o, t->roots[i]);
}
