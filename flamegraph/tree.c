/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a flame graph; see tree.h. A child always has a higher number than its parent, so sums go up
 * in one loop from the last node to the first; nothing here recurses, however deep the stacks are. */
#include "flamegraph/tree.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

static uint32_t new_node(struct flame_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t n = (uint32_t)t->node_cnt;

	t->nodes = xgrow(t->nodes, &t->node_cap, t->node_cnt + 1, sizeof(*t->nodes));
	t->nodes[t->node_cnt++] = (struct flame_node){ .parent = parent, .name = name };
	if (n) {
		t->nodes[n].next = t->nodes[parent].first;
		t->nodes[parent].first = n;
	}
	if (t->merge == FLAME_MERGE_CHART) {
		t->starts = xgrow(t->starts, &t->start_cap, t->node_cnt, sizeof(*t->starts));
		t->starts[n] = t->added;
	}
	return n;
}

struct flame_tree *flame_tree__new(enum flame_merge merge)
{
	struct flame_tree *t = xzalloc(sizeof(*t));

	t->merge = merge;
	new_node(t, 0, 0);
	return t;
}

void flame_tree__free(struct flame_tree *t)
{
	if (!t)
		return;
	strtab_free(&t->names);
	index_free(&t->index);
	free(t->nodes);
	free(t->cells);
	free(t->path);
	free(t->path_hash);
	free(t->path_guess);
	free(t->starts);
	free(t->totals);
	free(t);
}

static bool named(const struct flame_tree *t, uint32_t node, struct flame_str name)
{
	uint32_t id = t->nodes[node].name;

	/* straight from the table: this runs for every frame of every stack */
	return t->names.lens_bytes[id] == name.len_bytes &&
	       !memcmp(t->names.strs[id], name.s, name.len_bytes);
}

static uint32_t add_child(struct flame_tree *t, uint32_t parent, struct flame_str name,
			  uint64_t hash)
{
	uint32_t n = new_node(t, parent, strtab_addn(&t->names, name.s, name.len_bytes));

	index_add(&t->index, hash, n);
	return n;
}

/* Frame i of the stack below parent; see look_ahead. */
static uint32_t find_child(struct flame_tree *t, uint32_t parent, struct flame_str name, size_t i)
{
	uint32_t guess = t->path_guess[i];
	struct index_iter it;

	if (guess == UINT32_MAX)
		return add_child(t, parent, name, t->path_hash[i]);
	if (t->nodes[guess].parent == parent && named(t, guess, name))
		return guess;
	it = index_find(&t->index, t->path_hash[i]);
	for (; index_hit(&t->index, &it); index_next(&t->index, &it))
		if (t->nodes[it.elem].parent == parent && named(t, it.elem, name))
			return it.elem;
	return add_child(t, parent, name, t->path_hash[i]);
}

static void add_cell(struct flame_tree *t, uint32_t node, const struct flame_weight *w)
{
	uint32_t *link = &t->nodes[node].cell;
	struct flame_cell *c;

	while (*link) {
		c = &t->cells[*link - 1];
		if (c->cls == w->cls && c->side == w->side) {
			c->value += w->value;
			c->cnt += w->cnt;
			return;
		}
		link = &c->next;
	}
	*link = (uint32_t)t->cell_cnt + 1; /* before the array may move */
	t->cells = xgrow(t->cells, &t->cell_cap, t->cell_cnt + 1, sizeof(*t->cells));
	t->cells[t->cell_cnt++] = (struct flame_cell){
		.value = w->value,
		.cnt = w->cnt,
		.cls = w->cls < FLAME_CLASS_MAX ? w->cls : FLAME_NONE,
		.side = w->side < FLAME_SIDE_MAX ? w->side : FLAME_AFTER,
	};
}

/* A frame's hash is that of its whole path, so all of a stack's are known before the first look-up: slots of
 * the index, then nodes, are loaded side by side, where one look-up after the other would wait for memory
 * each time. Paths of one stack differ, so what is not in the index now is not put there before its turn. */
static void look_ahead(struct flame_tree *t, const struct flame_str *frames, size_t from,
		       size_t cnt)
{
	t->path_hash = xgrow(t->path_hash, &t->path_hash_cap, cnt + 1, sizeof(*t->path_hash));
	t->path_guess = xgrow(t->path_guess, &t->path_guess_cap, cnt + 1, sizeof(*t->path_guess));
	for (size_t i = from; i < cnt; i++) {
		uint64_t name_hash = hash_bytes(frames[i].s, frames[i].len_bytes);

		t->path_hash[i] = hash_pair(i ? t->path_hash[i - 1] : 0, name_hash);
		index_prefetch(&t->index, t->path_hash[i]);
		index_prefetch(&t->names.index, name_hash);
	}
	for (size_t i = from; i < cnt; i++) {
		struct index_iter it = index_find(&t->index, t->path_hash[i]);

		t->path_guess[i] = index_hit(&t->index, &it) ? it.elem : UINT32_MAX;
		if (t->path_guess[i] != UINT32_MAX)
			__builtin_prefetch(&t->nodes[t->path_guess[i]]);
	}
}

