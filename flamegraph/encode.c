/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data behind a picture; see encode.h. */
#include "flamegraph/encode.h"

#include <math.h>
#include <stdlib.h>

#include "flamegraph/metrics.h"
#include "user/base/mem.h"

static const double exact_max = 4503599627370496.0; /* 2^52 */

static bool all_whole(const struct flame_tree *t)
{
	for (size_t i = 0; i < t->cell_cnt; i++)
		if (t->cells[i].value != floor(t->cells[i].value))
			return false;
	return true;
}

static double pick_scale(const struct flame_tree *t, const struct flame_layout *l)
{
	double scale = all_whole(t) ? 1 : 1000;
	double largest = l->total;

	for (int s = 0; s < FLAME_SIDE_MAX; s++)
		if (flame_tree__total(t, 0, (enum flame_side)s) > largest)
			largest = flame_tree__total(t, 0, (enum flame_side)s);
	while (largest * scale > exact_max)
		scale /= 10;
	return scale;
}

static bool any_count(const struct flame_tree *t)
{
	for (size_t i = 0; i < t->cell_cnt; i++)
		if (t->cells[i].cnt)
			return true;
	return false;
}

void flame_encoding__init(struct flame_encoding *e, const struct flame_tree *t,
			  const struct flame_layout *l)
{
	*e = (struct flame_encoding){ .scale = pick_scale(t, l), .counts = any_count(t) };
	if (e->counts)
		e->cnts = flame_tree__counts(t, FLAME_AFTER);
	e->name_numbers = xcalloc(t->names.cnt + 1, sizeof(*e->name_numbers));
	for (size_t i = 0; i < l->box_cnt; i++) {
		uint32_t id = t->nodes[l->boxes[i].node].name;

		if (e->name_numbers[id])
			continue;
		e->names = xgrow(e->names, &e->name_cap, e->name_cnt + 1, sizeof(*e->names));
		e->names[e->name_cnt] = id;
		e->name_numbers[id] = (uint32_t)++e->name_cnt;
	}
}

void flame_encoding__put_names(const struct flame_encoding *e, const struct flame_tree *t,
			       struct buf *out)
{
	for (size_t i = 0; i < e->name_cnt; i++) {
		if (i)
			buf_putc(out, '\n');
		else if (!e->names[0]) /* the root */
			buf_puts(out, "all");
		flame_put_name(out, strtab_get(&t->names, e->names[i]),
			       strtab_len_bytes(&t->names, e->names[i]));
	}
}

void flame_encoding__put_digits(struct buf *out, double v)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint64_t left = v > 0 ? (uint64_t)v : 0;

	buf_reserve(out, 16);
	while (left > 31) {
		out->data[out->len_bytes++] = alphabet[32 | (left & 31)];
		left >>= 5;
	}
	out->data[out->len_bytes++] = alphabet[left];
}

static double scaled(const struct flame_encoding *e, double v)
{
	return floor(v * e->scale + 0.5);
}

static double self_of(const struct flame_tree *t, uint32_t node, const struct flame_opts *o)
{
	double after = flame_tree__self(t, node, FLAME_AFTER);
	double before = flame_tree__self(t, node, FLAME_BEFORE);

	if (o->width_by == FLAME_BY_AFTER)
		return after;
	return o->width_by == FLAME_BY_BEFORE || before > after ? before : after;
}

static void put_columns(const struct flame_encoding *e, const struct flame_tree *t, uint32_t node,
			struct buf *out)
{
	const double *row = &t->totals[(size_t)node * t->col_cnt];
	uint32_t mask = 0;

	if (t->col_cnt < 2)
		return;
	for (uint32_t i = 0; i < t->col_cnt; i++)
		mask |= (uint32_t)(row[i] > 0) << i;
	flame_encoding__put_digits(out, mask);
	for (uint32_t i = 0; i < t->col_cnt; i++)
		if (row[i] > 0)
			flame_encoding__put_digits(out, scaled(e, row[i]));
}

void flame_encoding__put_boxes(const struct flame_encoding *e, const struct flame_tree *t,
			       const struct flame_layout *l, const struct flame_colors *c,
			       const struct flame_opts *o, struct buf *out)
{
	double *cursor = xcalloc(l->depth_max + 2, sizeof(*cursor));
	uint32_t depth = 0;

	for (size_t i = 0; i < l->box_cnt; i++) {
		const struct flame_box *b = &l->boxes[i];
		double start = scaled(e, b->start), width = scaled(e, b->width);

		if (start < cursor[b->depth])
			start = cursor[b->depth]; /* rounding */
		flame_encoding__put_digits(out, i ? depth + 1 - b->depth : 0);
		depth = b->depth;
		flame_encoding__put_digits(out, e->name_numbers[t->nodes[b->node].name] - 1);
		flame_encoding__put_digits(out, start - cursor[depth]);
		flame_encoding__put_digits(out, c->of_box[i]);
		if (c->bar)
			flame_encoding__put_digits(out, c->bar[i]);
		flame_encoding__put_digits(out, width);
		flame_encoding__put_digits(out, scaled(e, self_of(t, b->node, o)));
		if (e->counts)
			flame_encoding__put_digits(out, (double)e->cnts[b->node]);
		put_columns(e, t, b->node, out);
		cursor[depth] = start + width;
		cursor[depth + 1] = start;
	}
	free(cursor);
}

void flame_encoding__fini(struct flame_encoding *e)
{
	free(e->name_numbers);
	free(e->names);
	free(e->cnts);
}
