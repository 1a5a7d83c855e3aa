/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of calls and their patterns; see paths.h. */
#include "user/analysis/paths.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

/* A call whose children are being put together. */
struct level {
	uint32_t call;
	uint32_t next; /* child to visit */
	size_t base;   /* its children's shapes begin here on the stack of shapes */
};

struct builder {
	struct paths *p;
	unsigned int flags;
	struct level *levels;
	size_t level_cnt, level_cap;
	uint32_t *forms; /* stack of finished shapes, and the calls they are of */
	uint32_t *form_calls;
	size_t form_cnt, form_cap, form_calls_cap;
};

static void link_children(struct paths *p)
{
	const struct msgtrace *t = p->t;
	size_t bytes = (t->call_cnt + 1) * sizeof(uint32_t);

	p->first_child = xmalloc(bytes);
	p->next_child = xmalloc(bytes);
	memset(p->first_child, 0xff, bytes);
	memset(p->next_child, 0xff, bytes);
	for (size_t i = t->call_cnt; i-- > 0;) {
		uint32_t parent = t->calls[i].parent;

		if (parent == CALL_NONE)
			continue;
		p->next_child[i] = p->first_child[parent];
		p->first_child[parent] = (uint32_t)i;
	}
}

static uint32_t intern_shape(struct paths *p, uint32_t node, const uint32_t *subs, size_t cnt)
{
	uint64_t hash = hash_pair(cnt ? hash_bytes(subs, cnt * sizeof(*subs)) : 0, node);
	struct index_iter it = index_find(&p->shape_index, hash);
	struct path_shape *s;

	for (; index_hit(&p->shape_index, &it); index_next(&p->shape_index, &it)) {
		s = &p->shapes[it.elem];
		if (s->node == node && s->cnt == cnt &&
		    (!cnt || !memcmp(p->subs + s->first, subs, cnt * sizeof(*subs))))
			return it.elem;
	}
	p->shapes = xgrow(p->shapes, &p->shape_cap, p->shape_cnt + 1, sizeof(*p->shapes));
	s = &p->shapes[p->shape_cnt];
	*s = (struct path_shape){ node, (uint32_t)p->sub_cnt, (uint32_t)cnt, 1 };
	p->subs = xgrow(p->subs, &p->sub_cap, p->sub_cnt + cnt, sizeof(*p->subs));
	for (size_t i = 0; i < cnt; i++) {
		p->subs[p->sub_cnt++] = subs[i];
		s->size += p->shapes[subs[i]].size;
	}
	index_add(&p->shape_index, hash, (uint32_t)p->shape_cnt);
	return (uint32_t)p->shape_cnt++;
}

static void push_level(struct builder *b, uint32_t call)
{
	b->levels = xgrow(b->levels, &b->level_cap, b->level_cnt + 1, sizeof(*b->levels));
	b->levels[b->level_cnt++] = (struct level){ call, b->p->first_child[call], b->form_cnt };
}

static void push_form(struct builder *b, uint32_t form, uint32_t call)
{
	b->forms = xgrow(b->forms, &b->form_cap, b->form_cnt + 1, sizeof(*b->forms));
	b->form_calls =
		xgrow(b->form_calls, &b->form_calls_cap, b->form_cnt + 1, sizeof(*b->form_calls));
	b->forms[b->form_cnt] = form;
	b->form_calls[b->form_cnt++] = call;
}

struct sibling {
	const char *name;
	uint32_t form, call;
};