uint32_t flame_tree__add(struct flame_tree *t, const struct flame_str *frames, size_t frame_cnt,
			 const struct flame_weight *weights, size_t weight_cnt)
{
	uint32_t node = 0;
	size_t i = 0;

	while (i < frame_cnt && i < t->path_cnt && named(t, t->path[i], frames[i]))
		node = t->path[i++];
	t->path = xgrow(t->path, &t->path_cap, frame_cnt + 1, sizeof(*t->path));
	if (t->merge == FLAME_MERGE_ALL)
		look_ahead(t, frames, i, frame_cnt);
	for (; i < frame_cnt; i++) {
		if (t->merge == FLAME_MERGE_CHART)
			node = new_node(t, node,
					strtab_addn(&t->names, frames[i].s, frames[i].len_bytes));
		else
			node = find_child(t, node, frames[i], i);
		t->path[i] = node;
	}
	t->path_cnt = frame_cnt;
	for (size_t w = 0; w < weight_cnt; w++) {
		add_cell(t, node, &weights[w]);
		if (weights[w].side == FLAME_AFTER)
			t->added += weights[w].value;
	}
	return node;
}

uint32_t flame_tree__add_names(struct flame_tree *t, const char *const *names, size_t name_cnt,
			       const struct flame_weight *weights, size_t weight_cnt)
{
	struct flame_str *frames = xcalloc(name_cnt ? name_cnt : 1, sizeof(*frames));
	uint32_t node;

	for (size_t i = 0; i < name_cnt; i++)
		frames[i] = (struct flame_str){ names[i], strlen(names[i]) };
	node = flame_tree__add(t, frames, name_cnt, weights, weight_cnt);
	free(frames);
	return node;
}

/* Sorting ---------------------------------------------------------------------------------------------- */

struct sibling {
	uint64_t
		prefix; /* first eight bytes of the key, so that most comparisons touch nothing else */
	uint32_t node;
};

/* The key of a node is its name and one byte more: a blank if a stack ends in it, ";" if not. That is how
 * whole lines of folded text sort, and with it every frame stands where the field's scripts draw it. */
static unsigned char key_byte(const struct flame_tree *t, uint32_t node, size_t at)
{
	uint32_t name = t->nodes[node].name;
	size_t len_bytes = strtab_len_bytes(&t->names, name);

	if (at < len_bytes)
		return (unsigned char)strtab_get(&t->names, name)[at];
	if (at > len_bytes)
		return 0;
	return t->nodes[node].cell ? ' ' : ';';
}

static uint64_t key_prefix(const struct flame_tree *t, uint32_t node)
{
	uint32_t name = t->nodes[node].name;
	size_t len_bytes = strtab_len_bytes(&t->names, name);
	unsigned char bytes[8] = { 0 };
	uint64_t v = 0;

	memcpy(bytes, strtab_get(&t->names, name), len_bytes < 8 ? len_bytes : 8);
	if (len_bytes < 8)
		bytes[len_bytes] = key_byte(t, node, len_bytes);
	for (size_t i = 0; i < 8; i++)
		v = v << 8 | bytes[i];
	return v;
}

static int compare_siblings(const void *pa, const void *pb, void *ctx)
{
	const struct sibling *a = pa, *b = pb;
	const struct flame_tree *t = ctx;
	uint32_t na, nb;
	size_t la_bytes, lb_bytes, min_bytes;
	int rc;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	na = t->nodes[a->node].name;
	nb = t->nodes[b->node].name;
	la_bytes = strtab_len_bytes(&t->names, na);
	lb_bytes = strtab_len_bytes(&t->names, nb);
	min_bytes = la_bytes < lb_bytes ? la_bytes : lb_bytes;
	rc = memcmp(strtab_get(&t->names, na), strtab_get(&t->names, nb), min_bytes);
	if (rc)
		return rc;
	for (size_t i = min_bytes; i <= min_bytes + 1; i++) {
		rc = key_byte(t, a->node, i) - key_byte(t, b->node, i);
		if (rc)
			return rc;
	}
	return la_bytes < lb_bytes ? -1 : la_bytes > lb_bytes;
}

