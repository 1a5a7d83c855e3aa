/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two traces of one system; see pathcompare.h. */
#include "user/analysis/pathcompare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/strtab.h"

#define SURE 3.0 /* standard errors: 0.3 % by chance */

struct comparison {
	const struct paths *a, *b;
	struct pathcompare *out;
	size_t cap;
};

static double error_of(const struct delay_stats *a, const struct delay_stats *b)
{
	double sd_a = delay_stats_sd_ns(a), sd_b = delay_stats_sd_ns(b);

	return sqrt(sd_a * sd_a / (double)a->cnt + sd_b * sd_b / (double)b->cnt);
}

static void add_row(struct comparison *c, struct pathcompare_row row, const struct delay_stats *a,
		    const struct delay_stats *b)
{
	if (!a->cnt || !b->cnt)
		return;
	row.mean_a_ns = a->mean_ns;
	row.mean_b_ns = b->mean_ns;
	row.error_ns = error_of(a, b);
	row.effect_ns = (b->mean_ns - a->mean_ns) * (double)b->cnt;
	c->out->rows = xgrow(c->out->rows, &c->cap, c->out->row_cnt + 1, sizeof(*c->out->rows));
	c->out->rows[c->out->row_cnt++] = row;
}

static void compare_pattern(struct comparison *c, uint32_t number_a, uint32_t number_b)
{
	size_t cnt_a, cnt_b;
	struct path_pos *a =
		paths__stats(c->a, &c->a->patterns[number_a], INT64_MIN, INT64_MAX, &cnt_a);
	struct path_pos *b =
		paths__stats(c->b, &c->b->patterns[number_b], INT64_MIN, INT64_MAX, &cnt_b);

	for (size_t i = 0; i < cnt_a && i < cnt_b; i++) {
		struct pathcompare_row row = { .pattern_a = number_a,
					       .pattern_b = number_b,
					       .pos = (uint32_t)i };

		add_row(c, row, &a[i].own, &b[i].own);
		row.is_delay = true;
		add_row(c, row, &a[i].delay, &b[i].delay);
	}
	free(a);
	free(b);
}

static int row_cmp(const void *x, const void *y)
{
	const struct pathcompare_row *a = x, *b = y;
	double left = fabs(a->effect_ns), right = fabs(b->effect_ns);

	if (left != right)
		return left > right ? -1 : 1;
	if (a->pattern_b != b->pattern_b)
		return a->pattern_b < b->pattern_b ? -1 : 1;
	if (a->pos != b->pos)
		return a->pos < b->pos ? -1 : 1;
	return a->is_delay - b->is_delay;
}

void pathcompare(const struct paths *a, const struct paths *b, uint32_t min_cnt,
		 struct pathcompare *ret)
{
	struct comparison c = { .a = a, .b = b, .out = ret };
	struct strtab names = { 0 };
	struct buf name = { 0 };
	size_t known;

	*ret = (struct pathcompare){ 0 };
	strtab_add(&names, "");
	for (size_t i = 0; i < a->pattern_cnt; i++) { /* pattern i of A gets id i + 1 */
		buf_reset(&name);
		paths__name(a, &a->patterns[i], &name);
		strtab_addn(&names, buf_str(&name), name.len_bytes);
	}
	known = names.cnt;
	for (size_t i = 0; i < b->pattern_cnt; i++) {
		uint32_t id;

		buf_reset(&name);
		paths__name(b, &b->patterns[i], &name);
		id = strtab_addn(&names, buf_str(&name), name.len_bytes);
		if (id >= known) {
			ret->only_b_cnt++;
			continue;
		}
		ret->both_cnt++;
		if (a->patterns[id - 1].cnt >= min_cnt && b->patterns[i].cnt >= min_cnt)
			compare_pattern(&c, id - 1, (uint32_t)i);
	}
	ret->only_a_cnt = a->pattern_cnt - ret->both_cnt;
	if (ret->row_cnt)
		qsort(ret->rows, ret->row_cnt, sizeof(*ret->rows), row_cmp);
	strtab_free(&names);
	buf_free(&name);
}

void pathcompare_free(struct pathcompare *c)
{
	free(c->rows);
	*c = (struct pathcompare){ 0 };
}

