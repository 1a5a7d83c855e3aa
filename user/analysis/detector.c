/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anomaly detectors over trace vectors; see detector.h. */
#include "user/analysis/detector.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/detector_parts.h"
#include "user/base/mem.h"

static const double threshold_quantile = 0.999;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double detector_median(double *values, size_t cnt)
{
	if (!cnt)
		return 0;
	qsort(values, cnt, sizeof(*values), by_value);
	return cnt % 2 ? values[cnt / 2] : (values[cnt / 2 - 1] + values[cnt / 2]) / 2;
}

void detector_shrink_spreads(struct detector *d, const size_t *counts)
{
	const double prior_cnt = 10, spread_min = 0.05;
	double *known = xcalloc(d->columns + 1u, sizeof(*known)), typical;
	size_t known_cnt = 0;

	for (uint32_t c = 0; c < d->columns; c++)
		if ((double)counts[c] >= 3 * prior_cnt)
			known[known_cnt++] = d->spread[c];
	typical = known_cnt ? detector_median(known, known_cnt) : 0.5;
	for (uint32_t c = 0; c < d->columns; c++) {
		double n = (double)counts[c], s = d->spread[c];
		double mixed = sqrt((n * s * s + prior_cnt * typical * typical) / (n + prior_cnt));

		mixed *= n > 0 ? sqrt(1 + 1 / n) : 2;
		d->spread[c] = (float)(mixed > spread_min ? mixed : spread_min);
	}
	free(known);
}

void detector__free(struct detector *d)
{
	free(d->presence);
	free(d->center);
	free(d->spread);
	free(d->component);
	free(d->w1);
	free(d->b1);
	free(d->w2);
	free(d->b2);
	free(d->row);
	*d = (struct detector){ 0 };
}

static double score_row(struct detector *d, const struct detector_row *row, double *amounts)
{
	double parts[DETECTOR_PARTS] = { 0 }, score = -HUGE_VAL;

	if (d->kind == DETECTOR_ROBUST)
		robust_parts(d, row, parts, amounts);
	else
		autoencoder_parts(d, row, parts, amounts);
	for (int i = 0; i < DETECTOR_PARTS; i++) {
		double p = (parts[i] - d->part_center[i]) / d->part_spread[i];

		score = p > score ? p : score;
	}
	return score;
}

static double high_quantile(double *values, size_t cnt)
{
	size_t rank = (size_t)ceil(threshold_quantile * (double)cnt);

	qsort(values, cnt, sizeof(*values), by_value);
	return cnt ? values[(rank ? rank : 1) - 1] : 0;
}

static struct detector_row row_of(const struct vector_set *set, size_t i)
{
	size_t cnt = set->row_off[i + 1] - set->row_off[i];

	return (struct detector_row){ cnt ? set->cells + set->row_off[i] : NULL, cnt, 0 };
}

/* Median and spread of each opinion over held-out rows. */
static void calibrate(struct detector *d, const struct vector_set *set, double *values)
{
	double *columns[DETECTOR_PARTS];
	size_t cnt = 0;

	for (int i = 0; i < DETECTOR_PARTS; i++)
		columns[i] = values + (size_t)i * set->row_cnt;
	for (size_t r = 0; r < set->row_cnt; r++) {
		struct detector_row row = row_of(set, r);
		double parts[DETECTOR_PARTS] = { 0 };

		if (!detector_is_held_out(r))
			continue;
		if (d->kind == DETECTOR_ROBUST)
			robust_parts(d, &row, parts, NULL);
		else
			autoencoder_parts(d, &row, parts, NULL);
		for (int i = 0; i < DETECTOR_PARTS; i++)
			columns[i][cnt] = parts[i];
		cnt++;
	}
	for (int i = 0; i < DETECTOR_PARTS; i++) {
		double center = detector_median(columns[i], cnt);
		double spread = high_quantile(columns[i], cnt) - center;

		d->part_center[i] = center;
		d->part_spread[i] = spread > 1e-6 ? spread : 1e-6;
	}
}

static void set_threshold(struct detector *d, const struct vector_set *set)
{
	double *values = xcalloc(DETECTOR_PARTS * set->row_cnt + 1, sizeof(*values));
	size_t cnt = 0;

	calibrate(d, set, values);
	for (size_t r = 0; r < set->row_cnt; r++) {
		struct detector_row row = row_of(set, r);

		if (detector_is_held_out(r))
			values[cnt++] = score_row(d, &row, NULL);
	}
	d->threshold = high_quantile(values, cnt);
	free(values);
}

int detector__train(struct detector *d, enum detector_kind kind, uint32_t columns,
		    const struct vector_set *set, struct err *err)
{
	if (set->row_cnt < DETECTOR_TRAIN_MIN)
		return err_set(err, -EINVAL, "training needs at least %d traces; there are %zu",
			       DETECTOR_TRAIN_MIN, set->row_cnt);
	if (columns > DETECTOR_COLUMNS_MAX)
		return err_set(err, -E2BIG,
			       "%u different call paths are more than a detector takes (%d)",
			       columns, DETECTOR_COLUMNS_MAX);
	*d = (struct detector){ .kind = kind, .columns = columns, .padded = (columns + 7) / 8 * 8 };
	d->presence = xcalloc(columns + 1u, sizeof(*d->presence));
	d->center = xcalloc(columns + 1u, sizeof(*d->center));
	d->spread = xcalloc(columns + 1u, sizeof(*d->spread));
	d->row = xcalloc(d->padded + 8u, sizeof(*d->row));
	if (kind == DETECTOR_ROBUST)
		robust_train(d, set);
	else
		autoencoder_train(d, set);
	set_threshold(d, set);
	return 0;
}

