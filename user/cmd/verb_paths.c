/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof paths: causal paths from messages between black boxes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/pathreport.h"
#include "user/analysis/pathtruth.h"
#include "user/analysis/paths.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/analysis/msgdedup.h"
#include "user/cmd/command.h"
#include "user/cmd/node_map.h"
#include "user/cmd/paths_method.h"
#include "user/cmd/progress_line.h"
#include "user/exchange/msginput.h"
#include "user/exchange/msgtruth.h"

static const char *const orders[] = { "count", "latency", NULL };

#define OFF(field) offsetof(struct paths_opts, field)

static const struct opt options[] = {
	{ "method", 'M', OPT_CHOICE, OFF(method), "NAME",
	  "how to find causes: nesting (calls inside calls)", 0, 0, paths_method_names },
	{ "top", 'n', OPT_U64, OFF(top_cnt), "N", "patterns to show, 0 = all (default 10)", 0, 0,
	  NULL },
	{ "order", 0, OPT_CHOICE, OFF(order), "KEY", "rank patterns by count (default) or latency",
	  0, 0, orders },
	{ "window", 0, OPT_SECONDS, OFF(window_ns), "TIME",
	  "also rank the patterns within windows of this length", 0, 0, NULL },
	{ "output", 'o', OPT_STRING, OFF(output), "FILE",
	  "write .dot, .svg, .html, .json or .folded by FILE's ending", 0, 0, NULL },
	{ "json", 0, OPT_FLAG, OFF(json), NULL, "write JSON", 0, 0, NULL },
	{ "paper", 0, OPT_FLAG, OFF(paper), NULL, "the settings of the SOSP 2003 paper", 0, 0,
	  NULL },
	{ "overlap", 'x', OPT_F64, OFF(overlap_power), "X",
	  "nesting: penalty for children that overlap (default 2)", 0, 100, NULL },
	{ "same", 'y', OPT_F64, OFF(same_power), "Y",
	  "nesting: penalty for children to the same node (default 4, paper 0)", 0, 100, NULL },
	{ "children", 'z', OPT_F64, OFF(child_power), "Z",
	  "nesting: penalty for children of any kind (default 0)", 0, 100, NULL },
	{ "smooth", 0, OPT_F64, OFF(smooth_bins), "BINS",
	  "nesting: smoothing of the scoreboard, in bins of 5 % (default 3, paper 0)", 0, 60,
	  NULL },
	{ "skew", 'W', OPT_SECONDS, OFF(skew_ns), "TIME", "by how much clocks may disagree", 0, 0,
	  NULL },
	{ "return-order", 0, OPT_FLAG, OFF(return_order), NULL,
	  "nesting: decide calls in the order of their returns, as the paper does", 0, 0, NULL },
	{ "links", 0, OPT_FLAG, OFF(links), NULL,
	  "write the links only: id of a call, tab, id of its parent", 0, 0, NULL },
	{ "unordered", 0, OPT_FLAG, OFF(unordered), NULL,
	  "paths that differ in the order of overlapping calls only are one pattern", 0, 0, NULL },
	{ "truth", 'T', OPT_STRING, OFF(truth), "FILE",
	  "judge the result by what maketrace --truth wrote", 0, 0, NULL },
	{ "node-map", 0, OPT_STRING, OFF(node_map), "FILE",
	  "rename nodes: lines of REGEX NODE; captures are matched as ADDRESS:PORT", 0, 0, NULL },
	{ "ports", 0, OPT_FLAG, OFF(ports), NULL, "servers in captures are ADDRESS:PORT", 0, 0,
	  NULL },
	{ "dedup", 0, OPT_SECONDS, OFF(dedup_ns), "TIME",
	  "a message like another within TIME before it is the same, seen at the other end", 0, 0,
	  NULL },
	{ "skip-bad", 0, OPT_FLAG, OFF(skip_bad), NULL, "leave malformed lines out and count them",
	  0, 0, NULL },
	{ 0 },
};

static int load(struct paths_run *run, char **paths, size_t cnt, struct err *err)
{
	const struct paths_opts *o = run->opts;
	struct msginput_opts in = { o->skip_bad, o->ports, NULL, run->progress };
	const struct paths_method *m = &paths_methods[o->method];
	struct nodemap *map = NULL;
	int rc = 0;

	run->t = msgtrace__new();
	if (o->node_map)
		rc = read_node_map(o->node_map, &map, err);
	in.map = map;
	if (!rc)
		rc = msginput_load(paths, cnt, &in, run->t, &run->notes, err);
	nodemap__free(map);
	if (rc)
		return rc;
	msgtrace__sort_msgs(run->t);
	if (o->dedup_ns) {
		uint64_t cut = msgdedup(run->t, (int64_t)o->dedup_ns);

		if (cut)
			buf_printf(&run->notes, "%llu messages seen twice, dropped\n",
				   (unsigned long long)cut);
	}
	if (run->t->msg_cnt)
		callpairs_find(run->t,
			       (m->wants_messages ? 0 : CALLPAIRS_DROP_MSGS) |
				       (o->truth ? CALLPAIRS_NUMBER : 0),
			       &run->pairs);
	msgtrace__sort_calls(run->t);
	return 0;
}

