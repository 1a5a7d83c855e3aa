/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An autoencoder with one hidden layer; see detector.h. Plain loops over vectors of eight floats that the
 * compiler turns into SIMD: no library, and the same bits in every run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/detector_parts.h"
#include "user/base/mem.h"

enum {
	EPOCHS = 12,
	BATCH = 64,
	LANES = 8,
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

static const float missing = -1, value_max = 8, rate = 1e-3f;

/* y += a x, cnt a multiple of LANES. */
static void add_scaled(float *y, float a, const float *x, size_t cnt)
{
	for (size_t i = 0; i < cnt; i += LANES)
		*(lanes *)(y + i) += a * *(const lanes *)(x + i);
}

static float dot(const float *x, const float *y, size_t cnt)
{
	lanes sum = { 0 };
	float all = 0;

	for (size_t i = 0; i < cnt; i += LANES)
		sum += *(const lanes *)(x + i) * *(const lanes *)(y + i);
	for (int i = 0; i < LANES; i++)
		all += sum[i];
	return all;
}

/* Means and deviations of present values; presence. */
static void learn_columns(struct detector *d, const struct vector_set *set)
{
	double *sum = xcalloc(d->columns + 1u, sizeof(*sum));
	double *squares = xcalloc(d->columns + 1u, sizeof(*squares));
	size_t *cnt = xcalloc(d->columns + 1u, sizeof(*cnt)), rows = 0;

	for (size_t r = 0; r < set->row_cnt; r++) {
		if (detector_is_held_out(r))
			continue;
		rows++;
		for (size_t k = set->row_off[r]; k < set->row_off[r + 1]; k++) {
			const struct vector_cell *cell = &set->cells[k];

			sum[cell->column] += cell->log_us;
			squares[cell->column] += (double)cell->log_us * cell->log_us;
			cnt[cell->column]++;
		}
	}
	for (uint32_t c = 0; c < d->columns; c++) {
		double mean = cnt[c] ? sum[c] / (double)cnt[c] : 0;
		double variance = cnt[c] ? squares[c] / (double)cnt[c] - mean * mean : 0;

		d->presence[c] = (float)(((double)cnt[c] + 0.5) / ((double)rows + 1));
		d->center[c] = (float)mean;
		d->spread[c] = (float)sqrt(variance > 0 ? variance : 0);
	}
	detector_shrink_spreads(d, cnt);
	free(sum);
	free(squares);
	free(cnt);
}

static void fill_row(const struct detector *d, const struct vector_cell *cells, size_t cnt,
		     float *row)
{
	for (uint32_t c = 0; c < d->padded; c++)
		row[c] = c < d->columns ? missing : 0;
	for (size_t i = 0; i < cnt; i++) {
		uint32_t c = cells[i].column;
		float v = (cells[i].log_us - d->center[c]) / d->spread[c];

		row[c] = v > value_max ? value_max : v < -value_max ? -value_max : v;
	}
}

/* hidden = relu(x W1 + b1); out = hidden W2 + b2. */
static void forward(const struct detector *d, const float *row, float *hidden, float *out)
{
	memcpy(hidden, d->b1, d->hidden * sizeof(*hidden));
	for (uint32_t c = 0; c < d->columns; c++)
		if (row[c] != 0)
			add_scaled(hidden, row[c], d->w1 + (size_t)c * d->hidden, d->hidden);
	memcpy(out, d->b2, d->padded * sizeof(*out));
	for (uint32_t h = 0; h < d->hidden; h++) {
		hidden[h] = hidden[h] > 0 ? hidden[h] : 0;
		if (hidden[h] > 0)
			add_scaled(out, hidden[h], d->w2 + (size_t)h * d->padded, d->padded);
	}
}

/* One parameter block with its gradient and Adam's moments. */
struct block {
	float *value, *gradient, *m, *v;
	size_t cnt;
};

static struct block make_block(float *value, size_t cnt)
{
	struct block b = { .value = value, .cnt = cnt };

