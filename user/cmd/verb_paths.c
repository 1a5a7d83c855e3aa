/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof paths: causal paths from messages between black boxes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/convolution.h"
#include "user/analysis/pathcompare.h"
#include "user/analysis/pathgraph.h"
#include "user/analysis/pathreport.h"
#include "user/analysis/paths.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/cmd/graphviz.h"
#include "user/cmd/paths_method.h"
#include "user/cmd/paths_run.h"
#include "user/cmd/progress_line.h"

enum {
	COMPARE_MIN_CNT = 10, /* instances of a pattern on each side */
};

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_DOT,
	FORMAT_SVG,
	FORMAT_HTML,
	FORMAT_FOLDED,
};

static const char *const orders[] = { "count", "latency", NULL };
static const char *const anchors[] = { "hop", "root", NULL };

#define OFF(field) offsetof(struct paths_opts, field)

static const struct opt options[] = {
	{ "method", 'M', OPT_CHOICE, OFF(method), "NAME",
	  "how to find causes: match (default: each call's request, by learned delays), nesting "
	  "(patterns of calls inside calls), convolution (any messages, frequent paths), given "
	  "(the links that spans carry)",
	  0, 0, paths_method_names },
	{ "quantum", 0, OPT_SECONDS, OFF(quantum_ns), "TIME",
	  "convolution: resolution (default a thousandth of --max-lag)", 0, 0, NULL },
	{ "max-lag", 0, OPT_SECONDS, OFF(max_lag_ns), "TIME",
	  "convolution: longest delay of a node (default 2 s)", 0, 0, NULL },
	{ "root", 0, OPT_LIST, OFF(roots), "NODE",
	  "convolution: paths begin here (default: nodes that only call)", 0, 0, NULL },
	{ "anchor", 0, OPT_CHOICE, OFF(anchor), "WHAT",
	  "convolution: correlate each hop with the one before (hop) or with the first (root)", 0,
	  0, anchors },
	{ "no-echo", 0, OPT_FLAG, OFF(no_echo), NULL,
	  "convolution: drop paths that are others without a loop in them", 0, 0, NULL },
	{ "max-hops", 0, OPT_U64, OFF(max_hops), "N",
	  "convolution: messages of a path (default 12)", 1, CONV_HOPS_MAX, NULL },
	{ "min-messages", 0, OPT_U64, OFF(min_messages), "N",
	  "convolution: a path needs as many, and 2 % of its last edge's (default 20)", 1, 1e9,
	  NULL },
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
	{ "compare", 0, OPT_FLAG, OFF(compare), NULL,
	  "compare two traces: which node of which pattern got slower", 0, 0, NULL },
	{ "truth", 'T', OPT_STRING, OFF(truth), "FILE",
	  "judge the result by what maketrace --truth wrote", 0, 0, NULL },
	{ "node-map", 0, OPT_STRING, OFF(node_map), "FILE",
	  "rename nodes: lines of REGEX NODE; captures are matched as ADDRESS:PORT", 0, 0, NULL },
	{ "network-node", 0, OPT_LIST, OFF(network_nodes), "A,B",
	  "make the network between A and B a node of its own, where both ends were stamped", 0, 0,
	  NULL },
	{ "ports", 0, OPT_FLAG, OFF(ports), NULL, "servers in captures are ADDRESS:PORT", 0, 0,
	  NULL },
	{ "dedup", 0, OPT_SECONDS, OFF(dedup_ns), "TIME",
	  "a message like another within TIME before it is the same, seen at the other end", 0, 0,
	  NULL },
	{ "skip-bad", 0, OPT_FLAG, OFF(skip_bad), NULL, "leave malformed lines out and count them",
	  0, 0, NULL },
	{ 0 },
};

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

static enum format format_of(const struct paths_opts *o)
{
	static const struct {
		const char *ending;
		enum format format;
	} endings[] = { { ".dot", FORMAT_DOT },
			{ ".svg", FORMAT_SVG },
			{ ".html", FORMAT_HTML },
			{ ".json", FORMAT_JSON },
			{ ".folded", FORMAT_FOLDED } };
	size_t len_bytes = o->output ? strlen(o->output) : 0;

	for (size_t i = 0; i < ARRAY_CNT(endings); i++) {
		size_t n = strlen(endings[i].ending);

		if (len_bytes > n && !strcmp(o->output + len_bytes - n, endings[i].ending))
			return endings[i].format;
	}
	return o->json ? FORMAT_JSON : FORMAT_TEXT;
}

