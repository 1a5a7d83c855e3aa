/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/sort.h"

enum {
	DIGIT_BITS = 8,
	DIGIT_CNT = 1 << DIGIT_BITS,
};

static size_t digit_of(const struct sort_pair *p, unsigned int shift)
{
	return p->key >> shift & (DIGIT_CNT - 1);
}

static void sort_digit(const struct sort_pair *from, struct sort_pair *to, size_t cnt,
		       unsigned int shift)
{
	size_t starts[DIGIT_CNT + 1] = { 0 };

	for (size_t i = 0; i < cnt; i++)
		starts[digit_of(&from[i], shift) + 1]++;
	for (size_t i = 1; i < DIGIT_CNT; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < cnt; i++)
		to[starts[digit_of(&from[i], shift)]++] = from[i];
}

void sort_pairs(struct sort_pair *pairs, size_t cnt)
{
	struct sort_pair *other = xcalloc(cnt + 1, sizeof(*other));
	struct sort_pair *from = pairs, *to = other, *sorted;
	uint64_t different = 0;

	for (size_t i = 1; i < cnt; i++)
		different |= pairs[i].key ^ pairs[0].key;
	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(different >> shift & (DIGIT_CNT - 1)))
			continue;
		sort_digit(from, to, cnt, shift);
		sorted = to;
		to = from;
		from = sorted;
	}
	if (from != pairs)
		memcpy(pairs, from, cnt * sizeof(*pairs));
	free(other);
}
