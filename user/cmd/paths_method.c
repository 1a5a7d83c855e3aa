/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods of "causeprof paths"; see paths_method.h. */
#include "user/cmd/paths_method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/convreport.h"
#include "user/analysis/match.h"
#include "user/base/mem.h"
#include "user/cmd/graphviz.h"

static int infer_nesting(struct paths_run *run, struct json *j, struct err *err)
{
	const struct paths_opts *o = run->opts;
	struct nesting_opts n = o->paper ? nesting_opts_paper() : nesting_opts_default();
	struct nesting_stats s;

	if (!run->t->call_cnt && run->pairs.oneway_cnt)
		return err_set(
			err, -EINVAL,
			"the trace holds one-way messages only (MSG), and nesting needs calls "
			"and returns; try --method convolution");
	n.overlap_power = o->overlap_power >= 0 ? o->overlap_power : n.overlap_power;
	n.same_power = o->same_power >= 0 ? o->same_power : n.same_power;
	n.child_power = o->child_power >= 0 ? o->child_power : n.child_power;
	n.smooth_bins = o->smooth_bins >= 0 ? o->smooth_bins : n.smooth_bins;
	n.return_order |= o->return_order;
	n.paper_bins = o->paper;
	n.window_ns = (int64_t)o->skew_ns;
	n.progress = run->progress;
	nesting_infer(run->t, &n, &s);
	if (s.outlive_cnt)
		buf_printf(
			&run->notes,
			"%llu of %llu calls outlived every call that their caller served: "
			"forwarded, answered early or delayed work, which nesting cannot express\n",
			(unsigned long long)s.outlive_cnt, (unsigned long long)s.call_cnt);
	if (s.cut_cnt)
		buf_printf(&run->notes, "%llu calls open beside over %d others were given up\n",
			   (unsigned long long)s.cut_cnt, NESTING_CANDIDATES_MAX);
	if (j) {
		json_f64(j, "parallelism",
			 s.child_cnt ? (double)s.candidate_cnt / (double)s.child_cnt : 0);
		json_u64(j, "children", s.child_cnt);
		json_u64(j, "ambiguous_children", s.ambiguous_cnt);
		json_u64(j, "outliving_children", s.outlive_cnt);
		json_u64(j, "candidates_given_up", s.cut_cnt);
	} else if (s.child_cnt) {
		buf_printf(&run->notes, "parallelism %.2f candidate parents a call\n",
			   (double)s.candidate_cnt / (double)s.child_cnt);
	}
	return 0;
}

/* No inference: the links that spans carry. */
static int infer_given(struct paths_run *run, struct json *j, struct err *err)
{
	(void)j;
	if (!run->t->has_true_parents && run->t->call_cnt)
		return err_set(err, -EINVAL,
			       "--method given needs a trace with parent links (Jaeger, OTLP)");
	for (size_t i = 0; i < run->t->call_cnt; i++)
		run->t->calls[i].parent = call_true_parent(&run->t->calls[i]);
	return 0;
}

static void match_json(const struct match_stats *s, struct json *j)
{
	json_u64(j, "links", s->exact_cnt + s->timing_cnt);
	json_u64(j, "exact_links", s->exact_cnt);
	json_u64(j, "timing_links", s->timing_cnt);
	json_u64(j, "doubtful_links", s->doubtful_cnt);
	json_u64(j, "calls_without_parent", s->root_cnt);
	json_u64(j, "candidates_given_up", s->cut_cnt);
}

static int infer_match(struct paths_run *run, struct json *j, struct err *err)
{
	struct match_opts o = { .skew_ns = (int64_t)run->opts->skew_ns, .progress = run->progress };
	struct match_link *links;
	struct match_stats s;

	if (!run->t->call_cnt && run->pairs.oneway_cnt)
		return err_set(
			err, -EINVAL,
			"the trace holds one-way messages only (MSG), and matching needs calls "
			"and returns; try --method convolution");
	links = xcalloc(run->t->call_cnt + 1, sizeof(*links));
	match_run(run->t, &o, links, &s);
	for (size_t i = 0; i < run->t->call_cnt; i++)
		run->t->calls[i].parent = links[i].parent;
	free(links);
	if (j)
		match_json(&s, j);
	else if (s.calls_cnt)
		buf_printf(&run->notes,
			   "links: %llu from the kernel, %llu from timing (%llu of them doubtful, "
			   "probability below 0.6); %llu calls without parent\n",
			   (unsigned long long)s.exact_cnt, (unsigned long long)s.timing_cnt,
			   (unsigned long long)s.doubtful_cnt, (unsigned long long)s.root_cnt);
	if (s.cut_cnt)
		buf_printf(&run->notes, "%llu candidates of calls with too many were given up\n",
			   (unsigned long long)s.cut_cnt);
	return 0;
}

