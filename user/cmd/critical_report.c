/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical paths for people: the summary, and the same as JSON. */
#include <stdlib.h>
#include <string.h>

#include "user/analysis/ccct_graph.h"
#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"

enum {
	CUT_WARN_PERCENT = 5,
	PATH_FRAMES_SHOWN = 16,
};

static double percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

static void put_name(struct buf *out, const struct ccct *c, uint32_t frame)
{
	struct buf name = { 0 };

	ccct__put_frame(c, frame, false, &name);
	escape_terminal(out, buf_str(&name), name.len_bytes);
	buf_free(&name);
}

/* Of very deep paths the first and the last frames. */
static void put_path(struct buf *out, const struct ccct *c, uint32_t path)
{
	uint32_t chain[PATH_FRAMES_SHOWN];
	size_t depth = 0;

	for (uint32_t p = path; p != SPAN_NONE; p = c->paths[p].parent)
		depth++;
	for (size_t i = depth; i-- > 0; path = c->paths[path].parent)
		if (i < 2 || depth - i <= PATH_FRAMES_SHOWN - 2)
			chain[i < 2 ? i : PATH_FRAMES_SHOWN - (depth - i)] = c->paths[path].frame;
	for (size_t i = 0; i < depth; i++) {
		bool shown = i < 2 || depth - i <= PATH_FRAMES_SHOWN - 2;

		if (shown && i)
			buf_puts(out, " -> ");
		if (shown)
			put_name(out, c, chain[i < 2 ? i : PATH_FRAMES_SHOWN - (depth - i)]);
		else if (i == 2)
			buf_printf(out, " -> ... %zu more", depth - PATH_FRAMES_SHOWN);
	}
}

static void put_column(struct buf *out, int64_t ns)
{
	struct buf b = { 0 };

	if (ns < 0)
		buf_putc(&b, '-');
	buf_put_duration(&b, (uint64_t)llabs(ns));
	buf_printf(out, "%10s", buf_str(&b));
	buf_free(&b);
}

/* How much smaller the critical paths are than the traces. */
static void print_reduction(const struct ccct *c, struct buf *out)
{
	bool *on_path = xcalloc(c->frame_cnt + 1, sizeof(*on_path));
	bool *seen = xcalloc(c->frame_cnt + 1, sizeof(*seen));
	size_t paths = 0, paths_on = 0, frames = 0, frames_on = 0;
	struct ccct_graph all;

	ccct_graph__fill(&all, c, SPAN_NONE, 0, 100);
	for (size_t i = 0; i < c->path_cnt; i++) {
		paths++;
		paths_on += all.paths[i].freq > 0;
		seen[c->paths[i].frame] = true;
		on_path[c->paths[i].frame] |= all.paths[i].freq > 0;
	}
	for (size_t i = 0; i < c->frame_cnt; i++) {
		frames += seen[i];
		frames_on += on_path[i];
	}
	buf_printf(out, "%zu of %zu operations and %zu of %zu call paths lie on critical paths\n",
		   frames_on, frames, paths_on, paths);
	ccct_graph__free(&all);
	free(on_path);
	free(seen);
}

static void print_totals(const struct ccct *c, struct buf *out)
{
	const struct ccct_totals *t = &c->totals;
	uint64_t spans = 0, path_spans = 0;

	for (size_t i = 0; i < c->group_cnt; i++) {
		spans += c->groups[i].span_cnt;
		path_spans += c->groups[i].path_span_cnt;
	}
	buf_put_grouped(out, t->trace_cnt);
	buf_puts(out, " traces, ");
	buf_put_grouped(out, t->span_cnt);
	buf_puts(out, " spans in ");
	buf_put_grouped(out, t->file_cnt);
	buf_puts(out, " files; ");
	buf_put_grouped(out, c->trace_cnt);
	buf_puts(out, " critical paths");
	if (c->trace_cnt)
		buf_printf(out, ", mean %.1f of %.1f spans",
			   (double)path_spans / (double)c->trace_cnt,
			   (double)spans / (double)c->trace_cnt);
	buf_puts(out, "\n");
	if (c->trace_cnt)
		print_reduction(c, out);
	if (t->cut_ns)
		buf_printf(
			out,
			"cut from children that did not fit their parents: %.2f %% of the root time%s\n",
			percent((double)t->cut_ns, (double)t->root_ns),
			percent((double)t->cut_ns, (double)t->root_ns) > CUT_WARN_PERCENT ?
				" (more than 5 %: clocks or instrumentation are off)" :
				"");
}

