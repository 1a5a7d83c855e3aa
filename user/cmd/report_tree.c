/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time by stack as a tree; see report.h. */
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/columns_text.h"
#include "user/cmd/report.h"

enum {
	COLUMN_COLS = 9,
};

/* What a node has, itself and all below it. */
struct node_sum {
	uint64_t all_ns, running_ns, runnable_ns, blocked_ns, cnt, sample_cnt;
};

struct tree {
	struct fold f;
	struct node_sum *sums; /* by node */
	uint32_t *order;       /* children of one node lie together: most time first */
	uint32_t *first;       /* by node: its children are order[first[node] .. first[node + 1]) */
	uint64_t min_ns;
};

static void add_row(struct node_sum *s, const struct fold_row *r)
{
	s->all_ns += r->ns;
	s->cnt += r->kind == KIND_RUNNING ? 0 : r->cnt;
	if (r->kind == KIND_RUNNING) {
		s->running_ns += r->ns;
		s->sample_cnt += r->flags & PART_NOT_SAMPLED ? 0 : r->cnt;
	} else if (model_kind_is_runnable(r->kind)) {
		s->runnable_ns += r->ns;
	} else if (model_kind_is_blocked(r->kind)) {
		s->blocked_ns += r->ns;
	}
}

static void add_node(struct node_sum *to, const struct node_sum *from)
{
	to->all_ns += from->all_ns;
	to->running_ns += from->running_ns;
	to->runnable_ns += from->runnable_ns;
	to->blocked_ns += from->blocked_ns;
	to->cnt += from->cnt;
	to->sample_cnt += from->sample_cnt;
}

struct sibling {
	uint32_t parent, node;
	uint64_t ns;
	const char *name;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;
	int c;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	c = strcmp(x->name, y->name);
	return c ? c : (x->node > y->node) - (x->node < y->node);
}

static void sort_children(struct tree *t)
{
	const struct nametree *n = &t->f.names;
	struct sibling *s = xcalloc(n->cnt, sizeof(*s));

	t->order = xcalloc(n->cnt, sizeof(*t->order));
	t->first = xcalloc(n->cnt + 2, sizeof(*t->first));
	for (uint32_t i = 1; i < n->cnt; i++) {
		s[i - 1] = (struct sibling){ n->nodes[i].parent, i, t->sums[i].all_ns,
					     nametree_name(n, i) };
		t->first[n->nodes[i].parent + 1]++;
	}
	for (size_t i = 1; i <= n->cnt; i++)
		t->first[i] += t->first[i - 1];
	if (n->cnt > 2)
		qsort(s, n->cnt - 1, sizeof(*s), compare_siblings);
	for (size_t i = 0; i + 1 < n->cnt; i++)
		t->order[i] = s[i].node;
	free(s);
}

static void tree_init(struct tree *t, const struct profile *p, const struct report_opts *o)
{
	*t = (struct tree){ 0 };
	fold_init(&t->f, p, &o->fold);
	t->sums = xcalloc(t->f.names.cnt, sizeof(*t->sums));
	for (size_t i = 0; i < t->f.row_cnt; i++)
		add_row(&t->sums[t->f.rows[i].node], &t->f.rows[i]);
	for (size_t i = t->f.names.cnt; i-- > 1;)
		add_node(&t->sums[t->f.names.nodes[i].parent], &t->sums[i]);
	t->min_ns = (uint64_t)((double)t->sums[0].all_ns * o->min_percent / 100);
	sort_children(t);
}

static void tree_fini(struct tree *t)
{
	fold_free(&t->f);
	free(t->sums);
	free(t->order);
	free(t->first);
}

static bool is_shown(const struct tree *t, uint32_t node)
{
	return t->sums[node].all_ns && t->sums[node].all_ns >= t->min_ns;
}

static void put_ns(struct buf *out, uint64_t ns)
{
	if (ns)
		put_duration_right(out, ns, COLUMN_COLS);
	else
		put_right(out, "-", COLUMN_COLS);
}

