/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/perfmap.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

#define STRINGS_MAX_BYTES ((size_t)1 << 31)

struct entry {
	uint64_t start, end;
	uint32_t name;
	uint32_t line; /* later lines win */
};

struct sweep {
	struct entry *entries;
	size_t cnt, cap;
	uint64_t *edges; /* starts and ends */
	const struct entry *
		*heap; /* those that began; the latest line on top; ended ones leave late */
	size_t heap_cnt;
};

static void skip_prefix(struct text *t)
{
	if (text_len(*t) > 2 && t->at[0] == '0' && (t->at[1] | 0x20) == 'x')
		t->at += 2;
}

static bool parse_line(struct text *line, struct entry *e, struct text *name)
{
	uint64_t size_bytes;

	text_skip_blanks(line);
	skip_prefix(line);
	if (!text_hex(line, &e->start))
		return false;
	text_skip_blanks(line);
	skip_prefix(line);
	if (!text_hex(line, &size_bytes) || !size_bytes ||
	    __builtin_add_overflow(e->start, size_bytes, &e->end))
		return false;
	text_skip_blanks(line);
	while (line->end > line->at && strchr(" \t\r", line->end[-1]))
		line->end--;
	*name = *line;
	if (text_len(*name) > PERFMAP_NAME_MAX_BYTES)
		name->end = name->at + PERFMAP_NAME_MAX_BYTES;
	return text_len(*name) > 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_edges(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void heap_swap(struct sweep *s, size_t a, size_t b)
{
	const struct entry *e = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = e;
}

static void heap_push(struct sweep *s, const struct entry *e)
{
	size_t at = s->heap_cnt++;

	s->heap[at] = e;
	for (; at && s->heap[(at - 1) / 2]->line < s->heap[at]->line; at = (at - 1) / 2)
		heap_swap(s, at, (at - 1) / 2);
}

static void heap_pop(struct sweep *s)
{
	size_t at = 0, child;

	s->heap[0] = s->heap[--s->heap_cnt];
	while ((child = 2 * at + 1) < s->heap_cnt) {
		if (child + 1 < s->heap_cnt && s->heap[child + 1]->line > s->heap[child]->line)
			child++;
		if (s->heap[at]->line >= s->heap[child]->line)
			break;
		heap_swap(s, at, child);
		at = child;
	}
}

static void put_range(struct ranges *r, uint64_t start, uint64_t end, uint32_t name)
{
	struct range *last = r->cnt ? &r->items[r->cnt - 1] : NULL;

	if (last && last->end == start && last->id == name)
		last->end = end;
	else
		ranges_add(r, start, end, name, 0);
}

/* Between two neighbouring edges the set of covering entries does not change. */
static void sweep_edges(struct sweep *s, struct symtab *ret)
{
	size_t next = 0;

	for (size_t i = 0; i + 1 < 2 * s->cnt; i++) {
		uint64_t at = s->edges[i], end = s->edges[i + 1];

		while (next < s->cnt && s->entries[next].start <= at)
			heap_push(s, &s->entries[next++]);
		while (s->heap_cnt && s->heap[0]->end <= at)
			heap_pop(s);
		if (s->heap_cnt && end > at)
			put_range(&ret->ranges, at, end, s->heap[0]->name);
	}
}

static void build(struct sweep *s, struct symtab *ret)
{
	if (!s->cnt)
		return;
	qsort(s->entries, s->cnt, sizeof(*s->entries), compare_entries);
	s->edges = xcalloc(2 * s->cnt, sizeof(*s->edges));
	s->heap = xcalloc(s->cnt, sizeof(*s->heap));
	for (size_t i = 0; i < s->cnt; i++) {
		s->edges[2 * i] = s->entries[i].start;
		s->edges[2 * i + 1] = s->entries[i].end;
	}
	qsort(s->edges, 2 * s->cnt, sizeof(*s->edges), compare_edges);
	sweep_edges(s, ret);
	ranges_index(&ret->ranges);
}

void perfmap_parse(struct symtab *ret, const char *text, size_t len_bytes, size_t *skipped_cnt)
{
	struct text rest = { text, text + len_bytes }, line, name;
	struct sweep s = { 0 };

	memset(ret, 0, sizeof(*ret));
	*skipped_cnt = 0;
	while (text_line(&rest, &line)) {
		struct entry e = { 0 };

		if (!parse_line(&line, &e, &name) || s.cnt >= PERFMAP_ENTRIES_MAX ||
		    ret->strings.len_bytes + text_len(name) >= STRINGS_MAX_BYTES) {
			++*skipped_cnt;
			continue;
		}
		e.name = (uint32_t)ret->strings.len_bytes;
		e.line = (uint32_t)s.cnt;
		buf_append(&ret->strings, name.at, text_len(name));
		buf_putc(&ret->strings, '\0');
		s.entries = xgrow(s.entries, &s.cap, s.cnt + 1, sizeof(*s.entries));
		s.entries[s.cnt++] = e;
	}
	build(&s, ret);
	free(s.entries);
	free(s.edges);
	free(s.heap);
}