/* Children hang on their parent newest first; leaves them sorted. */
static void sort_children(struct flame_tree *t, uint32_t parent, struct sibling **tmp, size_t *cap)
{
	size_t cnt = 0;
	bool sorted = true;
	uint32_t next = 0;

	for (uint32_t n = t->nodes[parent].first; n; n = t->nodes[n].next) {
		*tmp = xgrow(*tmp, cap, cnt + 1, sizeof(**tmp));
		(*tmp)[cnt].node = n;
		(*tmp)[cnt++].prefix = t->merge == FLAME_MERGE_ALL ? key_prefix(t, n) : 0;
	}
	for (size_t i = 0; i < cnt / 2; i++) {
		struct sibling s = (*tmp)[i];

		(*tmp)[i] = (*tmp)[cnt - 1 - i];
		(*tmp)[cnt - 1 - i] = s;
	}
	for (size_t i = 1; i < cnt && t->merge == FLAME_MERGE_ALL && sorted; i++)
		sorted = compare_siblings(&(*tmp)[i - 1], &(*tmp)[i], t) <= 0;
	if (!sorted)
		qsort_r(*tmp, cnt, sizeof(**tmp), compare_siblings, t);
	for (size_t i = cnt; i--;) {
		t->nodes[(*tmp)[i].node].next = next;
		next = (*tmp)[i].node;
	}
	t->nodes[parent].first = next;
}

static void find_columns(struct flame_tree *t)
{
	for (size_t i = 0; i < t->cell_cnt; i++)
		t->cols[t->cells[i].side][t->cells[i].cls] = 1;
	for (int s = 0; s < FLAME_SIDE_MAX; s++)
		for (int c = 0; c < FLAME_CLASS_MAX; c++) {
			if (!t->cols[s][c])
				continue;
			t->col_side[t->col_cnt] = (uint8_t)s;
			t->col_class[t->col_cnt] = (uint8_t)c;
			t->cols[s][c] = (uint8_t)++t->col_cnt;
		}
}

void flame_tree__finish(struct flame_tree *t)
{
	struct sibling *tmp = NULL;
	size_t cap = 0;

	for (size_t n = 0; n < t->node_cnt; n++)
		if (t->nodes[n].first && t->nodes[t->nodes[n].first].next)
			sort_children(t, (uint32_t)n, &tmp, &cap);
	free(tmp);
	index_free(&t->index);
	find_columns(t);
	t->totals = xcalloc(t->node_cnt * (t->col_cnt ? t->col_cnt : 1), sizeof(*t->totals));
	for (size_t n = t->node_cnt; n--;) {
		double *row = &t->totals[n * t->col_cnt];
		double *up = &t->totals[(size_t)t->nodes[n].parent * t->col_cnt];

		for (uint32_t c = t->nodes[n].cell; c; c = t->cells[c - 1].next)
			row[t->cols[t->cells[c - 1].side][t->cells[c - 1].cls] - 1] +=
				t->cells[c - 1].value;
		for (uint32_t i = 0; n && i < t->col_cnt; i++)
			up[i] += row[i];
	}
}

/* Reading ---------------------------------------------------------------------------------------------- */

double flame_tree__class_total(const struct flame_tree *t, uint32_t node, enum flame_side side,
			       int cls)
{
	uint32_t col = t->cols[side][cls];

	return col ? t->totals[(size_t)node * t->col_cnt + col - 1] : 0;
}

double flame_tree__total(const struct flame_tree *t, uint32_t node, enum flame_side side)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->col_cnt; i++)
		if (t->col_side[i] == side)
			sum += t->totals[(size_t)node * t->col_cnt + i];
	return sum;
}

double flame_tree__self(const struct flame_tree *t, uint32_t node, enum flame_side side)
{
	double sum = 0;

	for (uint32_t c = t->nodes[node].cell; c; c = t->cells[c - 1].next)
		if (t->cells[c - 1].side == side)
			sum += t->cells[c - 1].value;
	return sum;
}

bool flame_tree__has_side(const struct flame_tree *t, enum flame_side side)
{
	for (int c = 0; c < FLAME_CLASS_MAX; c++)
		if (t->cols[side][c])
			return true;
	return false;
}

bool flame_tree__has_classes(const struct flame_tree *t)
{
	for (uint32_t i = 0; i < t->col_cnt; i++)
		if (t->col_class[i] != FLAME_NONE)
			return true;
	return false;
}

uint64_t *flame_tree__counts(const struct flame_tree *t, enum flame_side side)
{
	uint64_t *cnts = xcalloc(t->node_cnt, sizeof(*cnts));

	for (size_t n = t->node_cnt; n--;) {
		for (uint32_t c = t->nodes[n].cell; c; c = t->cells[c - 1].next)
			if (t->cells[c - 1].side == side)
				cnts[n] += t->cells[c - 1].cnt;
		if (n)
			cnts[t->nodes[n].parent] += cnts[n];
	}
	return cnts;
}