static int draw(const struct paths *p, const struct paths_opts *o, struct buf *out, struct err *err)
{
	struct pathreport_opts r = { o->top_cnt, (enum pathreport_order)o->order,
				     (int64_t)o->window_ns };
	struct buf dot = { 0 };
	int rc = 0;

	switch (format_of(o)) {
	case FORMAT_DOT:
		pathgraph_dot(p, &r, out);
		break;
	case FORMAT_SVG:
		pathgraph_dot(p, &r, &dot);
		rc = graphviz_svg(&dot, out, err);
		buf_free(&dot);
		break;
	case FORMAT_HTML:
		pathgraph_html(p, &r, out);
		break;
	case FORMAT_FOLDED:
		pathgraph_folded(p, out);
		break;
	default:
		pathreport_text(p, &r, out);
	}
	return rc;
}

static void begin_json(struct json *j, const struct paths_opts *o, struct buf *out)
{
	json_init(j, out);
	json_begin_object(j, NULL);
	json_str(j, "method", paths_methods[o->method].name);
}

static void end_json(struct json *j, struct buf *out)
{
	json_end_object(j);
	buf_putc(out, '\n');
}

/* The result for one trace. */
static int report(struct paths_run *run, struct buf *out, struct err *err)
{
	const struct paths_opts *o = run->opts;
	struct pathreport_opts r = { o->top_cnt, (enum pathreport_order)o->order,
				     (int64_t)o->window_ns };
	bool as_json = format_of(o) == FORMAT_JSON;
	struct paths *p = NULL;
	struct json j;
	int rc;

	if (as_json)
		begin_json(&j, o, out);
	rc = paths_run_infer(run, as_json ? &j : NULL, &p, err);
	if (!rc && o->truth)
		rc = paths_run_judge(run, p, as_json ? &j : NULL,
				     format_of(o) == FORMAT_TEXT ? out : &run->notes, err);
	if (rc)
		goto out;
	if (o->links) {
		buf_reset(out);
		put_links(run->t, out);
	} else if (as_json) {
		pathreport_json(p, &r, &j);
		end_json(&j, out);
	} else {
		if (out->len_bytes)
			buf_putc(out, '\n');
		rc = draw(p, o, out, err);
	}
out:
	paths__free(p);
	return rc;
}

static int compare(struct paths_run *runs, struct buf *out, struct err *err)
{
	const struct paths_opts *o = runs[0].opts;
	struct paths *p[2] = { NULL, NULL };
	struct pathcompare c;
	struct json j;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = paths_run_infer(&runs[i], NULL, &p[i], err);
	if (!rc) {
		pathcompare(p[0], p[1], COMPARE_MIN_CNT, &c);
		if (format_of(o) == FORMAT_JSON) {
			begin_json(&j, o, out);
			pathcompare_json(p[0], p[1], &c, &j);
			end_json(&j, out);
		} else {
			pathcompare_text(p[0], p[1], &c, o->top_cnt, out);
		}
		pathcompare_free(&c);
	}
	paths__free(p[0]);
	paths__free(p[1]);
	return rc;
}

static int run_paths(const struct paths_opts *o, struct opt_operands *files, struct err *err)
{
	const struct paths_method *m = &paths_methods[o->method];
	struct progress_line line;
	struct paths_run runs[2] = { { .opts = o }, { .opts = o } };
	struct buf out = { 0 };
	int rc = 0, cnt = o->compare ? 2 : 1;

	progress_line_init(&line);
	for (int i = 0; i < cnt && !rc; i++) {
		runs[i].progress = &line.progress;
		rc = paths_run_load(&runs[i], files->argv + (o->compare ? i : 0),
				    o->compare ? 1 : (size_t)files->argc, err);
	}
	if (!rc && m->report)
		rc = m->report(&runs[0], &out, err);
	else if (!rc)
		rc = o->compare ? compare(runs, &out, err) : report(&runs[0], &out, err);
	progress_line_end(&line);
	for (int i = 0; i < cnt; i++) {
		fputs(buf_str(&runs[i].notes), stderr);
		paths_run_fini(&runs[i]);
	}
	if (!rc)
		rc = outfile_put(o->output ? o->output : "-", OUTFILE_REPLACE, buf_str(&out),
				 out.len_bytes, err);
	buf_free(&out);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int check(const struct paths_opts *o, const struct opt_operands *files, struct err *err)
{
	if (!files->argc)
		return err_set(err, -EINVAL, "paths needs a trace: FILE, or - for standard input");
	if (o->compare && files->argc != 2)
		return err_set(err, -EINVAL, "--compare needs two traces, before and after");
	if (o->compare && (o->truth || o->links || paths_methods[o->method].report))
		return err_set(err, -EINVAL,
			       "--compare goes with neither --truth nor --links, and with methods "
			       "that find trees only");
	return 0;
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

	if (!rc)
		rc = check(&o, &operands, err);
	if (rc) {
		opt_list_free(&o.network_nodes);
		opt_list_free(&o.roots);
		return STATUS_USAGE;
	}
	rc = run_paths(&o, &operands, err);
	opt_list_free(&o.network_nodes);
	opt_list_free(&o.roots);
	return rc;
}

const struct command command_paths = {
	.name = "paths",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Infer causal paths from messages between black boxes",
	.options = options,
	.run = run,
};