static void print_entries(const struct ccct *c, uint64_t top, struct buf *out)
{
	size_t cnt;
	struct ccct_entry *entries = ccct_entries(c, &cnt);

	buf_puts(out, "\n    traces        P50        P95        P99        max  entry\n");
	for (size_t i = 0; i < cnt && i < top; i++) {
		const struct ccct_entry *e = &entries[i];

		buf_printf(out, "%10llu ", (unsigned long long)e->trace_cnt);
		put_column(out, e->p50_ns);
		buf_putc(out, ' ');
		put_column(out, e->p95_ns);
		buf_putc(out, ' ');
		put_column(out, e->p99_ns);
		buf_putc(out, ' ');
		put_column(out, e->max_ns);
		buf_puts(out, "  ");
		put_name(out, c, c->paths[e->path].frame);
		buf_putc(out, '\n');
	}
	if (cnt > top)
		buf_printf(out, "%10s and %zu more (--top)\n", "", cnt - (size_t)top);
	free(entries);
}

static void print_ranks(const struct ccct *c, uint64_t top, struct buf *out)
{
	size_t cnt;
	struct ccct_rank *r = ccct_rank_all(c, &cnt);
	double total = 0;

	for (size_t i = 0; i < cnt; i++)
		total += (double)r[i].exclusive_ns;
	buf_puts(out, "\n     share  exclusive  inclusive    spans  traces  entries  operation\n");
	for (size_t i = 0; i < cnt && i < top; i++) {
		buf_printf(out, "%8.2f %% ", percent((double)r[i].exclusive_ns, total));
		put_column(out, r[i].exclusive_ns);
		buf_putc(out, ' ');
		put_column(out, r[i].inclusive_ns);
		buf_printf(out, " %8llu %5.1f %% %8u  ", (unsigned long long)r[i].freq,
			   percent((double)r[i].trace_cnt, (double)c->trace_cnt), r[i].entry_cnt);
		put_name(out, c, r[i].frame);
		buf_putc(out, '\n');
	}
	if (cnt > top)
		buf_printf(out, "%10s and %zu more (--top)\n", "", cnt - (size_t)top);
	free(r);
}

struct tail_change {
	uint32_t path;
	double change; /* share in the tail less share in the fast half */
};

static int by_change(const void *a, const void *b)
{
	const struct tail_change *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	return x->path < y->path ? -1 : 1;
}

/* What the slow traces spend more of than the fast ones. */
static void print_tail(const struct ccct *c, uint64_t top, struct buf *out)
{
	struct ccct_graph fast, tail;
	struct tail_change *changes = calloc(c->path_cnt + 1, sizeof(*changes));
	size_t cnt = 0;

	ccct_graph__fill(&fast, c, SPAN_NONE, 0, 50);
	ccct_graph__fill(&tail, c, SPAN_NONE, 95, 100);
	for (uint32_t i = 0; changes && fast.root_ns > 0 && tail.root_ns > 0 && i < c->path_cnt;
	     i++) {
		double a = percent((double)fast.paths[i].exclusive_ns, (double)fast.root_ns);
		double b = percent((double)tail.paths[i].exclusive_ns, (double)tail.root_ns);

		if (b - a > 0.5)
			changes[cnt++] = (struct tail_change){ i, b - a };
	}
	if (cnt) {
		qsort(changes, cnt, sizeof(*changes), by_change);
		buf_puts(
			out,
			"\n fastest 50 %  slowest 5 %  call path that the slow traces spend more of\n");
	}
	for (size_t i = 0; i < cnt && i < top; i++) {
		uint32_t p = changes[i].path;

		buf_printf(out, "%11.2f %% %10.2f %%  ",
			   percent((double)fast.paths[p].exclusive_ns, (double)fast.root_ns),
			   percent((double)tail.paths[p].exclusive_ns, (double)tail.root_ns));
		put_path(out, c, p);
		buf_putc(out, '\n');
	}
	free(changes);
	ccct_graph__free(&fast);
	ccct_graph__free(&tail);
}

void critical_print_text(const struct critical_run *run, const struct critical_options *o,
			 struct buf *out)
{
	const struct ccct *c = &run->ccct;

	print_totals(c, out);
	if (!c->trace_cnt)
		return;
	print_entries(c, o->top, out);
	print_ranks(c, o->top, out);
	print_tail(c, o->top, out);
	critical_print_hints(c, o->top, out);
}

static void json_frame(struct json *j, const struct ccct *c, uint32_t frame)
{
	json_str(j, "service", strtab_get(&c->strings, c->frames[frame].service_sid));
	json_str(j, "operation", strtab_get(&c->strings, c->frames[frame].operation_sid));
}