static void put_ns(struct buf *out, double ns, bool sign)
{
	struct buf text = { 0 };

	if (ns < 0)
		buf_putc(&text, '-');
	else if (sign)
		buf_putc(&text, '+');
	buf_put_duration(&text, (uint64_t)fabs(ns));
	buf_printf(out, " %10s", buf_str(&text));
	buf_free(&text);
}

static bool is_sure(const struct pathcompare_row *r)
{
	return fabs(r->mean_b_ns - r->mean_a_ns) > SURE * r->error_ns;
}

/* The call that a row is about: "WS2 > AP1", or the node alone. */
static void put_place(const struct paths *b, const struct pathcompare_row *r, struct buf *out)
{
	const struct path_pattern *pat = &b->patterns[r->pattern_b];
	size_t cnt;
	struct path_pos *pos = paths__stats(b, pat, INT64_MAX, INT64_MAX, &cnt);
	const char *node = msgtrace__node_name(b->t, pos[r->pos].node);

	if (r->is_delay) {
		const char *from = msgtrace__node_name(b->t, pos[pos[r->pos].parent].node);

		escape_terminal(out, from, strlen(from));
		buf_puts(out, " > ");
	}
	escape_terminal(out, node, strlen(node));
	free(pos);
}

void pathcompare_text(const struct paths *a, const struct paths *b, const struct pathcompare *c,
		      size_t top_cnt, struct buf *out)
{
	size_t shown = 0;

	(void)a;
	buf_printf(out, "%llu patterns in both, %llu in A only, %llu in B only\n\n",
		   (unsigned long long)c->both_cnt, (unsigned long long)c->only_a_cnt,
		   (unsigned long long)c->only_b_cnt);
	buf_printf(out, " %10s %10s %10s %10s %10s  %-22s %s\n", "A mean", "B mean", "change", "+-",
		   "effect", "where", "pattern");
	for (size_t i = 0; i < c->row_cnt && (!top_cnt || shown < top_cnt); i++) {
		const struct pathcompare_row *r = &c->rows[i];
		struct buf place = { 0 }, name = { 0 };

		if (!is_sure(r))
			continue;
		shown++;
		put_ns(out, r->mean_a_ns, false);
		put_ns(out, r->mean_b_ns, false);
		put_ns(out, r->mean_b_ns - r->mean_a_ns, true);
		put_ns(out, 1.96 * r->error_ns, false);
		put_ns(out, r->effect_ns, true);
		put_place(b, r, &place);
		paths__name(b, &b->patterns[r->pattern_b], &name);
		buf_printf(out, "  %-15s %-6s ", buf_str(&place), r->is_delay ? "call" : "own");
		escape_terminal(out, buf_str(&name), name.len_bytes);
		buf_putc(out, '\n');
		buf_free(&place);
		buf_free(&name);
	}
	if (!shown)
		buf_puts(out, "no difference beyond three standard errors\n");
	else
		buf_puts(
			out,
			"\n+-: 95 % confidence of the change; effect: change times B's "
			"instances; call: from entry to call, which contains own time before it\n");
}

void pathcompare_json(const struct paths *a, const struct paths *b, const struct pathcompare *c,
		      struct json *j)
{
	struct buf text = { 0 };

	(void)a;
	json_u64(j, "patterns_in_both", c->both_cnt);
	json_u64(j, "patterns_in_a_only", c->only_a_cnt);
	json_u64(j, "patterns_in_b_only", c->only_b_cnt);
	json_begin_array(j, "changes");
	for (size_t i = 0; i < c->row_cnt; i++) {
		const struct pathcompare_row *r = &c->rows[i];

		json_begin_object(j, NULL);
		buf_reset(&text);
		paths__name(b, &b->patterns[r->pattern_b], &text);
		json_str(j, "pattern", buf_str(&text));
		json_u64(j, "position", r->pos);
		buf_reset(&text);
		put_place(b, r, &text);
		json_str(j, "where", buf_str(&text));
		json_str(j, "what", r->is_delay ? "call_delay" : "own");
		json_f64(j, "a_mean_ns", r->mean_a_ns);
		json_f64(j, "b_mean_ns", r->mean_b_ns);
		json_f64(j, "standard_error_ns", r->error_ns);
		json_f64(j, "effect_ns", r->effect_ns);
		json_bool(j, "sure", is_sure(r));
		json_end_object(j);
	}
	json_end_array(j);
	buf_free(&text);
}