static void keep_reason(struct detector_reason *reasons, size_t *cnt, struct detector_reason r)
{
	size_t at = *cnt < DETECTOR_REASONS ? (*cnt)++ : DETECTOR_REASONS;

	for (; at > 0 && reasons[at - 1].amount < r.amount; at--)
		if (at < DETECTOR_REASONS)
			reasons[at] = reasons[at - 1];
	if (at < DETECTOR_REASONS)
		reasons[at] = r;
}

double detector__score(struct detector *d, const struct path_vector *v,
		       struct detector_reason *reasons, size_t *reason_cnt)
{
	double *amounts = reasons ? xcalloc(d->columns + 1u, sizeof(*amounts)) : NULL;
	struct detector_row row = { v->cells, v->cnt, v->unknown_cnt };
	double score = score_row(d, &row, amounts);
	size_t at = 0;

	if (!reasons)
		return score;
	*reason_cnt = 0;
	for (uint32_t c = 0; c < d->columns; c++) {
		struct detector_reason r = { .column = c,
					     .amount = amounts[c],
					     .expected_us = expm1(d->center[c]) };

		r.present = at < v->cnt && v->cells[at].column == c;
		if (r.present)
			r.seen_us = expm1(v->cells[at++].log_us);
		if (r.amount > 0)
			keep_reason(reasons, reason_cnt, r);
	}
	if (v->unknown_cnt)
		keep_reason(reasons, reason_cnt,
			    (struct detector_reason){ .column = SPAN_NONE,
						      .present = true,
						      .amount = v->unknown_cnt * d->unknown_cost });
	free(amounts);
	return score;
}

static void put_floats(struct buf *out, const float *v, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		wire_put_f32(out, v[i]);
}

/* cnt floats, or NULL (bad) if there are not that many. */
static float *get_floats(struct wire *w, size_t cnt)
{
	float *v;

	if (w->bad || cnt > (size_t)(w->end - w->at) / sizeof(float)) {
		w->bad = true;
		return NULL;
	}
	v = xcalloc(cnt + 8, sizeof(*v));
	for (size_t i = 0; i < cnt; i++)
		v[i] = wire_f32(w);
	return v;
}

void detector__put(const struct detector *d, struct buf *out)
{
	wire_put_u64(out, d->kind);
	wire_put_u64(out, d->columns);
	wire_put_f64(out, d->threshold);
	wire_put_f64(out, d->unknown_cost);
	put_floats(out, d->presence, d->columns);
	put_floats(out, d->center, d->columns);
	put_floats(out, d->spread, d->columns);
	for (int i = 0; i < DETECTOR_PARTS; i++) {
		wire_put_f64(out, d->part_center[i]);
		wire_put_f64(out, d->part_spread[i]);
	}
	if (d->kind == DETECTOR_ROBUST) {
		wire_put_u64(out, d->components);
		put_floats(out, d->component, (size_t)d->components * d->columns);
	} else {
		wire_put_u64(out, d->hidden);
		put_floats(out, d->w1, (size_t)d->padded * d->hidden);
		put_floats(out, d->b1, d->hidden);
		put_floats(out, d->w2, (size_t)d->hidden * d->padded);
		put_floats(out, d->b2, d->padded);
	}
}

void detector__get(struct detector *d, struct wire *w)
{
	*d = (struct detector){ .kind = wire_below(w, DETECTOR_KIND_MAX) };
	d->columns = wire_below(w, DETECTOR_COLUMNS_MAX + 1u);
	d->padded = (d->columns + 7) / 8 * 8;
	d->threshold = wire_f64(w);
	d->unknown_cost = wire_f64(w);
	d->presence = get_floats(w, d->columns);
	d->center = get_floats(w, d->columns);
	d->spread = get_floats(w, d->columns);
	for (int i = 0; i < DETECTOR_PARTS; i++) {
		d->part_center[i] = wire_f64(w);
		d->part_spread[i] = wire_f64(w);
		w->bad |= !(d->part_spread[i] > 0);
	}
	for (uint32_t i = 0; i < d->columns && !w->bad; i++)
		w->bad |= !(d->spread[i] > 0) || !(d->presence[i] > 0) || !(d->presence[i] < 1);
	if (d->kind == DETECTOR_ROBUST) {
		d->components = wire_below(w, DETECTOR_COMPONENTS_MAX + 1);
		d->component = get_floats(w, (size_t)d->components * d->columns);
	} else {
		d->hidden = wire_below(w, DETECTOR_HIDDEN_MAX + 1);
		w->bad |= d->hidden % 8 != 0;
		d->w1 = get_floats(w, (size_t)d->padded * d->hidden);
		d->b1 = get_floats(w, d->hidden);
		d->w2 = get_floats(w, (size_t)d->hidden * d->padded);
		d->b2 = get_floats(w, d->padded);
	}
	d->row = xcalloc(d->padded + 8u, sizeof(*d->row));
}
