/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two populations of traces against each other; see compare.h. */
#include "user/analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

const double compare_quantiles[COMPARE_QUANTILES] = { 0.50, 0.90, 0.95, 0.99 };

static const double z95 = 1.959964;

struct root_value {
	int64_t ns;
	uint64_t weight;
};

static int by_ns(const void *a, const void *b)
{
	const struct root_value *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static struct root_value *root_values(const struct ccct *c)
{
	struct root_value *v = xcalloc(c->group_cnt + 1, sizeof(*v));

	for (size_t i = 0; i < c->group_cnt; i++) {
		v[i].weight = c->groups[i].trace_cnt;
		v[i].ns = c->groups[i].root_ns / (int64_t)v[i].weight;
	}
	qsort(v, c->group_cnt, sizeof(*v), by_ns);
	return v;
}

/* The value at a rank (from 0, clamped). */
static int64_t at_rank(const struct root_value *v, size_t cnt, double rank)
{
	double at = 0;

	for (size_t i = 0; i < cnt; i++) {
		at += (double)v[i].weight;
		if (rank < at)
			return v[i].ns;
	}
	return cnt ? v[cnt - 1].ns : 0;
}

static void quantile(const struct root_value *v, const struct ccct *c, double q, int64_t *ret)
{
	double n = (double)c->trace_cnt, margin = z95 * sqrt(n * q * (1 - q));

	ret[0] = at_rank(v, c->group_cnt, ceil(n * q) - 1);
	ret[1] = at_rank(v, c->group_cnt, floor(n * q - margin) - 1);
	ret[2] = at_rank(v, c->group_cnt, ceil(n * q + margin) - 1);
}

static void fill_quantiles(struct comparison *x, const struct ccct *a, const struct ccct *b)
{
	struct root_value *va = root_values(a), *vb = root_values(b);

	for (int i = 0; i < COMPARE_QUANTILES; i++) {
		struct compare_quantile *q = &x->quantiles[i];
		int64_t ra[3], rb[3];

		quantile(va, a, compare_quantiles[i], ra);
		quantile(vb, b, compare_quantiles[i], rb);
		*q = (struct compare_quantile){ ra[0], ra[1], ra[2], rb[0], rb[1], rb[2] };
	}
	free(va);
	free(vb);
}

/* Moments of an operation's exclusive time per trace. */
struct moments {
	const char *service, *operation;
	double sum, squares;
};

static int by_name(const void *a, const void *b)
{
	const struct moments *x = a, *y = b;
	int by = strcmp(x->service, y->service);

	return by ? by : strcmp(x->operation, y->operation);
}

static struct moments *collect(const struct ccct *c)
{
	struct moments *m = xcalloc(c->frame_cnt + 1, sizeof(*m));
	double *sums = xcalloc(c->frame_cnt + 1, sizeof(*sums));

	for (size_t i = 0; i < c->frame_cnt; i++) {
		m[i].service = strtab_get(&c->strings, c->frames[i].service_sid);
		m[i].operation = strtab_get(&c->strings, c->frames[i].operation_sid);
	}
	for (size_t i = 0; i < c->group_cnt; i++) {
		const struct ccct_group *g = &c->groups[i];
		const struct ccct_cell *cells = g->cell_cnt ? c->cells + g->first_cell : NULL;

		for (uint32_t k = 0; k < g->cell_cnt; k++)
			sums[c->paths[cells[k].path].frame] += (double)cells[k].exclusive_ns;
		for (uint32_t k = 0; k < g->cell_cnt; k++) {
			uint32_t frame = c->paths[cells[k].path].frame;

			m[frame].sum += sums[frame];
			m[frame].squares += sums[frame] * sums[frame] / (double)g->trace_cnt;
			sums[frame] = 0; /* a frame on several paths counts once */
		}
	}
	free(sums);
	qsort(m, c->frame_cnt, sizeof(*m), by_name);
	return m;
}

static double mean(const struct moments *m, uint64_t n)
{
	return m && n ? m->sum / (double)n : 0;
}

/* Variance of the mean. */
static double mean_variance(const struct moments *m, uint64_t n)
{
	double v;

	if (!m || n < 2)
		return 0;
	v = (m->squares - m->sum * m->sum / (double)n) / (double)(n - 1);
	return v > 0 ? v / (double)n : 0;
}

static void add_row(struct comparison *x, const struct moments *named, const struct moments *a,
		    const struct moments *b)
{
	struct compare_row *r = &x->rows[x->row_cnt];
	double deviation = sqrt(mean_variance(a, x->a_cnt) + mean_variance(b, x->b_cnt));

	*r = (struct compare_row){ named->service,
				   named->operation,
				   mean(a, x->a_cnt),
				   mean(b, x->b_cnt),
				   0,
				   z95 * deviation,
				   1 };
	r->change_ns = r->b_ns - r->a_ns;
	if (!r->a_ns && !r->b_ns)
		return;
	if (deviation > 0)
		r->q = erfc(fabs(r->change_ns) / deviation / sqrt(2));
	else
		r->q = r->change_ns ? 0 : 1;
	x->row_cnt++;
}

static int by_q(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;

	if (x->q != y->q)
		return x->q < y->q ? -1 : 1;
	return strcmp(x->service, y->service) ? strcmp(x->service, y->service) :
						strcmp(x->operation, y->operation);
}

/* p values to q values (Benjamini and Hochberg). */
static void adjust(struct comparison *x)
{
	double least = 1;

	qsort(x->rows, x->row_cnt, sizeof(*x->rows), by_q);
	for (size_t i = x->row_cnt; i-- > 0;) {
		double q = x->rows[i].q * (double)x->row_cnt / (double)(i + 1);

		least = q < least ? q : least;
		x->rows[i].q = least;
	}
}

static int by_change(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;
	double cx = fabs(x->change_ns), cy = fabs(y->change_ns);

	if (cx != cy)
		return cx < cy ? 1 : -1;
	return by_q(a, b);
}

void comparison__fill(struct comparison *x, const struct ccct *a, const struct ccct *b)
{
	struct moments *ma = collect(a), *mb = collect(b);
	size_t i = 0, k = 0;

	*x = (struct comparison){ .a_cnt = a->trace_cnt, .b_cnt = b->trace_cnt };
	x->rows = xcalloc(a->frame_cnt + b->frame_cnt + 1, sizeof(*x->rows));
	fill_quantiles(x, a, b);
	while (i < a->frame_cnt || k < b->frame_cnt) {
		int by = i == a->frame_cnt ? 1 : k == b->frame_cnt ? -1 : by_name(&ma[i], &mb[k]);

		add_row(x, by <= 0 ? &ma[i] : &mb[k], by <= 0 ? &ma[i] : NULL,
			by >= 0 ? &mb[k] : NULL);
		i += by <= 0;
		k += by >= 0;
	}
	adjust(x);
	qsort(x->rows, x->row_cnt, sizeof(*x->rows), by_change);
	free(ma);
	free(mb);
}

void comparison__free(struct comparison *x)
{
	free(x->rows);
	*x = (struct comparison){ 0 };
}