	b.gradient = xcalloc(cnt + LANES, sizeof(float));
	b.m = xcalloc(cnt + LANES, sizeof(float));
	b.v = xcalloc(cnt + LANES, sizeof(float));
	return b;
}

static void step(struct block *b, int t, float scale)
{
	const float b1 = 0.9f, b2 = 0.999f;
	float c1 = 1 / (1 - powf(b1, (float)t)), c2 = 1 / (1 - powf(b2, (float)t));

	for (size_t i = 0; i < b->cnt; i++) {
		float g = b->gradient[i] * scale;

		b->m[i] = b1 * b->m[i] + (1 - b1) * g;
		b->v[i] = b2 * b->v[i] + (1 - b2) * g * g;
		b->value[i] -= rate * (b->m[i] * c1) / (sqrtf(b->v[i] * c2) + 1e-8f);
	}
	memset(b->gradient, 0, b->cnt * sizeof(float));
}

enum {
	W1,
	B1,
	W2,
	B2,
	BLOCKS
};

struct training {
	struct detector *d;
	struct block blocks[BLOCKS];
	float *hidden, *out, *back;
	uint64_t random;
};

static uint64_t draw(struct training *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static float *random_weights(struct training *t, size_t cnt, double fan_in)
{
	float *w = xcalloc(cnt + LANES, sizeof(*w));
	double width = sqrt(6 / (fan_in + 1));

	for (size_t i = 0; i < cnt; i++)
		w[i] = (float)(((double)(draw(t) >> 11) * 0x1p-53 * 2 - 1) * width);
	return w;
}

/* Gradients of one row: out becomes the error. */
static void learn_row(struct training *t, const float *row)
{
	struct detector *d = t->d;

	forward(d, row, t->hidden, t->out);
	for (uint32_t c = 0; c < d->padded; c++)
		t->out[c] = c < d->columns ? t->out[c] - row[c] : 0;
	add_scaled(t->blocks[B2].gradient, 1, t->out, d->padded);
	for (uint32_t h = 0; h < d->hidden; h++) {
		t->back[h] = 0;
		if (t->hidden[h] <= 0)
			continue;
		add_scaled(t->blocks[W2].gradient + (size_t)h * d->padded, t->hidden[h], t->out,
			   d->padded);
		t->back[h] = dot(t->out, d->w2 + (size_t)h * d->padded, d->padded);
	}
	add_scaled(t->blocks[B1].gradient, 1, t->back, d->hidden);
	for (uint32_t c = 0; c < d->columns; c++)
		if (row[c] != 0)
			add_scaled(t->blocks[W1].gradient + (size_t)c * d->hidden, row[c], t->back,
				   d->hidden);
}

static void learn_epoch(struct training *t, const struct vector_set *set, uint32_t *order,
			int *steps)
{
	struct detector *d = t->d;
	int in_batch = 0;

	for (size_t i = set->row_cnt - 1; i > 0; i--) {
		size_t k = draw(t) % (i + 1);
		uint32_t swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (size_t i = 0; i < set->row_cnt; i++) {
		size_t r = order[i];

		if (!detector_is_held_out(r)) {
			fill_row(d, set->cells + set->row_off[r],
				 set->row_off[r + 1] - set->row_off[r], d->row);
			learn_row(t, d->row);
			in_batch++;
		}
		if (in_batch == BATCH || (in_batch && i + 1 == set->row_cnt)) {
			++*steps;
			for (int b = 0; b < BLOCKS; b++)
				step(&t->blocks[b], *steps, 1 / (float)in_batch);
			in_batch = 0;
		}
	}
}

void autoencoder_train(struct detector *d, const struct vector_set *set)
{
	struct training t = { .d = d, .random = 88172645463325252u };
	uint32_t *order = xcalloc(set->row_cnt, sizeof(*order));
	uint32_t half = d->columns / 2 / LANES * LANES;
	int steps = 0;

	d->hidden = half > DETECTOR_HIDDEN_MAX ? DETECTOR_HIDDEN_MAX : half < LANES ? LANES : half;
	learn_columns(d, set);
	d->w1 = random_weights(&t, (size_t)d->padded * d->hidden, d->columns);
	d->b1 = xcalloc(d->hidden + LANES, sizeof(float));
	d->w2 = random_weights(&t, (size_t)d->hidden * d->padded, d->hidden);
	d->b2 = xcalloc(d->padded + LANES, sizeof(float));
	t.blocks[W1] = make_block(d->w1, (size_t)d->padded * d->hidden);
	t.blocks[B1] = make_block(d->b1, d->hidden);
	t.blocks[W2] = make_block(d->w2, (size_t)d->hidden * d->padded);
	t.blocks[B2] = make_block(d->b2, d->padded);
	t.hidden = xcalloc(d->hidden + LANES, sizeof(float));
	t.back = xcalloc(d->hidden + LANES, sizeof(float));
	t.out = xcalloc(d->padded + LANES, sizeof(float));
	for (uint32_t i = 0; i < set->row_cnt; i++)
		order[i] = i;
	for (int e = 0; e < EPOCHS; e++)
		learn_epoch(&t, set, order, &steps);
	d->unknown_cost = (double)value_max * value_max / d->columns;
	for (int b = 0; b < BLOCKS; b++) {
		free(t.blocks[b].gradient);
		free(t.blocks[b].m);
		free(t.blocks[b].v);
	}
	free(t.hidden);
	free(t.back);
	free(t.out);
	free(order);
}

void autoencoder_parts(struct detector *d, const struct detector_row *row, double *parts,
		       double *amounts)
{
	float hidden[DETECTOR_HIDDEN_MAX + LANES];
	float *out = xcalloc(d->padded + LANES, sizeof(*out));
	double sum = 0, worst = 0;

	fill_row(d, row->cells, row->cnt, d->row);
	forward(d, d->row, hidden, out);
	for (uint32_t c = 0; c < d->columns; c++) {
		double e = (double)out[c] - d->row[c];

		if (amounts)
			amounts[c] = e * e / d->columns;
		worst = e * e > worst ? e * e : worst;
		sum += e * e;
	}
	free(out);
	parts[0] = sum / (d->columns ? d->columns : 1) + row->unknown_cnt * d->unknown_cost;
	parts[1] = worst;
}