/* Names of --root to nodes. */
static int find_roots(const struct paths_run *run, uint32_t *roots, struct err *err)
{
	const struct opt_list *names = &run->opts->roots;

	for (size_t i = 0; i < names->cnt; i++) {
		roots[i] = 0;
		for (uint32_t n = 1; n < run->t->nodes.cnt && !roots[i]; n++)
			if (!strcmp(msgtrace__node_name(run->t, n), names->items[i]))
				roots[i] = n;
		if (!roots[i])
			return err_set(err, -EINVAL, "--root %s: the trace has no such node",
				       names->items[i]);
	}
	return 0;
}

static int put_convolution(struct paths_run *run, const struct conv_opts *c,
			   const struct conv_result *r, struct buf *out, struct err *err)
{
	const struct paths_opts *o = run->opts;
	size_t len = o->output ? strlen(o->output) : 0;
	struct buf dot = { 0 };
	struct json j;
	int rc = 0;

	if (o->json || (len > 5 && !strcmp(o->output + len - 5, ".json"))) {
		json_init(&j, out);
		json_begin_object(&j, NULL);
		json_str(&j, "method", "convolution");
		convreport_json(run->t, c, r, &j);
		json_end_object(&j);
		buf_putc(out, '\n');
	} else if (len > 4 && !strcmp(o->output + len - 4, ".dot")) {
		convreport_dot(run->t, r, o->top_cnt, out);
	} else if (len > 4 && !strcmp(o->output + len - 4, ".svg")) {
		convreport_dot(run->t, r, o->top_cnt, &dot);
		rc = graphviz_svg(&dot, out, err);
		buf_free(&dot);
	} else {
		convreport_text(run->t, c, r, o->top_cnt, out);
	}
	if (r->stats.cut_cnt)
		buf_printf(&run->notes, "%llu extensions were given up: over %d paths\n",
			   (unsigned long long)r->stats.cut_cnt, CONV_PATHS_MAX);
	return rc;
}

static int report_convolution(struct paths_run *run, struct buf *out, struct err *err)
{
	const struct paths_opts *o = run->opts;
	uint32_t *roots = xcalloc(o->roots.cnt + 1, sizeof(*roots));
	struct conv_opts c = { .quantum_ns = (int64_t)o->quantum_ns,
			       .max_lag_ns = (int64_t)o->max_lag_ns,
			       .skew_ns = (int64_t)o->skew_ns,
			       .max_hops = (uint32_t)o->max_hops,
			       .min_messages = (uint32_t)o->min_messages,
			       .paper = o->paper,
			       .no_echo = o->no_echo,
			       .anchor_root = o->anchor == 1,
			       .roots = o->roots.cnt ? roots : NULL,
			       .roots_cnt = o->roots.cnt,
			       .progress = run->progress };
	struct conv_result r = { 0 };
	int rc = find_roots(run, roots, err);

	if (!rc)
		rc = conv_run(run->t, &c, &r, err);
	if (!rc) {
		c.quantum_ns = r.quantum_ns;
		rc = put_convolution(run, &c, &r, out, err);
	}
	conv_free(&r);
	free(roots);
	return rc;
}

const struct paths_method paths_methods[] = {
	{ .name = "match", .infer = infer_match },
	{ .name = "nesting", .infer = infer_nesting },
	{ .name = "convolution", .wants_messages = true, .report = report_convolution },
	{ .name = "given", .infer = infer_given },
	{ 0 },
};

const char *const paths_method_names[] = { "match", "nesting", "convolution", "given", NULL };