static void put_pairs(const struct callpairs_stats *s, struct buf *out)
{
	if (s->unreturned_cnt)
		buf_printf(out, "%llu calls without return, in no path\n",
			   (unsigned long long)s->unreturned_cnt);
	if (s->orphan_ret_cnt)
		buf_printf(out, "%llu returns without call\n",
			   (unsigned long long)s->orphan_ret_cnt);
	if (s->oneway_cnt && s->call_cnt)
		buf_printf(out, "%llu one-way messages, in no path\n",
			   (unsigned long long)s->oneway_cnt);
	if (s->self_call_cnt)
		buf_printf(out, "%llu calls of a node to itself\n",
			   (unsigned long long)s->self_call_cnt);
}

static void pairs_json(const struct callpairs_stats *s, struct json *j)
{
	json_u64(j, "messages", s->msg_cnt);
	json_u64(j, "unreturned_calls", s->unreturned_cnt);
	json_u64(j, "orphan_returns", s->orphan_ret_cnt);
	json_u64(j, "oneway_messages", s->oneway_cnt);
	json_u64(j, "self_calls", s->self_call_cnt);
}

static void put_links(const struct msgtrace *t, struct buf *out)
{
	for (size_t i = 0; i < t->call_cnt; i++) {
		if (t->calls[i].parent == CALL_NONE)
			continue;
		msgtrace__put_id(t, t->calls[i].id, out);
		buf_putc(out, '\t');
		msgtrace__put_id(t, t->calls[t->calls[i].parent].id, out);
		buf_putc(out, '\n');
	}
}

/* Puts the accuracy of p in front of the report. */
static int judge(const struct paths_run *run, const struct paths *p, struct json *j,
		 struct buf *out, struct err *err)
{
	struct msgtruth truth = { 0 };
	struct pathtruth result;
	struct paths *true_paths;
	uint32_t *true_of_call;
	struct input *in;
	int rc = input_open(run->opts->truth, &in, err);

	if (rc)
		return rc;
	rc = msgtruth_read(in, &truth, err);
	if (!rc && !run->t->call_msg && run->t->call_cnt)
		rc = err_set(err, -EINVAL, "--truth needs a trace of messages, not of spans");
	input_close(in);
	if (rc)
		goto out;
	true_of_call = xcalloc(run->t->call_cnt + 1, sizeof(*true_of_call));
	for (size_t i = 0; i < run->t->call_cnt; i++) {
		uint32_t number = run->t->call_msg[i];

		true_of_call[i] = number < truth.number_cnt ? truth.call_of_number[number] :
							      (uint32_t)CALL_NONE;
	}
	true_paths = paths__new(truth.t, run->opts->unordered ? PATHS_UNORDERED : 0);
	pathtruth_judge(p, true_paths, true_of_call, &result);
	if (j)
		pathtruth_json(&result, j);
	else
		pathtruth_text(&result, out);
	paths__free(true_paths);
	free(true_of_call);
out:
	msgtruth_free(&truth);
	return rc;
}

static int report(struct paths_run *run, struct buf *out, struct err *err)
{
	const struct paths_opts *o = run->opts;
	const struct paths_method *m = &paths_methods[o->method];
	struct pathreport_opts r = { o->top_cnt, (enum pathreport_order)o->order,
				     (int64_t)o->window_ns };
	struct paths *p = NULL;
	struct json j;
	int rc;

	if (m->report)
		return m->report(run, out, err);
	json_init(&j, out);
	if (o->json) {
		json_begin_object(&j, NULL);
		json_str(&j, "method", m->name);
		pairs_json(&run->pairs, &j);
	}
	rc = m->infer(run, o->json ? &j : NULL, err);
	if (rc)
		return rc;
	put_pairs(&run->pairs, &run->notes);
	if (o->links) {
		put_links(run->t, out);
		return 0;
	}
	p = paths__new(run->t, o->unordered ? PATHS_UNORDERED : 0);
	if (o->truth)
		rc = judge(run, p, o->json ? &j : NULL, out, err);
	if (o->json) {
		pathreport_json(p, &r, &j);
		json_end_object(&j);
		buf_putc(out, '\n');
	} else {
		if (o->truth)
			buf_putc(out, '\n');
		pathreport_text(p, &r, out);
	}
	paths__free(p);
	return rc;
}

static int run_paths(const struct paths_opts *o, struct opt_operands *operands, struct err *err)
{
	struct progress_line line;
	struct paths_run run = { .opts = o };
	struct buf out = { 0 };
	int rc;

	progress_line_init(&line);
	run.progress = &line.progress;
	rc = load(&run, operands->argv, (size_t)operands->argc, err);
	if (!rc)
		rc = report(&run, &out, err);
	progress_line_end(&line);
	fputs(buf_str(&run.notes), stderr);
	if (!rc)
		rc = outfile_put("-", OUTFILE_REPLACE, out.data ? out.data : "", out.len_bytes,
				 err);
	buf_free(&out);
	buf_free(&run.notes);
	msgtrace__free(run.t);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct paths_opts o = { .top_cnt = 10,
				.overlap_power = -1,
				.same_power = -1,
				.child_power = -1,
				.smooth_bins = -1 };
	struct opt_operands operands;
	int rc = opt_parse(options, argc, argv, &o, &operands, err);

	if (!rc && !operands.argc)
		rc = err_set(err, -EINVAL, "paths needs a trace: FILE, or - for standard input");
	if (rc) {
		opt_list_free(&o.network_nodes);
		return STATUS_USAGE;
	}
	rc = run_paths(&o, &operands, err);
	opt_list_free(&o.network_nodes);
	return rc;
}

const struct command command_paths = {
	.name = "paths",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Infer causal paths from messages between black boxes",
	.options = options,
	.run = run,
};
