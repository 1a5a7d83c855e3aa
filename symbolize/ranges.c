/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/ranges.h"
#include "user/base/mem.h"

#define INDEX_MIN 64 /* fewer ranges are searched as fast without */

void ranges_add(struct ranges *r, uint64_t start, uint64_t end, uint32_t id, uint32_t depth)
{
	if (end <= start)
		return;
	free(r->blocks);
	r->blocks = NULL;
	r->items = xgrow(r->items, &r->cap, r->cnt + 1, sizeof(*r->items));
	r->items[r->cnt++] = (struct range){ start, end, id, depth };
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void ranges_sort(struct ranges *r)
{
	if (r->cnt)
		qsort(r->items, r->cnt, sizeof(*r->items), compare);
}

struct flattening {
	const struct range *items;
	struct ranges out;
	uint32_t *open; /* ranges that hold the current address, the innermost one last */
	size_t open_cnt, open_cap;
	uint64_t at; /* everything below is written */
};

/* Writes the open ranges up to an address, from the innermost outwards, and closes those that end. */
static void write_until(struct flattening *f, uint64_t addr)
{
	while (f->open_cnt) {
		const struct range *r = &f->items[f->open[f->open_cnt - 1]];
		uint64_t end = r->end < addr ? r->end : addr;

		if (end > f->at) {
			ranges_add(&f->out, f->at, end, r->id, r->depth);
			f->at = end;
		}
		if (r->end > addr)
			return;
		f->open_cnt--;
	}
	f->at = addr;
}

/* Each range opens once and closes once: at most 2n come out. */
void ranges_flatten(struct ranges *r)
{
	struct flattening f = { .items = r->items };

	for (size_t i = 0; i < r->cnt; i++) {
		write_until(&f, r->items[i].start);
		f.open = xgrow(f.open, &f.open_cap, f.open_cnt + 1, sizeof(*f.open));
		f.open[f.open_cnt++] = (uint32_t)i;
	}
	write_until(&f, UINT64_MAX);
	free(f.open);
	ranges_free(r);
	*r = f.out;
}

void ranges_index(struct ranges *r)
{
	uint64_t first = r->cnt ? r->items[0].start : 0;
	uint64_t span = r->cnt ? r->items[r->cnt - 1].end - first : 0;
	size_t at = 0;

	free(r->blocks);
	r->blocks = NULL;
	if (r->cnt < INDEX_MIN)
		return;
	r->block_shift = 0;
	while (span >> r->block_shift > r->cnt)
		r->block_shift++;
	r->block_cnt = (span >> r->block_shift) + 1;
	r->blocks = xcalloc(r->block_cnt + 1, sizeof(*r->blocks));
	for (size_t i = 0; i <= r->block_cnt; i++) {
		uint64_t start = first + ((uint64_t)i << r->block_shift);

		while (at < r->cnt && (i == r->block_cnt || r->items[at].end <= start))
			at++;
		r->blocks[i] = (uint32_t)at;
	}
}

const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t low = 0, high = r->cnt;

	if (r->blocks) {
		uint64_t block = (addr - r->items[0].start) >> r->block_shift;

		if (addr < r->items[0].start || block >= r->block_cnt)
			return NULL;
		low = r->blocks[block];
		high = r->blocks[block + 1] + (r->blocks[block + 1] < r->cnt);
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->cnt && r->items[low].start <= addr ? &r->items[low] : NULL;
}

void ranges_free(struct ranges *r)
{
	free(r->items);
	free(r->blocks);
	memset(r, 0, sizeof(*r));
}
