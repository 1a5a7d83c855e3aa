/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of address ranges; see rows_range.h. */
#include "symbolize/rows_range.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
};

void rows_ranges_add(struct rows_ranges *list, struct rows_range r)
{
	if (list->cnt == list->cap)
		list->items = xgrow(list->items, &list->cap, list->cnt + 1, sizeof(r));
	list->items[list->cnt++] = r;
}

uint64_t rows_ranges_lowest(const struct rows_ranges *list)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].lo < lowest)
			lowest = list->items[i].lo;
	return lowest;
}

uint32_t rows_ranges_limit(struct rows_ranges *list, uint64_t base, uint64_t span_bytes)
{
	size_t kept = 0;
	uint32_t dropped;

	for (size_t i = 0; i < list->cnt; i++) {
		struct rows_range *r = &list->items[i];
		uint64_t off = r->lo - base;

		if (off >= span_bytes)
			continue;
		if (r->len_bytes > span_bytes - off)
			r->len_bytes = (uint32_t)(span_bytes - off);
		list->items[kept++] = *r;
	}
	dropped = (uint32_t)(list->cnt - kept);
	list->cnt = kept;
	return dropped;
}

static bool is_sorted(const struct rows_ranges *list)
{
	for (size_t i = 1; i < list->cnt; i++)
		if (list->items[i - 1].lo > list->items[i].lo)
			return false;
	return true;
}

static void sort_by_digit(const struct rows_range *from, struct rows_range *to, size_t cnt,
			  uint64_t base, int shift)
{
	uint32_t starts[DIGITS + 1] = { 0 };

	for (size_t i = 0; i < cnt; i++)
		starts[((from[i].lo - base) >> shift & (DIGITS - 1)) + 1]++;
	for (size_t d = 1; d <= DIGITS; d++)
		starts[d] += starts[d - 1];
	for (size_t i = 0; i < cnt; i++)
		to[starts[(from[i].lo - base) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Three passes of a radix sort: linear, stable, and several times faster here than qsort(3). */
void rows_ranges_sort(struct rows_ranges *list, uint64_t base)
{
	struct rows_range *other;

	if (is_sorted(list))
		return;
	other = xreallocarray(NULL, list->cap, sizeof(*other));
	for (int shift = 0; shift < 3 * DIGIT_BITS; shift += DIGIT_BITS) {
		struct rows_range *swap = list->items;

		sort_by_digit(list->items, other, list->cnt, base, shift);
		list->items = other;
		other = swap;
	}
	free(other);
}

void rows_ranges_free(struct rows_ranges *list)
{
	free(list->items);
	*list = (struct rows_ranges){ 0 };
}
