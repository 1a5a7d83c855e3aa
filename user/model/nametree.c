/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks as a tree of names; see nametree.h. */
#include "user/model/nametree.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/foldtext.h"
#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/model/builds.h"

static uint32_t add_node(struct nametree *t, uint32_t parent, uint32_t name)
{
	assert(t->cnt < UINT32_MAX - 1);
	if (t->cnt == t->cap)
		t->nodes = xgrow(t->nodes, &t->cap, t->cnt + 1, sizeof(*t->nodes));
	t->nodes[t->cnt] = (struct nametree_node){ .parent = parent, .name = name };
	return (uint32_t)t->cnt++;
}

void nametree_init(struct nametree *t)
{
	*t = (struct nametree){ 0 };
	add_node(t, 0, strtab_add(&t->names, ""));
}

void nametree_free(struct nametree *t)
{
	strtab_free(&t->names);
	index_free(&t->index);
	free(t->nodes);
	*t = (struct nametree){ 0 };
}

uint32_t nametree_child(struct nametree *t, uint32_t parent, uint32_t name)
{
	uint64_t hash = hash_u64((uint64_t)parent << 32 | name);
	struct index_iter it = index_find(&t->index, hash);
	uint32_t id;

	for (; index_hit(&t->index, &it); index_next(&t->index, &it))
		if (t->nodes[it.elem].parent == parent && t->nodes[it.elem].name == name)
			return it.elem;
	id = add_node(t, parent, name);
	index_add(&t->index, hash, id);
	return id;
}

const char *nametree_name(const struct nametree *t, uint32_t node)
{
	return strtab_get(&t->names, t->nodes[node].name);
}

/* Addresses differ between runs of one program: 0x7f12a0001000 becomes 0x... */
static void put_without_addresses(struct buf *out, const char *name)
{
	while (*name) {
		if (name[0] != '0' || name[1] != 'x' || !isxdigit((unsigned char)name[2])) {
			buf_putc(out, *name++);
			continue;
		}
		buf_puts(out, "0x...");
		name += 2;
		while (isxdigit((unsigned char)*name))
			name++;
	}
}

/* A function of an interpreted language is known by its file and line: names are used again and again. */
static void put_place(const struct profile *p, const struct frame *f, struct buf *out)
{
	const char *path = profile__str(p, f->file_sid), *slash = strrchr(path, '/');

	buf_printf(out, " %s", slash && slash[1] ? slash + 1 : path);
	if (f->line)
		buf_printf(out, ":%u", f->line);
}

static void put_suffix(const struct frame *f, struct buf *out)
{
	if (f->flags & FRAME_INLINED)
		buf_puts(out, "_[i]");
	else if (f->kind == FRAME_KERNEL)
		buf_puts(out, "_[k]");
	else if (f->kind == FRAME_JIT)
		buf_puts(out, "_[j]");
	else if (f->kind == FRAME_INTERPRETED)
		buf_puts(out, "_[p]");
}

void frame_label(const struct profile *p, uint32_t frame, unsigned int flags, struct buf *out)
{
	const struct frame *f = &p->frames.items[frame];
	const char *name = profile__str(p, f->name_sid);

	if (!*name) {
		name = model_name_reason(f->reason);
		buf_puts(out, *name ? name : "[unknown]");
		if (f->module_sid)
			buf_printf(out, " %s", profile__str(p, f->module_sid));
		if (f->function && !(flags & NAMETREE_NO_ADDRESSES))
			buf_printf(out, "+0x%" PRIx64, f->function);
	} else if (flags & NAMETREE_NO_ADDRESSES) {
		put_without_addresses(out, name);
	} else {
		buf_puts(out, name);
	}
	if (f->kind == FRAME_INTERPRETED && f->file_sid)
		put_place(p, f, out);
	else if (flags & NAMETREE_LINES && f->line && f->file_sid)
		buf_printf(out, " (%s:%" PRIu32 ")", profile__str(p, f->file_sid), f->line);
	if (flags & NAMETREE_SUFFIXES)
		put_suffix(f, out);
}

/* Where the stacks of the profile are in the tree, below one process name after the other. */
struct placement {
	struct nametree *tree;
	const struct profile *profile;
	uint32_t *name_of_frame; /* 1 + name id; 0 = not looked up yet */
	uint32_t *node_of_stack;
	uint32_t *root_of_stack; /* 1 + the root for which node_of_stack holds */
	unsigned int flags;
	struct buf text;
	uint32_t *path; /* frames still to be placed */
	size_t path_cap;
};

static bool starts_compare(const struct placement *pl, const struct frame *f)
{
	return !f->function || !pl->tree->builds || *profile__str(pl->profile, f->name_sid) ||
	       !builds_differ(pl->tree->builds, profile__str(pl->profile, f->module_sid));
}

static uint32_t frame_name(struct placement *pl, uint32_t frame)
{
	if (!pl->name_of_frame[frame]) {
		const struct frame *f = &pl->profile->frames.items[frame];
		unsigned int no_start = starts_compare(pl, f) ? 0 : NAMETREE_NO_ADDRESSES;

		buf_reset(&pl->text);
		frame_label(pl->profile, frame, pl->flags | no_start, &pl->text);
		pl->name_of_frame[frame] =
			1 + strtab_addn(&pl->tree->names, buf_str(&pl->text), pl->text.len_bytes);
	}
	return pl->name_of_frame[frame] - 1;
}

