/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical paths as plain lines for other programs: folded, differences, CSV, the heat map's table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/ccct_graph.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"

int critical_ranges(const char *text, struct percent_range *ret, size_t max, size_t *cnt,
		    struct err *err)
{
	*cnt = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		char *part = xstrndup(text, len), *dash = strchr(part, '-');
		struct percent_range r = { 0, 0 };
		int rc = 0;

		if (dash) {
			*dash = 0;
			rc = parse_f64(part, &r.from, err);
		}
		if (!rc)
			rc = parse_f64(dash ? dash + 1 : part, &r.to, err);
		free(part);
		if (rc)
			return rc;
		if (!(r.from >= 0 && r.from < r.to && r.to <= 100))
			return err_set(err, -EINVAL,
				       "'%.*s': percentiles lie within 0 and 100, lower-upper",
				       (int)len, text);
		if (*cnt == max)
			return err_set(err, -EINVAL, "more than %zu percentiles", max);
		ret[(*cnt)++] = r;
		text += len + (text[len] == ',');
	}
	return *cnt ? 0 : err_set(err, -EINVAL, "no percentile given");
}

int critical_check_ranges(const char *text, struct err *err)
{
	struct percent_range ranges[2];
	size_t cnt;

	return critical_ranges(text, ranges, ARRAY_CNT(ranges), &cnt, err);
}

static int64_t whole_us(int64_t ns)
{
	return ns / 1000;
}

void critical_print_operations(const struct ccct *c, struct buf *out)
{
	size_t cnt;
	struct ccct_rank *ranks = ccct_rank_all(c, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		ccct__put_frame(c, ranks[i].frame, true, out);
		buf_putc(out, '\t');
		buf_put_i64(out, whole_us(ranks[i].exclusive_ns));
		buf_putc(out, '\n');
	}
	free(ranks);
}

void critical_print_folded(const struct ccct *c, const struct critical_options *o,
			   const struct percent_range *r, struct buf *out)
{
	bool freq = o->format == CRITICAL_FREQ;
	struct ccct_graph g;
	uint32_t *order;
	size_t cnt;

	ccct_graph__fill(&g, c, SPAN_NONE, r->from, r->to);
	order = ccct_graph__order(c, &g, NULL, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct ccct_times *t = &g.paths[order[i]];
		int64_t value = freq ? (int64_t)t->freq : whole_us(t->exclusive_ns);

		if (!freq && o->average)
			value /= (int64_t)g.trace_cnt;
		if (!freq && !t->exclusive_ns)
			continue;
		ccct__put_path(c, order[i], ";", out);
		buf_putc(out, ' ');
		buf_put_i64(out, value);
		buf_putc(out, '\n');
	}
	free(order);
	ccct_graph__free(&g);
}

void critical_print_diff(const struct ccct *c, const struct critical_options *o,
			 const struct percent_range *r, struct buf *out)
{
	struct ccct_graph a, b;
	uint32_t *order;
	size_t cnt;

	ccct_graph__fill(&a, c, SPAN_NONE, r[0].from, r[0].to);
	ccct_graph__fill(&b, c, SPAN_NONE, r[1].from, r[1].to);
	order = ccct_graph__order(c, &a, &b, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint32_t p = order[i];
		int64_t before_ns = o->no_normalize ? a.paths[p].exclusive_ns :
						      ccct_graph__scaled_ns(&a, &b, p);

		if (!before_ns && !b.paths[p].exclusive_ns)
			continue;
		ccct__put_path(c, p, ";", out);
		buf_putc(out, ' ');
		buf_put_i64(out, whole_us(before_ns));
		buf_putc(out, ' ');
		buf_put_i64(out, whole_us(b.paths[p].exclusive_ns));
		buf_putc(out, '\n');
	}
	free(order);
	ccct_graph__free(&a);
	ccct_graph__free(&b);
}

/* A field of CSV: quoted, quotes doubled. */
static void put_csv(struct buf *out, const char *text)
{
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void critical_print_csv(const struct ccct *c, struct buf *out)
{
	struct buf path = { 0 };
	struct ccct_graph g;
	uint32_t *order;
	size_t cnt;

	buf_puts(out, "callPath,spans,inclusive_us,exclusive_us,worstTrace,worstSpan,worst_us\n");
	ccct_graph__fill(&g, c, SPAN_NONE, 0, 100);
	order = ccct_graph__order(c, &g, NULL, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct ccct_times *t = &g.paths[order[i]];
		const struct ccct_example *e = &c->paths[order[i]].exclusive[0];

		buf_reset(&path);
		ccct__put_path(c, order[i], "->", &path);
		put_csv(out, buf_str(&path));
		buf_printf(out, ",%llu,%.3f,%.3f,", (unsigned long long)t->freq,
			   (double)t->inclusive_ns / 1e3, (double)t->exclusive_ns / 1e3);
		put_csv(out, strtab_get(&c->strings, e->trace_sid));
		buf_putc(out, ',');
		put_csv(out, strtab_get(&c->strings, e->span_sid));
		buf_printf(out, ",%.3f\n", (double)e->ns / 1e3);
	}
	buf_free(&path);
	free(order);
	ccct_graph__free(&g);
}

static void put_heatmap_values(struct buf *out, const double *ns, const double *root_ns)
{
	for (int q = 0; q < HEATMAP_QUANTILES; q++)
		buf_printf(out, "\t%.2e", ns[q] / 1e3);
	for (int q = 0; q < HEATMAP_QUANTILES; q++)
		buf_printf(out, "\t%.2f%%", root_ns[q] > 0 ? ns[q] / root_ns[q] * 100 : 0);
}

void critical_print_heatmap(const struct ccct *c, const struct critical_options *o, struct buf *out)
{
	struct heatmap h;

	heatmap__fill(&h, c, SPAN_NONE, o->columns);
	buf_printf(out, "\toccurence (%llu)", (unsigned long long)h.trace_cnt);
	buf_puts(out, "\tP50(I)\tP95(I)\tP99(I)\tP50(I)%\tP95(I)%\tP99(I)%"
		      "\tP50(E)\tP95(E)\tP99(E)\tP50(E)%\tP95(E)%\tP99(E)%\n");
	for (size_t i = 0; i < h.row_cnt; i++) {
		const struct heatmap_row *r = &h.rows[i];

		if (r->frame == SPAN_NONE)
			buf_puts(out, "totalTime");
		else
			ccct__put_frame(c, r->frame, true, out);
		buf_printf(out, "\t%llu", (unsigned long long)r->occurrence);
		put_heatmap_values(out, r->inclusive_ns, h.rows[0].inclusive_ns);
		put_heatmap_values(out, r->exclusive_ns, h.rows[0].exclusive_ns);
		buf_putc(out, '\n');
	}
	heatmap__free(&h);
}
