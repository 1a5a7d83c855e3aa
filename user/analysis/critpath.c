/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The critical path of a span tree; see critpath.h. */
#include "user/analysis/critpath.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

/* A span under walk: what lies after cursor is explained; its children are order[first..end), next is the
 * first not looked at. */
struct walk_frame {
	uint32_t span, node;
	int64_t cursor_ns;
	uint32_t forced; /* the branch that released what was taken last */
	size_t first, next, end;
};

int64_t critpath_tolerance_ns(int64_t parent_ns, enum critpath_rule rule)
{
	if (rule != CRITPATH_SECTIONS)
		return 0;
	return parent_ns / 100 < 1000000 ? parent_ns / 100 : 1000000;
}

void critpath__free(struct critpath *p)
{
	free(p->sections);
	free(p->nodes);
	free(p->stack);
	free(p->order);
	free(p->starts);
	*p = (struct critpath){ 0 };
}

static void add_section(struct critpath *p, const struct walk_frame *f, int64_t from_ns,
			int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	p->sections = xgrow(p->sections, &p->section_cap, p->section_cnt + 1, sizeof(*p->sections));
	p->sections[p->section_cnt++] = (struct section){ f->span, from_ns, to_ns };
	p->nodes[f->node].exclusive_ns += to_ns - from_ns;
}

static uint32_t add_node(struct critpath *p, uint32_t span, uint32_t parent, int64_t inclusive_ns)
{
	p->nodes = xgrow(p->nodes, &p->node_cap, p->node_cnt + 1, sizeof(*p->nodes));
	p->nodes[p->node_cnt] = (struct path_node){ span, parent, inclusive_ns, 0 };
	return (uint32_t)p->node_cnt++;
}

struct order_context {
	const struct spantree *tree;
	enum critpath_rule rule;
};

/* Latest end first; then by the rule's own tie-breaker. */
static int by_end(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct order_context *c = arg;
	const struct spantree *t = c->tree;

	if (t->end_ns[x] != t->end_ns[y])
		return t->end_ns[x] < t->end_ns[y] ? 1 : -1;
	if (c->rule == CRITPATH_CRISP2022)
		return x < y ? 1 : -1;
	if (t->start_ns[x] != t->start_ns[y])
		return t->start_ns[x] < t->start_ns[y] ? -1 : 1;
	if (c->rule == CRITPATH_JAEGER || x == y)
		return x < y ? -1 : x > y;
	return strcmp(trace__str(t->trace, t->trace->spans[x].id_sid),
		      trace__str(t->trace, t->trace->spans[y].id_sid));
}

/* Appends a span's children, sorted, behind order[at]. Returns their number. */
static size_t sort_children(struct critpath *p, struct spantree *t, uint32_t span, size_t at,
			    enum critpath_rule rule)
{
	struct order_context context = { t, rule };
	bool keep_empty = rule == CRITPATH_JAEGER || rule == CRITPATH_CRISP2022;
	size_t cnt = 0;

	p->order = xgrow(p->order, &p->order_cap,
			 at + t->child_off[span + 1] - t->child_off[span] + 1, sizeof(*p->order));
	for (uint32_t k = t->child_off[span]; k < t->child_off[span + 1]; k++) {
		uint32_t c = t->children[k];

		t->flags[c] &= (uint8_t)~NODE_USED;
		if (!(t->flags[c] & NODE_OUTSIDE) && (keep_empty || t->start_ns[c] < t->end_ns[c]))
			p->order[at + cnt++] = c;
	}
	if (cnt > 1)
		qsort_r(p->order + at, cnt, sizeof(*p->order), by_end, &context);
	return cnt;
}

/* The child of ancestor on whose branch the span lies that released c; SPAN_NONE if there is none. */
static uint32_t releasing_branch(const struct spantree *t, uint32_t ancestor, uint32_t c)
{
	uint32_t at = spantree__find(t, t->trace->spans[c].waker_sid);

	while (at != SPAN_NONE && t->parent[at] != ancestor)
		at = t->parent[at];
	return at == c || at == SPAN_NONE || (t->flags[at] & (NODE_OUTSIDE | NODE_USED)) ?
		       SPAN_NONE :
		       at;
}

/* The next child on the path of f's span, or SPAN_NONE. */
static uint32_t next_child(struct critpath *p, struct spantree *t, struct walk_frame *f,
			   enum critpath_rule rule)
{
	int64_t span_ns = t->end_ns[f->span] - t->start_ns[f->span];
	int64_t tolerance_ns = critpath_tolerance_ns(span_ns, rule);

	if (f->forced != SPAN_NONE && t->start_ns[f->forced] < f->cursor_ns)
		return f->forced;
	while (f->next < f->end) {
		uint32_t c = p->order[f->next++];
		int64_t over_ns = t->end_ns[c] - f->cursor_ns;
		bool first = f->next - 1 == f->first;
		bool before = rule == CRITPATH_JAEGER ? first || over_ns < 0 :
							over_ns <= 0 || over_ns < tolerance_ns;

		if (before && !(t->flags[c] & NODE_USED) &&
		    (rule == CRITPATH_JAEGER || t->start_ns[c] < f->cursor_ns))
			return c;
	}
	return SPAN_NONE;
}

