/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns over time; see pathwindows.h. */
#include "user/analysis/pathwindows.h"

#include <stdlib.h>

#include "user/base/mem.h"

static int by_pattern_cmp(const void *a, const void *b)
{
	const struct pathwindow_entry *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

static int by_count_cmp(const void *a, const void *b)
{
	const struct pathwindow_entry *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

struct pathwindow_entry *pathwindows_count(const struct paths *p, int64_t window_ns,
					   size_t *ret_cnt, int64_t *ret_start_ns)
{
	struct pathwindow_entry *e = xcalloc(p->root_cnt + 1, sizeof(*e));
	int64_t start_ns = INT64_MAX;
	size_t cnt = 0, merged = 0;

	for (size_t i = 0; i < p->root_cnt; i++)
		if (p->t->calls[p->roots[i]].client_start_ns < start_ns)
			start_ns = p->t->calls[p->roots[i]].client_start_ns;
	for (size_t i = 0; i < p->pattern_cnt; i++)
		for (uint32_t k = 0; k < p->patterns[i].cnt; k++) {
			const struct call *c =
				&p->t->calls[p->roots[p->patterns[i].first_root + k]];

			e[cnt++] = (struct pathwindow_entry){
				(uint64_t)(c->client_start_ns - start_ns) / (uint64_t)window_ns,
				(uint32_t)i, 1, (uint64_t)(c->client_end_ns - c->client_start_ns)
			};
		}
	if (cnt)
		qsort(e, cnt, sizeof(*e), by_pattern_cmp);
	for (size_t i = 0; i < cnt; i++) {
		if (merged && !by_pattern_cmp(&e[merged - 1], &e[i])) {
			e[merged - 1].cnt++;
			e[merged - 1].total_ns += e[i].total_ns;
		} else {
			e[merged++] = e[i];
		}
	}
	if (merged)
		qsort(e, merged, sizeof(*e), by_count_cmp);
	*ret_cnt = merged;
	*ret_start_ns = p->root_cnt ? start_ns : 0;
	return e;
}

double pathwindow_burst(const struct paths *p, const struct pathwindow_entry *e,
			uint64_t window_cnt)
{
	double here = (double)e->cnt / (double)window_cnt;

	return here * (double)p->root_cnt / p->patterns[e->pattern].cnt;
}
