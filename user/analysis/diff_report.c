/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference in words; see diff_report.h. JSON and folded text are in diff_export.c. */
#include "user/analysis/diff_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/num.h"

static void put_value(const struct diff *d, double v, struct buf *out)
{
	double a = fabs(v);

	if (strcmp(d->unit, "ns") && a < 999.5)
		buf_printf(out, "%.4g", a);
	else if (strcmp(d->unit, "ns"))
		buf_put_grouped(out, a < 1.8e19 ? (uint64_t)(a + 0.5) : UINT64_MAX);
	else
		buf_put_duration(out, a < 1.8e19 ? (uint64_t)(a + 0.5) : UINT64_MAX);
}

static void put_signed(const struct diff *d, double v, struct buf *out)
{
	buf_putc(out, v < 0 ? '-' : '+');
	put_value(d, v, out);
}

/* The change of a frame is stated against that frame itself. */
static void put_relative(double before, double after, struct buf *out)
{
	if (!before && after)
		buf_puts(out, "new");
	else if (before && !after)
		buf_puts(out, "gone");
	else if (before == after)
		buf_puts(out, "0%");
	else
		buf_printf(out, "%+.1f%%", 100 * (after - before) / before);
}

static void put_interval(const struct diff *d, const struct diff_measure *m, struct buf *out)
{
	if (isnan(m->low)) {
		buf_puts(out, "unknown");
		return;
	}
	put_signed(d, m->low, out);
	buf_puts(out, " .. ");
	put_signed(d, m->high, out);
}

static void put_p(double p, struct buf *out)
{
	if (isnan(p))
		buf_puts(out, "-");
	else if (p < 1e-99)
		buf_puts(out, "<1e-99");
	else
		buf_printf(out, p < 0.001 ? "%.0e" : "%.3f", p);
}

static const char *const normalised[] = { "not normalised", "normalised by wall time",
					  "normalised by running time", "normalised by requests",
					  "normalised by the total" };

void diff_report_caption(const struct diff *d, struct buf *out)
{
	buf_printf(out, "%u run%s before, %u after; %s; ", d->run_cnt[0],
		   d->run_cnt[0] == 1 ? "" : "s", d->run_cnt[1], normalised[d->normalize]);
	if (d->method == DIFF_NO_TEST)
		buf_puts(out, "no counts: nothing is known about noise");
	else if (d->method == DIFF_COUNTS)
		buf_printf(out, "grey: sampling noise (family-wise error %g)", d->alpha);
	else
		buf_printf(out, "grey: noise between runs (family-wise error %g)", d->alpha);
}

void diff_report_method(const struct diff *d, struct buf *out)
{
	buf_printf(out, "%u run%s before, %u after; values in %s, means, %s.", d->run_cnt[0],
		   d->run_cnt[0] == 1 ? "" : "s", d->run_cnt[1], d->unit, normalised[d->normalize]);
	if (d->builds.several_cnt)
		buf_printf(
			out,
			" %zu file%s of several builds: functions without a name count as one there.",
			d->builds.several_cnt, d->builds.several_cnt == 1 ? " is" : "s are");
	switch (d->method) {
	case DIFF_PERMUTATION:
		buf_puts(out, " Noise: permutation of the runs (step-down max-T)");
		break;
	case DIFF_STUDENT:
		buf_puts(out, " Noise: Student's t (too few runs to permute them), Holm");
		break;
	case DIFF_COUNTS:
		buf_puts(
			out,
			" Noise: one run a side, so only that of sampling is known (counts, Holm); "
			"how runs differ from each other is not, several runs a side would tell");
		break;
	default:
		buf_puts(out, " One run a side and no sample counts: nothing is known about noise, "
			      "no change is called significant");
		return;
	}
	buf_printf(out, "; %zu tests, family-wise error %g.", d->measure_cnt, d->alpha);
	if (d->normalize == DIFF_NORMALIZE_NONE && d->window_ns[0] > 0 && d->window_ns[1] > 0 &&
	    fabs(d->window_ns[1] / d->window_ns[0] - 1) > 0.02)
		buf_printf(out,
			   " The windows differ by %+.1f%%: --normalize wall compares per second.",
			   100 * (d->window_ns[1] / d->window_ns[0] - 1));
}

enum table_kind {
	TABLE_GREW,
	TABLE_SHRANK,
	TABLE_CALLEES, /* changed only in what they call */
	TABLE_MAX,
};

static const char *const table_titles[TABLE_MAX] = {
	"grew (self)",
	"shrank (self)",
	"changed by what they call (subtree)",
};

/* A self change that nobody can tell from noise gives way to a subtree change that is one. */
static bool is_row(const struct diff *d, const struct diff_function *f, enum table_kind kind)
{
	bool by_callees = diff_is_significant(d, f->subtree_measure) &&
			  !diff_is_significant(d, f->self_measure);
	double change = f->self[1] - f->self[0];

	if (kind == TABLE_CALLEES)
		return by_callees;
	return !by_callees && (kind == TABLE_GREW ? change > 0 : change < 0);
}

struct row {
	const char *name;
	const struct diff_measure *measure; /* NULL: too small to be tested */
	double before, after;
	bool significant;
};

static struct row make_row(const struct diff *d, const struct diff_function *f,
			   enum table_kind kind)
{
	uint32_t m = kind == TABLE_CALLEES ? f->subtree_measure : f->self_measure;
	const double *v = kind == TABLE_CALLEES ? f->subtree : f->self;

	return (struct row){ .name = strtab_get(&d->tree.names, f->name),
			     .measure = m == DIFF_NO_MEASURE ? NULL : &d->measures[m],
			     .before = v[0],
			     .after = v[1],
			     .significant = diff_is_significant(d, m) };
}