static void json_counts(struct json *j, const struct ccct *c)
{
	const struct ccct_totals *t = &c->totals;

	json_u64(j, "files", t->file_cnt);
	json_u64(j, "traces", t->trace_cnt);
	json_u64(j, "spans", t->span_cnt);
	json_u64(j, "paths", c->trace_cnt);
	json_u64(j, "traces_without_root", t->rootless_cnt);
	json_u64(j, "traces_incomplete", t->incomplete_cnt);
	json_u64(j, "traces_split", t->split_cnt);
	json_u64(j, "files_bad", t->bad_file_cnt);
	json_u64(j, "cut_ns", t->cut_ns);
	json_u64(j, "root_ns", t->root_ns);
	json_bool(j, "grouped", c->cells_added > CCCT_EXACT_CELLS);
	json_begin_object(j, "notes");
	for (int i = 0; i < TREE_NOTE_MAX; i++)
		if (t->notes[i])
			json_u64(j, tree_note_name(i), t->notes[i]);
	for (int i = 0; i < TRACE_FLAW_MAX; i++)
		if (t->flaws[i])
			json_u64(j, trace_flaw_name(i), t->flaws[i]);
	json_end_object(j);
}

static void json_entries(struct json *j, const struct ccct *c)
{
	size_t cnt;
	struct ccct_entry *entries = ccct_entries(c, &cnt);

	json_begin_array(j, "entries");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_frame(j, c, c->paths[entries[i].path].frame);
		json_u64(j, "traces", entries[i].trace_cnt);
		json_i64(j, "root_ns", entries[i].root_ns);
		json_u64(j, "spans", entries[i].span_cnt);
		json_u64(j, "path_spans", entries[i].path_span_cnt);
		json_i64(j, "p50_ns", entries[i].p50_ns);
		json_i64(j, "p95_ns", entries[i].p95_ns);
		json_i64(j, "p99_ns", entries[i].p99_ns);
		json_i64(j, "max_ns", entries[i].max_ns);
		json_end_object(j);
	}
	json_end_array(j);
	free(entries);
}

static void json_operations(struct json *j, const struct ccct *c)
{
	size_t cnt;
	struct ccct_rank *r = ccct_rank_all(c, &cnt);

	json_begin_array(j, "operations");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_frame(j, c, r[i].frame);
		json_i64(j, "exclusive_ns", r[i].exclusive_ns);
		json_i64(j, "inclusive_ns", r[i].inclusive_ns);
		json_u64(j, "spans", r[i].freq);
		json_u64(j, "traces", r[i].trace_cnt);
		json_u64(j, "entries", r[i].entry_cnt);
		json_end_object(j);
	}
	json_end_array(j);
	free(r);
}

static void json_example(struct json *j, const char *key, const struct ccct *c,
			 const struct ccct_example *e)
{
	json_begin_object(j, key);
	json_str(j, "trace", strtab_get(&c->strings, e->trace_sid));
	json_str(j, "span", strtab_get(&c->strings, e->span_sid));
	json_i64(j, "ns", e->ns);
	json_end_object(j);
}

static void json_paths(struct json *j, const struct ccct *c)
{
	struct buf name = { 0 };
	struct ccct_graph g;
	uint32_t *order;
	size_t cnt;

	ccct_graph__fill(&g, c, SPAN_NONE, 0, 100);
	order = ccct_graph__order(c, &g, NULL, &cnt);
	json_begin_array(j, "call_paths");
	for (size_t i = 0; i < cnt; i++) {
		const struct ccct_path *p = &c->paths[order[i]];
		const struct ccct_times *t = &g.paths[order[i]];

		buf_reset(&name);
		ccct__put_path(c, order[i], ";", &name);
		json_begin_object(j, NULL);
		json_str(j, "path", buf_str(&name));
		json_i64(j, "exclusive_ns", t->exclusive_ns);
		json_i64(j, "inclusive_ns", t->inclusive_ns);
		json_u64(j, "spans", t->freq);
		json_example(j, "worst_inclusive", c, &p->inclusive);
		json_begin_array(j, "worst_exclusive");
		for (int k = 0; k < CCCT_EXAMPLES && p->exclusive[k].trace_sid; k++)
			json_example(j, NULL, c, &p->exclusive[k]);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	free(order);
	buf_free(&name);
	ccct_graph__free(&g);
}

void critical_print_json(const struct critical_run *run, const struct critical_options *o,
			 struct buf *out)
{
	const struct ccct *c = &run->ccct;
	struct json j;

	(void)o;
	json_init(&j, out);
	json_begin_object(&j, NULL);
	json_counts(&j, c);
	json_entries(&j, c);
	json_operations(&j, c);
	json_paths(&j, c);
	critical_json_hints(c, &j);
	json_begin_array(&j, "examples_of_notes");
	for (size_t i = 0; i < run->notes.cnt; i++)
		json_str(&j, NULL, run->notes.items[i].text);
	json_end_array(&j);
	json_end_object(&j);
}
