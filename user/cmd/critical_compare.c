/* SPDX-License-Identifier: GPL-2.0-or-later */
/* critical --compare: two populations of traces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/compare.h"
#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"

static void put_time(struct buf *out, double ns, bool sign)
{
	struct buf b = { 0 };

	if (ns < 0)
		buf_putc(&b, '-');
	else if (sign)
		buf_putc(&b, '+');
	buf_put_duration(&b, (uint64_t)(ns < 0 ? -ns : ns));
	buf_printf(out, "%10s", buf_str(&b));
	buf_free(&b);
}

static double change_percent(double a, double b)
{
	return a > 0 ? (b / a - 1) * 100 : 0;
}

static void print_quantiles(const struct comparison *x, struct buf *out)
{
	buf_puts(
		out,
		"\nroot              A  (95 % interval)              B  (95 % interval)        change\n");
	for (int i = 0; i < COMPARE_QUANTILES; i++) {
		const struct compare_quantile *q = &x->quantiles[i];
		bool apart = q->a_high_ns < q->b_low_ns || q->b_high_ns < q->a_low_ns;

		buf_printf(out, "P%.0f   ", compare_quantiles[i] * 100);
		put_time(out, (double)q->a_ns, false);
		put_time(out, (double)q->a_low_ns, false);
		put_time(out, (double)q->a_high_ns, false);
		put_time(out, (double)q->b_ns, false);
		put_time(out, (double)q->b_low_ns, false);
		put_time(out, (double)q->b_high_ns, false);
		buf_printf(out, " %+8.1f %%%s\n", change_percent((double)q->a_ns, (double)q->b_ns),
			   apart ? "  *" : "");
	}
}

static void print_rows(const struct comparison *x, uint64_t top, struct buf *out)
{
	buf_puts(
		out,
		"\n    mean A    mean B    change +- 95 %            q  exclusive time on the critical path, per trace\n");
	for (size_t i = 0; i < x->row_cnt && i < top; i++) {
		const struct compare_row *r = &x->rows[i];

		put_time(out, r->a_ns, false);
		put_time(out, r->b_ns, false);
		put_time(out, r->change_ns, true);
		put_time(out, r->margin_ns, false);
		buf_printf(out, "  %8.2g%s  [", r->q, r->q < 0.05 ? " *" : "  ");
		escape_terminal(out, r->service, strlen(r->service));
		buf_puts(out, "] ");
		escape_terminal(out, r->operation, strlen(r->operation));
		buf_putc(out, '\n');
	}
	buf_puts(
		out,
		"\n* hardly chance: the intervals do not meet, or q < 0.05 (false discovery rate)\n");
}

static void print_json(const struct comparison *x, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_begin_object(&j, NULL);
	json_u64(&j, "traces_a", x->a_cnt);
	json_u64(&j, "traces_b", x->b_cnt);
	json_begin_array(&j, "quantiles");
	for (int i = 0; i < COMPARE_QUANTILES; i++) {
		const struct compare_quantile *q = &x->quantiles[i];

		json_begin_object(&j, NULL);
		json_f64(&j, "q", compare_quantiles[i]);
		json_i64(&j, "a_ns", q->a_ns);
		json_i64(&j, "a_low_ns", q->a_low_ns);
		json_i64(&j, "a_high_ns", q->a_high_ns);
		json_i64(&j, "b_ns", q->b_ns);
		json_i64(&j, "b_low_ns", q->b_low_ns);
		json_i64(&j, "b_high_ns", q->b_high_ns);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_begin_array(&j, "operations");
	for (size_t i = 0; i < x->row_cnt; i++) {
		const struct compare_row *r = &x->rows[i];

		json_begin_object(&j, NULL);
		json_str(&j, "service", r->service);
		json_str(&j, "operation", r->operation);
		json_f64(&j, "a_ns", r->a_ns);
		json_f64(&j, "b_ns", r->b_ns);
		json_f64(&j, "change_ns", r->change_ns);
		json_f64(&j, "margin_ns", r->margin_ns);
		json_f64(&j, "q", r->q);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
}

int critical_compare(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		     struct err *err)
{
	struct critical_run runs[2] = { 0 };
	int rc = 0;

	if (cnt != 2)
		return err_set(err, -EINVAL, "--compare wants two files or folders, not %d", cnt);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = critical_read(paths + i, 1, o, &runs[i], err);
		if (!rc && !runs[i].ccct.trace_cnt)
			rc = err_set(err, -ENODATA, "%s: no critical path in there", paths[i]);
	}
	if (!rc) {
		struct comparison x;

		comparison__fill(&x, &runs[0].ccct, &runs[1].ccct);
		if (o->format == CRITICAL_JSON) {
			print_json(&x, out);
		} else {
			buf_printf(out, "A: %llu traces, B: %llu traces\n",
				   (unsigned long long)x.a_cnt, (unsigned long long)x.b_cnt);
			print_quantiles(&x, out);
			print_rows(&x, o->top, out);
		}
		comparison__free(&x);
	}
	critical_run__free(&runs[0]);
	critical_run__free(&runs[1]);
	return rc;
}