static void enter(struct critpath *p, struct spantree *t, size_t *depth, uint32_t span,
		  int64_t upto_ns, enum critpath_rule rule)
{
	struct walk_frame *parent = *depth ? &p->stack[*depth - 1] : NULL;
	size_t first = parent ? parent->end : 0;
	uint32_t above = parent ? parent->node : SPAN_NONE;
	struct walk_frame f = { .span = span, .cursor_ns = upto_ns, .forced = SPAN_NONE };

	f.first = f.next = first;
	f.end = first + sort_children(p, t, span, first, rule);
	f.node = add_node(p, span, above, upto_ns - t->start_ns[span]);
	p->stack = xgrow(p->stack, &p->stack_cap, *depth + 1, sizeof(*p->stack));
	p->stack[(*depth)++] = f;
}

static void walk(struct critpath *p, struct spantree *t, uint32_t root, enum critpath_rule rule)
{
	size_t depth = 0;

	enter(p, t, &depth, root, t->end_ns[root], rule);
	while (depth) {
		struct walk_frame *f = &p->stack[depth - 1];
		uint32_t c = next_child(p, t, f, rule);
		int64_t upto_ns;

		if (c == SPAN_NONE) {
			add_section(p, f, t->start_ns[f->span], f->cursor_ns);
			depth--;
			continue;
		}
		t->flags[c] |= NODE_USED;
		upto_ns = t->end_ns[c] < f->cursor_ns ? t->end_ns[c] : f->cursor_ns;
		add_section(p, f, upto_ns, f->cursor_ns);
		f->cursor_ns = t->start_ns[c];
		f->forced =
			t->trace->spans[c].waker_sid ? releasing_branch(t, f->span, c) : SPAN_NONE;
		enter(p, t, &depth, c, upto_ns, rule);
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* How many of cnt sorted values are < (or, with equal, <=) v. */
static size_t rank(const int64_t *values, size_t cnt, int64_t v, bool equal)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (values[mid] < v || (equal && values[mid] == v))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* CRISP's exception for overlaps: small against the parent, the earlier one starts and ends first, and no
 * third child starts or ends in the window of the overlap. values: sorted starts, then sorted ends. */
static bool overlaps_slightly(const struct spantree *t, const int64_t *values, size_t cnt,
			      uint32_t before, uint32_t later, uint32_t parent)
{
	int64_t parent_ns = t->end_ns[parent] - t->start_ns[parent];
	int64_t from_ns = t->start_ns[later], to_ns = t->end_ns[before];
	size_t events;

	if (t->end_ns[before] >= t->end_ns[later] || t->start_ns[before] >= from_ns ||
	    parent_ns <= 0 || (double)(to_ns - from_ns) / (double)parent_ns >= 0.01)
		return false;
	events = rank(values, cnt, to_ns, true) - rank(values, cnt, from_ns, false);
	events += rank(values + cnt, cnt, to_ns, true) - rank(values + cnt, cnt, from_ns, false);
	return events == 2;
}

/* The children of a node on CRISP's path, as nodes behind it. Their times are whole, clipped durations. */
static void crisp_children(struct critpath *p, struct spantree *t, uint32_t node)
{
	uint32_t span = p->nodes[node].span, later = SPAN_NONE;
	size_t cnt = sort_children(p, t, span, 0, CRITPATH_CRISP2022);

	p->starts = xgrow(p->starts, &p->starts_cap, 2 * cnt + 1, sizeof(*p->starts));
	for (size_t i = 0; i < cnt; i++) {
		p->starts[i] = t->start_ns[p->order[i]];
		p->starts[2 * cnt - 1 - i] = t->end_ns[p->order[i]];
	}
	qsort(p->starts, cnt, sizeof(*p->starts), by_value);
	for (size_t i = 0; i < cnt; i++) {
		uint32_t c = p->order[i];
		int64_t ns = t->end_ns[c] - t->start_ns[c];

		if (later != SPAN_NONE && t->end_ns[c] >= t->start_ns[later] &&
		    !overlaps_slightly(t, p->starts, cnt, c, later, span))
			continue;
		later = c;
		add_node(p, c, node, ns);
		p->nodes[node].exclusive_ns -= ns;
	}
}

static void crisp_walk(struct critpath *p, struct spantree *t, uint32_t root)
{
	add_node(p, root, SPAN_NONE, t->end_ns[root] - t->start_ns[root]);
	for (uint32_t i = 0; i < p->node_cnt; i++) {
		crisp_children(p, t, i);
		p->nodes[i].exclusive_ns += p->nodes[i].inclusive_ns;
	}
}

void critpath__find(struct critpath *p, struct spantree *t, uint32_t root, enum critpath_rule rule)
{
	p->section_cnt = p->node_cnt = 0;
	if (rule == CRITPATH_CRISP2022)
		crisp_walk(p, t, root);
	else
		walk(p, t, root, rule);
}
