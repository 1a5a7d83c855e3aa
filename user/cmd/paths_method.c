/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods of "causeprof paths"; see paths_method.h. */
#include "user/cmd/paths_method.h"

#include <errno.h>

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

const struct paths_method paths_methods[] = {
	{ .name = "nesting", .infer = infer_nesting },
	{ .name = "given", .infer = infer_given },
	{ 0 },
};

const char *const paths_method_names[] = { "nesting", "given", NULL };
