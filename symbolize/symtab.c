/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/symtab.h"
#include "user/base/mem.h"
#include "user/base/sort.h"

#define STRINGS_MAX_BYTES ((size_t)3 << 30) /* of two sections, and what is added */

void symtab_add_named(struct symtab_builder *b, const struct symtab_symbol *symbol)
{
	if (b->cnt >= SYMTAB_SYMBOLS_MAX) {
		b->dropped_cnt++;
		return;
	}
	b->symbols = xgrow(b->symbols, &b->cap, b->cnt + 1, sizeof(*b->symbols));
	b->symbols[b->cnt++] = *symbol;
}

void symtab_add(struct symtab_builder *b, const struct symtab_symbol *symbol, const char *name,
		size_t name_bytes)
{
	struct symtab_symbol s = *symbol;

	if (b->strings.len_bytes + name_bytes >= STRINGS_MAX_BYTES) {
		b->dropped_cnt++;
		return;
	}
	s.name = (uint32_t)b->strings.len_bytes;
	buf_append(&b->strings, name, name_bytes);
	b->strings.len_bytes++; /* with the NUL that stands behind */
	symtab_add_named(b, &s);
}

static int underscores(const char *name)
{
	return (int)strspn(name, "_");
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Rule 2: negative if a is the better name for their address. */
static int compare_rank(const struct symtab_symbol *a, const struct symtab_symbol *b,
			const char *strings)
{
	const char *x = strings + a->name, *y = strings + b->name;
	int diff = b->typed - a->typed;

	if (!diff)
		diff = (b->size_bytes > 0) - (a->size_bytes > 0);
	if (!diff)
		diff = (a->binding == 2) - (b->binding == 2);
	if (!diff)
		diff = underscores(x) - underscores(y);
	if (!diff)
		diff = a->binding - b->binding;
	if (!diff)
		diff = compare_u64(b->size_bytes, a->size_bytes);
	if (!diff)
		diff = compare_u64(strlen(x), strlen(y));
	return diff ? diff : strcmp(x, y);
}

/* Sorts, and leaves one symbol an address. */
static void keep_best(struct symtab_builder *b)
{
	struct sort_pair *order = xcalloc(b->cnt + 1, sizeof(*order));
	struct symtab_symbol *best = xcalloc(b->cnt + 1, sizeof(*best));
	size_t kept = 0;

	for (size_t i = 0; i < b->cnt; i++)
		order[i] = (struct sort_pair){ .key = b->symbols[i].start, .value = (uint32_t)i };
	sort_pairs(order, b->cnt);
	for (size_t i = 0; i < b->cnt; i++) {
		const struct symtab_symbol *s = &b->symbols[order[i].value];

		if (!kept || s->start != best[kept - 1].start)
			best[kept++] = *s;
		else if (compare_rank(s, &best[kept - 1], b->strings.data) < 0)
			best[kept - 1] = *s;
	}
	free(order);
	free(b->symbols);
	b->symbols = best;
	b->cap = b->cnt + 1;
	b->cnt = kept;
}

/* Rule 3: drops size-0 symbols inside of sized ones. */
static void drop_labels(struct symtab_builder *b)
{
	uint64_t sized_end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < b->cnt; i++) {
		const struct symtab_symbol *s = &b->symbols[i];

		if (!s->size_bytes && s->start < sized_end)
			continue;
		if (s->size_bytes && s->start + s->size_bytes > sized_end)
			sized_end = s->start + s->size_bytes;
		b->symbols[kept++] = *s;
	}
	b->cnt = kept;
}

/* Sizes for those of size 0: up to the next symbol, or the end of their section. */
static void extend_unsized(struct symtab_builder *b)
{
	for (size_t i = 0; i < b->cnt; i++) {
		struct symtab_symbol *s = &b->symbols[i];
		uint64_t end = s->limit;

		if (s->size_bytes)
			continue;
		if (i + 1 < b->cnt && b->symbols[i + 1].start < end)
			end = b->symbols[i + 1].start;
		s->size_bytes = end > s->start ? end - s->start : 1;
	}
}

/* Rule 4. */
static void flatten(struct symtab_builder *b, struct ranges *ret)
{
	for (size_t i = 0; i < b->cnt; i++) {
		const struct symtab_symbol *s = &b->symbols[i];

		ranges_add(ret, s->start, s->start + s->size_bytes, s->name, 0);
	}
	ranges_flatten(ret);
}

void symtab_build(struct symtab_builder *b, struct symtab *ret)
{
	memset(ret, 0, sizeof(*ret));
	keep_best(b);
	drop_labels(b);
	extend_unsized(b);
	flatten(b, &ret->ranges);
	ranges_index(&ret->ranges);
	ret->strings = b->strings;
	b->strings = (struct buf){ 0 };
	symtab_builder_free(b);
}

void symtab_builder_free(struct symtab_builder *b)
{
	free(b->symbols);
	buf_free(&b->strings);
	memset(b, 0, sizeof(*b));
}

const struct range *symtab_find(const struct symtab *t, uint64_t addr)
{
	return ranges_find(&t->ranges, addr);
}

const char *symtab_name(const struct symtab *t, const struct range *r)
{
	return t->strings.data + r->id;
}

bool symtab_check(const struct symtab *t)
{
	uint64_t at = 0;

	if (t->ranges.cnt && (!t->strings.len_bytes || t->strings.data[t->strings.len_bytes - 1]))
		return false;
	for (size_t i = 0; i < t->ranges.cnt; i++) {
		const struct range *r = &t->ranges.items[i];

		if (r->start < at || r->end <= r->start || r->id >= t->strings.len_bytes)
			return false;
		at = r->end;
	}
	return true;
}

void symtab_free(struct symtab *t)
{
	ranges_free(&t->ranges);
	buf_free(&t->strings);
	memset(t, 0, sizeof(*t));
}