static int sibling_cmp(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	if (by_name)
		return by_name;
	if (x->form != y->form)
		return x->form < y->form ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/* Runs of siblings of which each begins before all before it have ended are sorted by form; the children
 * lists follow, so that positions mean the same in every instance. */
static void sort_overlapping(struct builder *b, const struct level *l)
{
	struct paths *p = b->p;
	const struct call *calls = p->t->calls;
	size_t cnt = b->form_cnt - l->base;
	struct sibling *s = xcalloc(cnt, sizeof(*s));
	uint32_t *at = &p->first_child[l->call];

	for (size_t i = 0; i < cnt; i++)
		s[i] = (struct sibling){ msgtrace__node_name(p->t,
							     p->shapes[b->forms[l->base + i]].node),
					 b->forms[l->base + i], b->form_calls[l->base + i] };
	for (size_t i = 0, end; i < cnt; i = end) {
		int64_t latest_ns = calls[s[i].call].client_end_ns;

		for (end = i + 1; end < cnt && calls[s[end].call].client_start_ns < latest_ns;
		     end++)
			if (calls[s[end].call].client_end_ns > latest_ns)
				latest_ns = calls[s[end].call].client_end_ns;
		qsort(s + i, end - i, sizeof(*s), sibling_cmp);
	}
	for (size_t i = 0; i < cnt; i++) {
		b->forms[l->base + i] = s[i].form;
		*at = s[i].call;
		at = &p->next_child[s[i].call];
	}
	*at = CALL_NONE;
	free(s);
}

/* The shape of the tree under a root, without recursion: trees may be deep. */
static uint32_t shape_of(struct builder *b, uint32_t root)
{
	struct paths *p = b->p;

	b->form_cnt = 0;
	push_level(b, root);
	while (b->level_cnt) {
		struct level *l = &b->levels[b->level_cnt - 1];
		uint32_t form;

		if (l->next != CALL_NONE) {
			uint32_t child = l->next;

			l->next = p->next_child[child];
			push_level(b, child);
			continue;
		}
		if (b->flags & PATHS_UNORDERED && b->form_cnt - l->base > 1)
			sort_overlapping(b, l);
		form = intern_shape(p, p->t->calls[l->call].callee,
				    b->form_cnt > l->base ? b->forms + l->base : NULL,
				    b->form_cnt - l->base);
		b->form_cnt = l->base;
		push_form(b, form, l->call);
		b->level_cnt--;
	}
	return b->forms[0];
}

static uint32_t intern_pattern(struct paths *p, uint32_t caller, uint32_t shape)
{
	uint64_t hash = hash_pair(caller, shape);
	struct index_iter it = index_find(&p->pattern_index, hash);

	for (; index_hit(&p->pattern_index, &it); index_next(&p->pattern_index, &it))
		if (p->patterns[it.elem].caller == caller && p->patterns[it.elem].shape == shape)
			return it.elem;
	p->patterns = xgrow(p->patterns, &p->pattern_cap, p->pattern_cnt + 1, sizeof(*p->patterns));
	p->patterns[p->pattern_cnt] = (struct path_pattern){ .caller = caller, .shape = shape };
	index_add(&p->pattern_index, hash, (uint32_t)p->pattern_cnt);
	return (uint32_t)p->pattern_cnt++;
}

struct root {
	uint32_t call, pattern;
};

static struct root *find_roots(struct paths *p, unsigned int flags)
{
	struct builder b = { .p = p, .flags = flags };
	struct root *roots = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < p->t->call_cnt; i++) {
		const struct call *c = &p->t->calls[i];
		struct path_pattern *pattern;
		uint32_t pattern_no;

		if (c->parent != CALL_NONE)
			continue;
		pattern_no = intern_pattern(p, c->caller, shape_of(&b, (uint32_t)i));
		pattern = &p->patterns[pattern_no];
		pattern->cnt++;
		pattern->total_ns += (uint64_t)(c->client_end_ns - c->client_start_ns);
		roots = xgrow(roots, &cap, p->root_cnt + 1, sizeof(*roots));
		roots[p->root_cnt++] = (struct root){ (uint32_t)i, pattern_no };
	}
	free(b.levels);
	free(b.forms);
	free(b.form_calls);
	return roots;
}

/* A pattern with its old number: ties keep the order of their first instances. */
struct ranked {
	struct path_pattern pattern;
	uint32_t number;
};

static int ranked_cmp(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->pattern.cnt != y->pattern.cnt)
		return x->pattern.cnt > y->pattern.cnt ? -1 : 1;
	if (x->pattern.total_ns != y->pattern.total_ns)
		return x->pattern.total_ns > y->pattern.total_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the patterns and groups the roots by them. Ties keep the order of their first instances. */
