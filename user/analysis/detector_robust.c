/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presence, robust spread, and the residual of a principal component analysis; see detector.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/detector_parts.h"
#include "user/base/mem.h"

enum {
	PCA_ROUNDS = 12,
};

static const double z_max = 8, mad_to_deviation = 1.4826, degrees = 3;

/* Values of each learned column, one column behind the other: off[c]..off[c + 1]. */
static double *by_column(const struct vector_set *set, uint32_t columns, size_t *off)
{
	double *values = xcalloc(set->cell_cnt + 1, sizeof(*values));
	size_t *at = xcalloc(columns + 1u, sizeof(*at));

	for (size_t r = 0; r < set->row_cnt; r++)
		for (size_t k = set->row_off[r]; k < set->row_off[r + 1]; k++)
			if (!detector_is_held_out(r))
				off[set->cells[k].column + 1]++;
	for (uint32_t c = 0; c < columns; c++) {
		off[c + 1] += off[c];
		at[c] = off[c];
	}
	for (size_t r = 0; r < set->row_cnt; r++)
		for (size_t k = set->row_off[r]; k < set->row_off[r + 1]; k++)
			if (!detector_is_held_out(r))
				values[at[set->cells[k].column]++] = set->cells[k].log_us;
	free(at);
	return values;
}

static void learn_columns(struct detector *d, const struct vector_set *set)
{
	size_t *off = xcalloc(d->columns + 2u, sizeof(*off)), rows = 0;
	size_t *counts = xcalloc(d->columns + 1u, sizeof(*counts));
	double *values = by_column(set, d->columns, off);

	for (size_t r = 0; r < set->row_cnt; r++)
		rows += !detector_is_held_out(r);
	for (uint32_t c = 0; c < d->columns; c++) {
		size_t cnt = off[c + 1] - off[c];
		double *v = values + off[c], center = detector_median(v, cnt), mad;

		for (size_t i = 0; i < cnt; i++)
			v[i] = fabs(v[i] - center);
		mad = detector_median(v, cnt) * mad_to_deviation;
		d->presence[c] = (float)(((double)cnt + 0.5) / ((double)rows + 1));
		d->center[c] = (float)center;
		d->spread[c] = (float)mad;
		counts[c] = cnt;
	}
	detector_shrink_spreads(d, counts);
	d->unknown_cost = log((double)rows + 1);
	free(values);
	free(counts);
	free(off);
}

static float standardised(const struct detector *d, const struct vector_cell *cell)
{
	double z = (cell->log_us - d->center[cell->column]) / d->spread[cell->column];

	return (float)(z > z_max ? z_max : z < -z_max ? -z_max : z);
}

static double dot_row(const struct detector *d, const struct vector_cell *cells, size_t cnt,
		      const float *component)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += (double)standardised(d, &cells[i]) * component[cells[i].column];
	return sum;
}

/* Makes component k orthogonal to those before it, and of length 1; false if nothing is left. */
static bool orthonormal(struct detector *d, uint32_t k)
{
	float *v = d->component + (size_t)k * d->columns;
	double norm = 0;

	for (uint32_t j = 0; j < k; j++) {
		const float *u = d->component + (size_t)j * d->columns;
		double dot = 0;

		for (uint32_t c = 0; c < d->columns; c++)
			dot += (double)v[c] * u[c];
		for (uint32_t c = 0; c < d->columns; c++)
			v[c] -= (float)(dot * u[c]);
	}
	for (uint32_t c = 0; c < d->columns; c++)
		norm += (double)v[c] * v[c];
	norm = sqrt(norm);
	for (uint32_t c = 0; c < d->columns && norm > 1e-9; c++)
		v[c] = (float)(v[c] / norm);
	return norm > 1e-9;
}

/* Subspace iteration over the sparse rows (a missing path is 0, the mean): no d x d matrix. */
static void learn_components(struct detector *d, const struct vector_set *set)
{
	uint32_t k = d->columns < DETECTOR_COMPONENTS_MAX ? d->columns : DETECTOR_COMPONENTS_MAX;
	size_t bytes = (size_t)k * d->columns * sizeof(float);
	float *next = xcalloc((size_t)k * d->columns + 1, sizeof(*next));
	uint64_t x = 88172645463325252u;

	d->component = xcalloc((size_t)k * d->columns + 1, sizeof(*d->component));
	for (size_t i = 0; i < (size_t)k * d->columns; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		d->component[i] = (float)((double)(x >> 11) * 0x1p-53 - 0.5);
	}
	d->components = 0;
	for (int round = 0; round < PCA_ROUNDS; round++) {
		d->components = 0;
		for (uint32_t j = 0; j < k && orthonormal(d, j); j++)
			d->components++;
		if (round == PCA_ROUNDS - 1)
			break;
		memset(next, 0, bytes);
		for (size_t r = 0; r < set->row_cnt; r++) {
			const struct vector_cell *cells = set->cells + set->row_off[r];
			size_t cnt = set->row_off[r + 1] - set->row_off[r];

			for (uint32_t j = 0; j < d->components && !detector_is_held_out(r); j++) {
				float *to = next + (size_t)j * d->columns;
				double dot = dot_row(d, cells, cnt,
						     d->component + (size_t)j * d->columns);

				for (size_t i = 0; i < cnt; i++)
					to[cells[i].column] +=
						(float)(dot * standardised(d, &cells[i]));
			}
		}
		memcpy(d->component, next, bytes);
	}
	free(next);
}

/* Presence and times: -ln p of every path there and missing, and the tail of Student's t for each time. */
static double likelihood_part(struct detector *d, const struct vector_cell *cells, size_t cnt,
			      double *amounts)
{
	double sum = 0;
	size_t at = 0;

	for (uint32_t c = 0; c < d->columns; c++) {
		bool present = at < cnt && cells[at].column == c;
		double amount = -log(present ? d->presence[c] : 1 - d->presence[c]);

		if (present) {
			double z = (cells[at].log_us - d->center[c]) / d->spread[c];

			amount += (degrees + 1) / 2 * log1p(z * z / degrees);
			at++;
		}
		if (amounts)
			amounts[c] = amount;
		sum += amount;
	}
	return sum;
}

static double residual_part(struct detector *d, const struct vector_cell *cells, size_t cnt)
{
	double left = 0;

	for (size_t i = 0; i < cnt; i++)
		left += (double)standardised(d, &cells[i]) * standardised(d, &cells[i]);
	for (uint32_t j = 0; j < d->components; j++) {
		double dot = dot_row(d, cells, cnt, d->component + (size_t)j * d->columns);

		left -= dot * dot;
	}
	return left > 0 ? sqrt(left) : 0;
}

static double worst_part(const struct detector *d, const struct vector_cell *cells, size_t cnt)
{
	double worst = 0;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t c = cells[i].column;
		double z = fabs((double)cells[i].log_us - d->center[c]) / d->spread[c];

		worst = z > worst ? z : worst;
	}
	return worst;
}

void robust_parts(struct detector *d, const struct detector_row *row, double *parts,
		  double *amounts)
{
	parts[0] = likelihood_part(d, row->cells, row->cnt, amounts) +
		   row->unknown_cnt * d->unknown_cost;
	parts[1] = residual_part(d, row->cells, row->cnt);
	parts[2] = worst_part(d, row->cells, row->cnt);
}

void robust_train(struct detector *d, const struct vector_set *set)
{
	learn_columns(d, set);
	learn_components(d, set);
}
