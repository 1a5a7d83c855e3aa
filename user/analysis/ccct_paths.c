/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames and call paths of a ccct: interned, found, ordered, printed. See ccct.h. */
#include <stdlib.h>
#include <string.h>

#include "user/analysis/ccct.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

static struct ccct_seen *grow_seen(struct ccct_seen *seen, size_t *cap, size_t need)
{
	size_t old = *cap;

	if (need <= old)
		return seen;
	seen = xgrow(seen, cap, need, sizeof(*seen));
	memset(seen + old, 0, (*cap - old) * sizeof(*seen));
	return seen;
}

static uint32_t find_frame(const struct ccct *c, uint32_t service_sid, uint32_t operation_sid)
{
	struct index_iter it = index_find(&c->frame_index, hash_pair(service_sid, operation_sid));

	for (; index_hit(&c->frame_index, &it); index_next(&c->frame_index, &it))
		if (c->frames[it.elem].service_sid == service_sid &&
		    c->frames[it.elem].operation_sid == operation_sid)
			return it.elem;
	return SPAN_NONE;
}

static uint32_t find_path(const struct ccct *c, uint32_t parent, uint32_t frame)
{
	struct index_iter it = index_find(&c->path_index, hash_pair(parent, frame));

	for (; index_hit(&c->path_index, &it); index_next(&c->path_index, &it))
		if (c->paths[it.elem].parent == parent && c->paths[it.elem].frame == frame)
			return it.elem;
	return SPAN_NONE;
}

static uint32_t frame_of(struct ccct *c, uint32_t service_sid, uint32_t operation_sid)
{
	uint32_t frame = find_frame(c, service_sid, operation_sid);

	if (frame != SPAN_NONE)
		return frame;
	c->frames = xgrow(c->frames, &c->frame_cap, c->frame_cnt + 1, sizeof(*c->frames));
	c->frames[c->frame_cnt] = (struct ccct_frame){ service_sid, operation_sid, 0 };
	index_add(&c->frame_index, hash_pair(service_sid, operation_sid), (uint32_t)c->frame_cnt);
	c->frame_seen = grow_seen(c->frame_seen, &c->frame_seen_cap, c->frame_cnt + 1);
	return (uint32_t)c->frame_cnt++;
}

uint32_t ccct__frame(struct ccct *c, const char *service, const char *operation)
{
	return frame_of(c, strtab_add(&c->strings, service), strtab_add(&c->strings, operation));
}

uint32_t ccct__path(struct ccct *c, uint32_t parent, uint32_t frame)
{
	uint64_t hash = hash_pair(parent, frame);
	struct index_iter it = index_find(&c->path_index, hash);

	for (; index_hit(&c->path_index, &it); index_next(&c->path_index, &it))
		if (c->paths[it.elem].parent == parent && c->paths[it.elem].frame == frame)
			return it.elem;
	c->paths = xgrow(c->paths, &c->path_cap, c->path_cnt + 1, sizeof(*c->paths));
	c->paths[c->path_cnt] = (struct ccct_path){ .parent = parent, .frame = frame };
	index_add(&c->path_index, hash, (uint32_t)c->path_cnt);
	c->path_seen = grow_seen(c->path_seen, &c->path_seen_cap, c->path_cnt + 1);
	return (uint32_t)c->path_cnt++;
}

uint32_t ccct__find_path(const struct ccct *c, uint32_t parent, const char *service,
			 const char *operation)
{
	uint32_t service_sid = strtab_find(&c->strings, service, strlen(service));
	uint32_t operation_sid = strtab_find(&c->strings, operation, strlen(operation));
	uint32_t frame;

	if (service_sid == UINT32_MAX || operation_sid == UINT32_MAX)
		return SPAN_NONE;
	frame = find_frame(c, service_sid, operation_sid);
	return frame == SPAN_NONE ? SPAN_NONE : find_path(c, parent, frame);
}

int ccct__compare_frames(const struct ccct *c, uint32_t a, uint32_t b)
{
	const struct ccct_frame *x = &c->frames[a], *y = &c->frames[b];
	int by_service = strcmp(strtab_get(&c->strings, x->service_sid),
				strtab_get(&c->strings, y->service_sid));

	return by_service ? by_service :
			    strcmp(strtab_get(&c->strings, x->operation_sid),
				   strtab_get(&c->strings, y->operation_sid));
}

static size_t path_depth(const struct ccct *c, uint32_t path)
{
	size_t depth = 0;

	for (; path != SPAN_NONE; path = c->paths[path].parent)
		depth++;
	return depth;
}