static void rank_patterns(struct paths *p, const struct root *roots)
{
	struct ranked *ranked = xcalloc(p->pattern_cnt, sizeof(*ranked));
	uint32_t *rank = xcalloc(p->pattern_cnt + 1, sizeof(*rank));
	uint32_t at = 0;

	for (size_t i = 0; i < p->pattern_cnt; i++)
		ranked[i] = (struct ranked){ p->patterns[i], (uint32_t)i };
	qsort(ranked, p->pattern_cnt, sizeof(*ranked), ranked_cmp);
	for (size_t i = 0; i < p->pattern_cnt; i++) {
		p->patterns[i] = ranked[i].pattern;
		p->patterns[i].first_root = at;
		at += p->patterns[i].cnt;
		rank[ranked[i].number] = (uint32_t)i;
	}
	free(ranked);
	p->roots = xmalloc((p->root_cnt + 1) * sizeof(*p->roots));
	for (size_t i = 0; i < p->root_cnt; i++)
		p->roots[p->patterns[rank[roots[i].pattern]].first_root++] = roots[i].call;
	for (size_t i = 0; i < p->pattern_cnt; i++)
		p->patterns[i].first_root -= p->patterns[i].cnt;
	free(rank);
	index_free(&p->pattern_index); /* its numbers are the old ones */
}

struct paths *paths__new(const struct msgtrace *t, unsigned int flags)
{
	struct paths *p = xzalloc(sizeof(*p));
	struct root *roots;

	p->t = t;
	link_children(p);
	roots = find_roots(p, flags);
	rank_patterns(p, roots);
	free(roots);
	return p;
}

void paths__free(struct paths *p)
{
	if (!p)
		return;
	free(p->first_child);
	free(p->next_child);
	free(p->shapes);
	free(p->subs);
	free(p->patterns);
	free(p->roots);
	index_free(&p->shape_index);
	index_free(&p->pattern_index);
	free(p);
}

size_t paths__instance(const struct paths *p, uint32_t root, uint32_t *calls, size_t cap)
{
	size_t cnt = 0;
	uint32_t at = root;

	while (cnt < cap) {
		calls[cnt++] = at;
		if (p->first_child[at] != CALL_NONE) {
			at = p->first_child[at];
			continue;
		}
		while (at != root && p->next_child[at] == CALL_NONE)
			at = p->t->calls[at].parent;
		if (at == root)
			break;
		at = p->next_child[at];
	}
	return cnt;
}

/* A place in the text of a shape: what of it is written. */
struct writing {
	uint32_t shape, next;
};

static const char *name_of(const struct paths *p, const char *const *names, uint32_t node)
{
	return names ? names[node] : msgtrace__node_name(p->t, node);
}

void paths__name(const struct paths *p, const struct path_pattern *pattern, struct buf *out)
{
	paths__name_as(p, pattern, NULL, out);
}

void paths__name_as(const struct paths *p, const struct path_pattern *pattern,
		    const char *const *names, struct buf *out)
{
	struct writing *stack = NULL;
	size_t cnt = 1, cap = 0;

	stack = xgrow(stack, &cap, 1, sizeof(*stack));
	stack[0] = (struct writing){ pattern->shape, 0 };
	buf_puts(out, name_of(p, names, pattern->caller));
	buf_puts(out, " > ");
	while (cnt) {
		struct writing *w = &stack[cnt - 1];
		const struct path_shape *s = &p->shapes[w->shape];

		if (!w->next)
			buf_puts(out, name_of(p, names, s->node));
		if (w->next < s->cnt) {
			uint32_t sub = p->subs[s->first + w->next];

			buf_putc(out, w->next++ ? ' ' : '(');
			stack = xgrow(stack, &cap, cnt + 1, sizeof(*stack));
			stack[cnt++] = (struct writing){ sub, 0 };
			continue;
		}
		if (s->cnt)
			buf_putc(out, ')');
		cnt--;
	}
	free(stack);
}