static uint32_t place_stack(struct placement *pl, uint32_t root, uint32_t stack)
{
	const struct stack *stacks = pl->profile->stacks.items;
	size_t depth = 0;
	uint32_t node = root, s;

	for (s = stack; s; s = stacks[s].parent) {
		if (pl->root_of_stack[s] == root + 1) {
			node = pl->node_of_stack[s];
			break;
		}
		if (depth == pl->path_cap)
			pl->path = xgrow(pl->path, &pl->path_cap, depth + 1, sizeof(*pl->path));
		pl->path[depth++] = s;
	}
	while (depth) {
		s = pl->path[--depth];
		node = nametree_child(pl->tree, node, frame_name(pl, stacks[s].frame));
		pl->node_of_stack[s] = node;
		pl->root_of_stack[s] = root + 1;
	}
	return node;
}

static uint32_t process_root(struct placement *pl, uint32_t process)
{
	const struct process *pr = &pl->profile->processes.items[process];
	const char *comm = profile__str(pl->profile, pr->comm_sid);

	if (pl->flags & NAMETREE_NO_PROCESS || !*comm)
		return 0;
	return nametree_child(pl->tree, 0, strtab_add(&pl->tree->names, comm));
}

static uint32_t kind_leaf(struct placement *pl, uint32_t node, int kind)
{
	if (!(pl->flags & NAMETREE_KINDS) || kind == KIND_NONE)
		return node;
	buf_reset(&pl->text);
	buf_printf(&pl->text, "[%s]", model_kind_name(kind));
	return nametree_child(pl->tree, node, strtab_add(&pl->tree->names, buf_str(&pl->text)));
}

struct by_root {
	uint32_t root, sum;
};

static int compare_roots(const void *a, const void *b)
{
	const struct by_root *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

void nametree_add_profile(struct nametree *t, const struct profile *p, unsigned int flags,
			  nametree_visit visit, void *ctx)
{
	struct placement pl = { .tree = t, .profile = p, .flags = flags };
	struct by_root *order = xcalloc(p->sums.cnt + 1, sizeof(*order));

	pl.name_of_frame = xcalloc(p->frames.cnt + 1, sizeof(*pl.name_of_frame));
	pl.node_of_stack = xcalloc(p->stacks.cnt + 1, sizeof(*pl.node_of_stack));
	pl.root_of_stack = xcalloc(p->stacks.cnt + 1, sizeof(*pl.root_of_stack));
	for (size_t i = 0; i < p->sums.cnt; i++) {
		order[i].root = process_root(&pl, p->sums.items[i].process);
		order[i].sum = (uint32_t)i;
	}
	qsort(order, p->sums.cnt, sizeof(*order), compare_roots);
	for (size_t i = 0; i < p->sums.cnt; i++) {
		const struct sum *s = &p->sums.items[order[i].sum];
		uint32_t node = place_stack(&pl, order[i].root, s->stack);

		node = kind_leaf(&pl, node, s->kind);
		if (visit)
			visit(ctx, s, node);
	}
	free(order);
	free(pl.name_of_frame);
	free(pl.node_of_stack);
	free(pl.root_of_stack);
	free(pl.path);
	buf_free(&pl.text);
}

struct sort_entry {
	uint32_t parent, node;
	const char *name;
};

static int compare_siblings(const void *a, const void *b)
{
	const struct sort_entry *x = a, *y = b;
	int c;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	c = strcmp(x->name, y->name);
	return c ? c : (x->node > y->node) - (x->node < y->node);
}

uint32_t *nametree_sorted(const struct nametree *t)
{
	struct sort_entry *e = xcalloc(t->cnt, sizeof(*e));
	uint32_t *first = xcalloc(t->cnt + 1, sizeof(*first)); /* of a parent's entries in e */
	uint32_t *ret = xcalloc(t->cnt, sizeof(*ret)), *todo = xcalloc(t->cnt, sizeof(*todo));
	size_t todo_cnt = 1, cnt = 0;

	for (size_t i = 1; i < t->cnt; i++) {
		e[i] = (struct sort_entry){ t->nodes[i].parent, (uint32_t)i,
					    nametree_name(t, (uint32_t)i) };
		first[t->nodes[i].parent + 1]++;
	}
	for (size_t i = 1; i <= t->cnt; i++)
		first[i] += first[i - 1];
	if (t->cnt > 1)
		qsort(e + 1, t->cnt - 1, sizeof(*e), compare_siblings);
	while (todo_cnt) {
		uint32_t node = todo[--todo_cnt];

		ret[cnt++] = node;
		for (uint32_t i = first[node + 1]; i > first[node];
		     i--) /* the first sibling on top */
			todo[todo_cnt++] = e[i].node;
	}
	free(e);
	free(first);
	free(todo);
	return ret;
}

void nametree_path(const struct nametree *t, uint32_t node, struct buf *out)
{
	uint32_t *path = NULL;
	size_t depth = 0, cap = 0;

	for (; node; node = t->nodes[node].parent) {
		if (depth == cap)
			path = xgrow(path, &cap, depth + 1, sizeof(*path));
		path[depth++] = node;
	}
	while (depth) {
		uint32_t name = t->nodes[path[--depth]].name;

		foldtext_escape(out, strtab_get(&t->names, name),
				strtab_len_bytes(&t->names, name));
		if (depth)
			buf_putc(out, ';');
	}
	free(path);
}