static int compare_unranked(const struct ccct *c, uint32_t a, uint32_t b)
{
	size_t depth_a = path_depth(c, a), depth_b = path_depth(c, b);
	size_t da = depth_a, db = depth_b;

	if (a == b)
		return 0;
	for (; da > db; da--)
		a = c->paths[a].parent;
	for (; db > da; db--)
		b = c->paths[b].parent;
	if (a == b)
		return depth_a < depth_b ? -1 : 1;
	while (c->paths[a].parent != c->paths[b].parent) {
		a = c->paths[a].parent;
		b = c->paths[b].parent;
	}
	return ccct__compare_frames(c, c->paths[a].frame, c->paths[b].frame);
}

static int by_frame_text(const void *a, const void *b, void *arg)
{
	return ccct__compare_frames(arg, *(const uint32_t *)a, *(const uint32_t *)b);
}

struct path_key {
	uint32_t parent_plus_1, frame_rank, path;
};

static int by_key(const void *a, const void *b)
{
	const struct path_key *x = a, *y = b;

	if (x->parent_plus_1 != y->parent_plus_1)
		return x->parent_plus_1 < y->parent_plus_1 ? -1 : 1;
	return x->frame_rank < y->frame_rank ? -1 : x->frame_rank > y->frame_rank;
}

/* Children of each path side by side, in the order of their frames' texts; then a walk, depth first. */
static void walk_paths(struct ccct *c, struct path_key *keys, const uint32_t *first)
{
	uint32_t *stack = xcalloc(c->path_cnt + 1, sizeof(*stack));
	size_t depth = 0;
	uint32_t place = 0;

	for (uint32_t i = first[1]; i-- > first[0];)
		stack[depth++] = keys[i].path;
	while (depth) {
		uint32_t p = stack[--depth];

		c->path_rank[p] = place++;
		for (uint32_t i = first[p + 2]; i-- > first[p + 1];)
			stack[depth++] = keys[i].path;
	}
	free(stack);
}

void ccct__rank(struct ccct *c)
{
	uint32_t *order = xcalloc(c->frame_cnt + 1, sizeof(*order));
	uint32_t *frame_rank = xcalloc(c->frame_cnt + 1, sizeof(*frame_rank));
	uint32_t *first = xcalloc(c->path_cnt + 3, sizeof(*first)); /* by parent + 1 */
	struct path_key *keys = xcalloc(c->path_cnt + 1, sizeof(*keys));

	for (uint32_t i = 0; i < c->frame_cnt; i++)
		order[i] = i;
	if (c->frame_cnt)
		qsort_r(order, c->frame_cnt, sizeof(*order), by_frame_text, c);
	for (uint32_t i = 0; i < c->frame_cnt; i++)
		frame_rank[order[i]] = i;
	for (uint32_t i = 0; i < c->path_cnt; i++) {
		keys[i] = (struct path_key){ c->paths[i].parent + 1, frame_rank[c->paths[i].frame],
					     i };
		first[keys[i].parent_plus_1 + 1]++;
	}
	for (size_t i = 0; i < c->path_cnt + 1; i++)
		first[i + 1] += first[i];
	qsort(keys, c->path_cnt, sizeof(*keys), by_key);
	c->path_rank = xreallocarray(c->path_rank, c->path_cnt + 1, sizeof(*c->path_rank));
	walk_paths(c, keys, first);
	c->ranked_cnt = c->path_cnt;
	free(order);
	free(frame_rank);
	free(first);
	free(keys);
}

uint32_t *ccct__entries_of(const struct ccct *c)
{
	uint32_t *entry = xcalloc(c->path_cnt + 1, sizeof(*entry));

	for (uint32_t i = 0; i < c->path_cnt; i++) /* parents come first */
		entry[i] = c->paths[i].parent == SPAN_NONE ? i : entry[c->paths[i].parent];
	return entry;
}

int ccct__compare_paths(const struct ccct *c, uint32_t a, uint32_t b)
{
	if (c->ranked_cnt == c->path_cnt && a != b)
		return c->path_rank[a] < c->path_rank[b] ? -1 : 1;
	return compare_unranked(c, a, b);
}

void ccct__put_frame(const struct ccct *c, uint32_t frame, bool folded, struct buf *out)
{
	size_t at = out->len_bytes;

	buf_printf(out, "[%s] %s", strtab_get(&c->strings, c->frames[frame].service_sid),
		   strtab_get(&c->strings, c->frames[frame].operation_sid));
	for (; folded && at < out->len_bytes; at++)
		if (out->data[at] == ';' || (unsigned char)out->data[at] < ' ')
			out->data[at] = '_';
}

void ccct__put_path(const struct ccct *c, uint32_t path, const char *separator, struct buf *out)
{
	size_t depth = path_depth(c, path);
	uint32_t *chain = xcalloc(depth + 1, sizeof(*chain));

	for (size_t i = depth; i-- > 0; path = c->paths[path].parent)
		chain[i] = c->paths[path].frame;
	for (size_t i = 0; i < depth; i++) {
		if (i)
			buf_puts(out, separator);
		ccct__put_frame(c, chain[i], *separator == ';', out);
	}
	free(chain);
}