static void put_cell(struct buf *out, size_t start, int width)
{
	size_t chars = 0;

	for (size_t i = start; i < out->len_bytes; i++)
		chars += ((unsigned char)out->data[i] & 0xc0) != 0x80;
	for (; chars < (size_t)width; chars++)
		buf_putc(out, ' ');
	buf_puts(out, "  ");
}

static void put_text_row(const struct diff *d, const struct row *r, struct buf *out)
{
	static const int widths[] = { 9, 9, 9, 9, 22, 6 };

	buf_puts(out, r->significant ? "* " : "  ");
	for (int column = 0; column < 6; column++) {
		size_t start = out->len_bytes;

		if (column == 0)
			put_signed(d, r->after - r->before, out);
		else if (column == 1)
			put_relative(r->before, r->after, out);
		else if (column == 2 || column == 3)
			put_value(d, column == 2 ? r->before : r->after, out);
		else if (!r->measure)
			buf_puts(out, column == 4 ? "too small" : "-");
		else if (column == 4)
			put_interval(d, r->measure, out);
		else
			put_p(r->measure->p, out);
		put_cell(out, start, widths[column]);
	}
	escape_terminal(out, r->name, strlen(r->name));
	buf_putc(out, '\n');
}

static void put_text_table(const struct diff *d, enum table_kind kind, size_t top, struct buf *out)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < d->function_cnt; i++) {
		struct row r;

		if (!is_row(d, &d->functions[i], kind))
			continue;
		if (shown == top) {
			left++;
			continue;
		}
		if (!shown++)
			buf_printf(out, "\n%s\n  %-9s  %-9s  %-9s  %-9s  %-22s  %-6s  function\n",
				   table_titles[kind], "change", "relative", "before", "after",
				   "95% interval", "p");
		r = make_row(d, &d->functions[i], kind);
		put_text_row(d, &r, out);
	}
	if (left)
		buf_printf(out, "  ... and %zu more\n", left);
}

static void put_total(const struct diff *d, struct buf *out)
{
	const double *v = d->nodes[0].subtree;
	uint32_t m = d->nodes[0].subtree_measure;

	put_value(d, v[0], out);
	buf_puts(out, " -> ");
	put_value(d, v[1], out);
	if (strcmp(d->unit, "ns"))
		buf_printf(out, " %s", d->unit);
	buf_puts(out, "  ");
	put_relative(v[0], v[1], out);
	if (m != DIFF_NO_MEASURE && !isnan(d->measures[m].p)) {
		buf_puts(out, diff_is_significant(d, m) ? "  (p " : "  (not significant, p ");
		put_p(d->measures[m].p, out);
		buf_putc(out, ')');
	}
}

void diff_report_text(const struct diff *d, size_t top, struct buf *out)
{
	buf_puts(out, "total  ");
	put_total(d, out);
	buf_putc(out, '\n');
	diff_report_method(d, out);
	buf_puts(out, "\n* = more than noise at that error; p is adjusted for all tests.\n");
	for (int kind = 0; kind < TABLE_MAX; kind++)
		put_text_table(d, (enum table_kind)kind, top, out);
}

/* A name inside a table cell between backquotes. */
static void put_markdown_name(const char *name, struct buf *out)
{
	struct buf plain = { 0 };

	escape_terminal(&plain, name, strlen(name));
	buf_puts(out, "`");
	for (size_t i = 0; i < plain.len_bytes; i++) {
		char c = plain.data[i];

		if (c == '|')
			buf_puts(out, "\\|");
		else
			buf_putc(out, c == '`' ? '\'' : c);
	}
	buf_puts(out, "`");
	buf_free(&plain);
}

static void put_markdown_row(const struct diff *d, const struct row *r, struct buf *out)
{
	buf_puts(out, "| ");
	put_markdown_name(r->name, out);
	buf_puts(out, " | ");
	put_value(d, r->before, out);
	buf_puts(out, " | ");
	put_value(d, r->after, out);
	buf_puts(out, " | ");
	put_signed(d, r->after - r->before, out);
	buf_puts(out, " (");
	put_relative(r->before, r->after, out);
	buf_puts(out, ") | ");
	if (r->measure) {
		put_interval(d, r->measure, out);
		buf_puts(out, " | ");
		put_p(r->measure->p, out);
	} else {
		buf_puts(out, "too small | -");
	}
	buf_puts(out, " |\n");
}

static size_t put_markdown_table(const struct diff *d, enum table_kind kind, size_t top,
				 struct buf *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->function_cnt && shown < top; i++) {
		struct row r = make_row(d, &d->functions[i], kind);

		if (!is_row(d, &d->functions[i], kind) || !r.significant)
			continue;
		if (!shown++)
			buf_printf(
				out,
				"\n**%c%s**\n\n| function | before | after | change | 95%% interval | p "
				"|\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
				table_titles[kind][0] - 'a' + 'A', table_titles[kind] + 1);
		put_markdown_row(d, &r, out);
	}
	return shown;
}

void diff_report_markdown(const struct diff *d, size_t top, struct buf *out)
{
	size_t shown = 0;

	buf_puts(out, "### Profile: ");
	put_total(d, out);
	buf_puts(out, "\n");
	for (int kind = 0; kind < TABLE_MAX; kind++)
		shown += put_markdown_table(d, (enum table_kind)kind, top, out);
	if (!shown)
		buf_puts(out, "\nNo function changed by more than noise.\n");
	buf_puts(out, "\n<sub>");
	diff_report_method(d, out);
	buf_puts(out, " p is adjusted for all tests.</sub>\n");
}
