/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces as vectors; see vectors.h. */
#include "user/analysis/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

void vectorizer__free(struct vectorizer *v)
{
	ccct__free(&v->dict);
	free(v->sums_ns);
	free(v->path_of);
	free(v->stack);
	*v = (struct vectorizer){ 0 };
}

void path_vector__free(struct path_vector *v)
{
	free(v->cells);
	*v = (struct path_vector){ 0 };
}

/* The column below parent for a span; SPAN_NONE if it is unknown and not to be learned. */
static uint32_t column_of(struct vectorizer *v, const struct trace *t, uint32_t parent,
			  uint32_t span, bool learn)
{
	const char *service = trace__str(t, t->spans[span].service_sid);
	const char *operation = trace__str(t, t->spans[span].operation_sid);

	if (learn)
		return ccct__path(&v->dict, parent, ccct__frame(&v->dict, service, operation));
	return ccct__find_path(&v->dict, parent, service, operation);
}

static void add_time(struct vectorizer *v, struct path_vector *ret, uint32_t column, uint32_t span,
		     int64_t ns)
{
	size_t old = v->sums_cap;

	if (column == SPAN_NONE) {
		if (ret->unknown_cnt < VECTOR_UNKNOWN_KEPT)
			ret->unknown[ret->unknown_cnt] = span;
		ret->unknown_cnt++;
		return;
	}
	if (column >= old) {
		v->sums_ns = xgrow(v->sums_ns, &v->sums_cap, column + 1, sizeof(*v->sums_ns));
		for (size_t i = old; i < v->sums_cap; i++)
			v->sums_ns[i] = -1;
	}
	if (v->sums_ns[column] < 0) {
		ret->cells = xgrow(ret->cells, &ret->cap, ret->cnt + 1, sizeof(*ret->cells));
		ret->cells[ret->cnt++].column = column;
		v->sums_ns[column] = 0;
	}
	v->sums_ns[column] += ns > 0 ? ns : 0;
}

static void make_scpv(struct vectorizer *v, const struct spantree *t, const struct critpath *p,
		      bool learn, struct path_vector *ret)
{
	for (size_t i = 0; i < p->node_cnt; i++) {
		const struct path_node *n = &p->nodes[i];
		uint32_t parent = n->parent == SPAN_NONE ? SPAN_NONE : v->path_of[n->parent];
		bool lost = n->parent != SPAN_NONE && parent == SPAN_NONE;

		v->path_of[i] = lost ? SPAN_NONE : column_of(v, t->trace, parent, n->span, learn);
		add_time(v, ret, v->path_of[i], n->span, n->exclusive_ns);
	}
}

static void make_stv(struct vectorizer *v, const struct spantree *t, uint32_t root, bool learn,
		     struct path_vector *ret)
{
	size_t depth = 0;

	v->stack[depth++] = root;
	v->path_of[root] = column_of(v, t->trace, SPAN_NONE, root, learn);
	while (depth) {
		uint32_t i = v->stack[--depth];

		add_time(v, ret, v->path_of[i], i, t->end_ns[i] - t->start_ns[i]);
		for (uint32_t k = t->child_off[i]; k < t->child_off[i + 1]; k++) {
			uint32_t c = t->children[k];

			if (t->flags[c] & NODE_OUTSIDE)
				continue;
			v->path_of[c] = v->path_of[i] == SPAN_NONE ?
						SPAN_NONE :
						column_of(v, t->trace, v->path_of[i], c, learn);
			v->stack[depth++] = c;
		}
	}
}

static int by_column(const void *a, const void *b)
{
	const struct vector_cell *x = a, *y = b;

	return (x->column > y->column) - (x->column < y->column);
}

void vectorizer__make(struct vectorizer *v, const struct spantree *t, const struct critpath *p,
		      bool learn, struct path_vector *ret)
{
	size_t need = t->cnt > p->node_cnt ? t->cnt : p->node_cnt;

	if (need > v->path_cap) {
		v->path_cap = need + need / 2;
		v->path_of = xreallocarray(v->path_of, v->path_cap, sizeof(*v->path_of));
		v->stack = xreallocarray(v->stack, v->path_cap, sizeof(*v->stack));
	}
	ret->cnt = 0;
	ret->unknown_cnt = 0;
	if (v->kind == VECTOR_SCPV)
		make_scpv(v, t, p, learn, ret);
	else
		make_stv(v, t, p->nodes[0].span, learn, ret);
	for (size_t i = 0; i < ret->cnt; i++) {
		int64_t *sum_ns = &v->sums_ns[ret->cells[i].column];

		ret->cells[i].log_us = (float)log1p((double)*sum_ns / 1e3);
		*sum_ns = -1;
	}
	if (ret->cnt > 1)
		qsort(ret->cells, ret->cnt, sizeof(*ret->cells), by_column);
}

void vector_set__add(struct vector_set *s, const struct path_vector *v)
{
	size_t cap = s->row_cap;

	s->row_off = xgrow(s->row_off, &cap, s->row_cnt + 2, sizeof(*s->row_off));
	s->row_cap = cap;
	s->row_off[0] = 0;
	s->cells = xgrow(s->cells, &s->cell_cap, s->cell_cnt + v->cnt, sizeof(*s->cells));
	if (v->cnt)
		memcpy(s->cells + s->cell_cnt, v->cells, v->cnt * sizeof(*v->cells));
	s->cell_cnt += v->cnt;
	s->row_off[++s->row_cnt] = s->cell_cnt;
}

void vector_set__free(struct vector_set *s)
{
	free(s->cells);
	free(s->row_off);
	*s = (struct vector_set){ 0 };
}