static void put_node(const struct tree *t, uint32_t node, size_t depth, const struct report_opts *o,
		     struct buf *out)
{
	const struct node_sum *s = &t->sums[node];
	const size_t used = 4 * COLUMN_COLS + 8 + 2;
	size_t width = o->width_cols > used + 20 ? o->width_cols - used : 20;
	size_t indent = depth < width / 2 ? depth : width / 2;

	put_ns(out, s->all_ns);
	put_share(out, s->all_ns, t->sums[0].all_ns, 8);
	put_ns(out, s->running_ns);
	put_ns(out, s->runnable_ns);
	put_ns(out, s->blocked_ns);
	buf_puts(out, "  ");
	buf_printf(out, "%*s", (int)indent, "");
	put_cut(out, node ? nametree_name(&t->f.names, node) : "all", width - indent);
	buf_putc(out, '\n');
}

/* A node whose children wait to be shown. */
struct level {
	uint32_t next, end; /* in order */
};

void report__put_tree(const struct profile *p, const struct report_opts *o, struct buf *out)
{
	struct tree t;
	struct level *levels = NULL;
	size_t depth = 1, cap = 0, hidden_cnt = 0;

	tree_init(&t, p, o);
	buf_printf(out, "%9s%8s%9s%9s%9s  %s\n", "time", "share", "running", "runnable", "blocked",
		   "stack");
	put_node(&t, 0, 0, o, out);
	levels = xgrow(levels, &cap, 1, sizeof(*levels));
	levels[0] = (struct level){ t.first[0], t.first[1] };
	while (depth) {
		struct level *l = &levels[depth - 1];
		uint32_t node;

		if (l->next == l->end) {
			depth--;
			continue;
		}
		node = t.order[l->next++];
		if (!is_shown(&t, node)) {
			hidden_cnt++;
			continue;
		}
		put_node(&t, node, depth, o, out);
		if (depth == cap)
			levels = xgrow(levels, &cap, depth + 1, sizeof(*levels));
		levels[depth++] = (struct level){ t.first[node], t.first[node + 1] };
	}
	if (hidden_cnt)
		buf_printf(out, "%zu branches below %g %% are not shown (--min-share)\n",
			   hidden_cnt, o->min_percent);
	free(levels);
	tree_fini(&t);
}

/* JSON has no deep nesting here: nodes in depth-first order, each with the position of its parent. */
void report__json_tree(const struct profile *p, const struct report_opts *o, struct json *j)
{
	struct tree t;
	uint32_t *todo, *at_of;
	size_t todo_cnt = 1;
	uint32_t at = 0;

	tree_init(&t, p, o);
	todo = xcalloc(t.f.names.cnt, sizeof(*todo));
	at_of = xcalloc(t.f.names.cnt, sizeof(*at_of));
	json_begin_array(j, "tree");
	while (todo_cnt) {
		uint32_t node = todo[--todo_cnt];
		const struct node_sum *s = &t.sums[node];

		at_of[node] = at++;
		json_begin_object(j, NULL);
		json_str(j, "name", node ? nametree_name(&t.f.names, node) : "all");
		if (node)
			json_u64(j, "parent", at_of[t.f.names.nodes[node].parent]);
		json_u64(j, "ns", s->all_ns);
		json_u64(j, "running_ns", s->running_ns);
		json_u64(j, "runnable_ns", s->runnable_ns);
		json_u64(j, "blocked_ns", s->blocked_ns);
		json_u64(j, "wait_cnt", s->cnt);
		json_u64(j, "sample_cnt", s->sample_cnt);
		json_end_object(j);
		for (uint32_t i = t.first[node + 1]; i > t.first[node]; i--)
			if (is_shown(&t, t.order[i - 1]))
				todo[todo_cnt++] = t.order[i - 1];
	}
	json_end_array(j);
	free(todo);
	free(at_of);
	tree_fini(&t);
}
