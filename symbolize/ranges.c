/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/ranges.h"
#include "user/base/mem.h"

#define INDEX_MIN	 64 /* fewer ranges are searched as fast without */
#define BLOCKS_PER_RANGE 8
#define BUCKET_CNT	 ((size_t)1024)
#define ORDER_CNT	 16384

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
	while (span >> r->block_shift > BLOCKS_PER_RANGE * r->cnt)
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

/* Which items may hold addr: none, or [*low, *high) and the first one behind. */
static bool bounds(const struct ranges *r, uint64_t addr, size_t *low, size_t *high)
{
	uint64_t block;

	*low = 0;
	*high = r->cnt;
	if (!r->blocks)
		return true;
	block = (addr - r->items[0].start) >> r->block_shift;
	if (addr < r->items[0].start || block >= r->block_cnt)
		return false;
	*low = r->blocks[block];
	*high = r->blocks[block + 1];
	return true;
}

/* The place of the first item that ends behind addr. */
static size_t search(const struct range *items, size_t low, size_t high, uint64_t addr)
{
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t low, high;

	if (!bounds(r, addr, &low, &high))
		return NULL;
	low = search(r->items, low, high, addr);
	return low < r->cnt && r->items[low].start <= addr ? &r->items[low] : NULL;
}

struct buckets {
	uint64_t first;
	unsigned int shift;
	uint32_t starts[BUCKET_CNT + 1];
};

static size_t bucket_of(const struct buckets *b, uint64_t addr)
{
	uint64_t bucket = (addr - b->first) >> b->shift;

	return bucket < BUCKET_CNT ? bucket : BUCKET_CNT - 1;
}

/* Roughly the order of addresses, so that neighbours are looked up one after the other, in memory that is at hand. */
static void order_addrs(const struct ranges *r, const uint64_t *addrs, size_t cnt, uint16_t *ret)
{
	struct buckets b = { .first = r->items[0].start, .shift = r->block_shift };

	while (r->block_cnt >> (b.shift - r->block_shift) >= BUCKET_CNT)
		b.shift++;
	for (size_t i = 0; i < cnt; i++)
		b.starts[bucket_of(&b, addrs[i]) + 1]++;
	for (size_t i = 1; i < BUCKET_CNT; i++)
		b.starts[i] += b.starts[i - 1];
	for (size_t i = 0; i < cnt; i++)
		ret[b.starts[bucket_of(&b, addrs[i])]++] = (uint16_t)i;
}

/* Of a few addresses in no order nobody can guess which have a range: that is no branch. */
static uint32_t number_of(const struct ranges *r, uint64_t addr)
{
	size_t low, high;

	if (!bounds(r, addr, &low, &high))
		return 0;
	low = search(r->items, low, high, addr);
	if (low >= r->cnt)
		return 0;
	return ((uint32_t)low + 1) & -(uint32_t)(r->items[low].start <= addr);
}

void ranges_find_all(const struct ranges *r, const uint64_t *addrs, size_t cnt, uint32_t *ret)
{
	uint16_t order[ORDER_CNT];

	while (cnt) {
		size_t n = cnt < ORDER_CNT ? cnt : ORDER_CNT;
		bool ordered = r->blocks && n >= BUCKET_CNT;

		if (ordered)
			order_addrs(r, addrs, n, order);
		for (size_t i = 0; i < n; i++) {
			size_t at = ordered ? order[i] : i;

			ret[at] = number_of(r, addrs[at]);
		}
		addrs += n;
		ret += n;
		cnt -= n;
	}
}

void ranges_free(struct ranges *r)
{
	free(r->items);
	free(r->blocks);
	memset(r, 0, sizeof(*r));
}
