/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof critical: which spans determine the latency, over many traces. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/ccct_encode.h"
#include "user/base/escape.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/cmd/critical.h"

static const char *const formats[] = { "text",	   "json", "operations", "folded", "freq",
				       "diff",	   "csv",  "heatmap",	 "html",   "drag",
				       "sections", "svg",  "pprof",	 NULL };

static const char *const vectors[] = { "scpv", "stv", NULL };
static const char *const detectors[] = { "robust", "autoencoder", NULL };

#define AT(member) offsetof(struct critical_options, member)

static const struct opt options[] = {
	{ .name = "service",
	  .letter = 'S',
	  .type = OPT_STRING,
	  .off_bytes = AT(service),
	  .arg = "NAME",
	  .help = "paths begin at the top-most spans of this service" },
	{ .name = "operation",
	  .letter = 'O',
	  .type = OPT_STRING,
	  .off_bytes = AT(operation),
	  .arg = "NAME",
	  .help = "paths begin at the top-most spans of this operation" },
	{ .name = "first-root",
	  .type = OPT_FLAG,
	  .off_bytes = AT(first_root),
	  .help = "only the first such span of a trace" },
	{ .name = "format",
	  .letter = 'f',
	  .type = OPT_CHOICE,
	  .off_bytes = AT(format),
	  .arg = "FORMAT",
	  .help = "text, json, operations ([SERVICE] OP<TAB>us), folded, freq, diff, csv, heatmap (TSV), "
		  "html (heat map), drag (CSV), sections (per trace: trace, span, from us, to us), svg (flame graph), pprof",
	  .choices = formats },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .off_bytes = AT(json),
	  .help = "the same as --format json" },
	{ .name = "percentile",
	  .letter = 'P',
	  .type = OPT_STRING,
	  .off_bytes = AT(percentile),
	  .arg = "LIST",
	  .help = "of folded, svg, pprof: the fastest P % of traces, or a range as 20-40; of diff and svg: two of them, as 50,95",
	  .check = critical_check_ranges },
	{ .name = "average",
	  .type = OPT_FLAG,
	  .off_bytes = AT(average),
	  .help = "folded: mean per trace instead of the sum" },
	{ .name = "no-normalize",
	  .type = OPT_FLAG,
	  .off_bytes = AT(no_normalize),
	  .help = "diff: do not scale the first column to the second's total" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_STRING,
	  .off_bytes = AT(output),
	  .arg = "FILE",
	  .help = "write there instead of to standard output" },
	{ .name = "compare",
	  .type = OPT_FLAG,
	  .off_bytes = AT(compare),
	  .help = "two operands, two populations of traces: what changed, with confidence" },
	{ .name = "what-if",
	  .type = OPT_LIST,
	  .off_bytes = AT(what_if),
	  .arg = "CHANGE",
	  .help = "root durations if an operation were faster: \"OPERATION=-20%\", "
		  "\"[SERVICE] OPERATION=-5ms\"; several times for several",
	  .check = critical_check_change },
	{ .name = "partial",
	  .type = OPT_FLAG,
	  .off_bytes = AT(partial),
	  .help = "write a partial result, to be given as an input later; any number of them, in any "
		  "order, add up to the same as all traces at once" },
	{ .name = "write",
	  .letter = 'w',
	  .type = OPT_STRING,
	  .off_bytes = AT(write),
	  .arg = "FOLDER",
	  .help = "everything at once: report, JSON, CSV, folded, differences, pictures, heat map, pprof" },
	{ .name = "top",
	  .type = OPT_U64,
	  .off_bytes = AT(top),
	  .arg = "N",
	  .help = "rows of each table (default 20)",
	  .max = 1e6 },
	{ .name = "columns",
	  .type = OPT_U64,
	  .off_bytes = AT(columns),
	  .arg = "N",
	  .help = "traces in the heat map (default 200)",
	  .max = 10000 },
	{ .name = "exact",
	  .type = OPT_FLAG,
	  .off_bytes = AT(exact),
	  .help = "no tolerance for children that overlap a little" },
	{ .name = "jaeger-ties",
	  .type = OPT_FLAG,
	  .off_bytes = AT(jaeger_ties),
	  .help = "the path as the Jaeger UI draws it" },
	{ .name = "crisp2022",
	  .type = OPT_FLAG,
	  .off_bytes = AT(crisp2022),
	  .help = "the path as CRISP was published" },
	{ .name = "no-shift",
	  .type = OPT_FLAG,
	  .off_bytes = AT(no_shift),
	  .help = "cut servers to their clients instead of shifting them against clock skew" },
	{ .name = "max-shift",
	  .type = OPT_SECONDS,
	  .off_bytes = AT(max_shift_ns),
	  .arg = "TIME",
	  .help = "cut where the clocks would have to differ by more (default 1 s)" },
	{ .name = "model",
	  .letter = 'm',
	  .type = OPT_STRING,
	  .off_bytes = AT(model),
	  .arg = "FILE",
	  .help = "train: write the detector there; score: use it" },
	{ .name = "vector",
	  .type = OPT_CHOICE,
	  .off_bytes = AT(vector),
	  .arg = "KIND",
	  .help = "train: scpv (critical path, default) or stv (whole trace)",
	  .choices = vectors },
	{ .name = "detector",
	  .type = OPT_CHOICE,
	  .off_bytes = AT(detector),
	  .arg = "KIND",
	  .help = "train: robust (default) or autoencoder",
	  .choices = detectors },
	{ .name = "follow",
	  .type = OPT_FLAG,
	  .off_bytes = AT(follow),
	  .help = "score: each verdict as soon as its trace has arrived" },
	{ .name = "skip-bad",
	  .type = OPT_FLAG,
	  .off_bytes = AT(skip_bad),
	  .help = "go on after a damaged file, and count it" },
	{ .name = "strict",
	  .type = OPT_FLAG,
	  .off_bytes = AT(strict),
	  .help = "exit status 3 if anything was set aside" },
	{ .name = "threads",
	  .letter = 'j',
	  .type = OPT_U64,
	  .off_bytes = AT(threads),
	  .arg = "N",
	  .help = "default: one a CPU",
	  .max = 1024 },
	{ .name = "window",
	  .type = OPT_U64,
	  .off_bytes = AT(window_spans),
	  .arg = "SPANS",
	  .help = "OTLP: spans held while their traces may still grow (default 1000000)",
	  .max = 1e12 },
	{ 0 },
};

/* What was set aside or repaired: examples, then counts. */
static void print_notes(const struct critical_run *run)
{
	const struct ccct_totals *t = &run->ccct.totals;
	struct buf b = { 0 };

	for (size_t i = 0; i < run->notes.cnt && i < 20; i++) {
		const char *text = run->notes.items[i].text;

		buf_puts(&b, "note: ");
		escape_terminal(&b, text, strlen(text));
		buf_putc(&b, '\n');
	}
	for (int i = 0; i < TREE_NOTE_MAX; i++)
		if (t->notes[i])
			buf_printf(&b, "%10llu  %s\n", (unsigned long long)t->notes[i],
				   tree_note_name(i));
	for (int i = 0; i < TRACE_FLAW_MAX; i++)
		if (t->flaws[i])
			buf_printf(&b, "%10llu  %s\n", (unsigned long long)t->flaws[i],
				   trace_flaw_name(i));
	if (t->rootless_cnt)
		buf_printf(&b,
			   "%10llu  traces without a span that matches --service and --operation\n",
			   (unsigned long long)t->rootless_cnt);
	if (t->split_cnt)
		buf_printf(
			&b,
			"%10llu  traces in several pieces: their spans lie further apart than --window\n",
			(unsigned long long)t->split_cnt);
	if (t->bad_file_cnt)
		buf_printf(&b, "%10llu  damaged files\n", (unsigned long long)t->bad_file_cnt);
	fputs(buf_str(&b), stderr);
	buf_free(&b);
}

static bool anything_lost(const struct ccct_totals *t)
{
	uint64_t lost =
		t->bad_file_cnt + t->split_cnt + t->notes[TREE_OUTSIDE] + t->notes[TREE_ORPHAN];

	for (int i = 0; i < TRACE_FLAW_MAX; i++)
		lost += t->flaws[i];
	return lost > 0;
}

/* The sub-commands that do not print one sum of traces. */
static int special(char **paths, int cnt, const struct critical_options *o, struct err *err)
{
	struct buf out = { 0 };
	int rc;

	if (o->compare)
		rc = critical_compare(paths, cnt, o, &out, err);
	else if (o->what_if.cnt)
		rc = critical_what_if(paths, cnt, o, &out, err);
	else
		rc = critical_sections(paths, cnt, o, &out, err);
	if (!rc)
		rc = outfile_put(o->output ? o->output : "-", OUTFILE_REPLACE, buf_str(&out),
				 out.len_bytes, err);
	buf_free(&out);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int result(const struct critical_run *run, const struct critical_options *o, struct buf *out,
		  struct err *err)
{
	int rc = 0;

	if (o->write)
		rc = critical_write_all(run, o, o->write, err);
	else if (o->partial)
		ccct_encode(&run->ccct, out);
	else
		rc = critical_print(run, o, out, err);
	return rc;
}

static int report(char **paths, int cnt, const struct critical_options *o, struct err *err)
{
	struct critical_run run = { 0 };
	struct buf out = { 0 };
	int status = STATUS_DONE, rc = critical_read(paths, cnt, o, &run, err);

	print_notes(&run);
	if (!rc && !run.ccct.trace_cnt && !o->partial)
		rc = err_set(err, -ENODATA, "%s: no %s", paths[0],
			     run.ccct.totals.trace_cnt ?
				     (o->service || o->operation ?
					      "span matches --service and --operation" :
					      "usable span in there") :
				     "traces in there: neither Jaeger nor OTLP, or empty");
	if (!rc)
		rc = result(&run, o, &out, err);
	if (!rc && !o->write)
		rc = outfile_put(o->output ? o->output : "-", OUTFILE_REPLACE, buf_str(&out),
				 out.len_bytes, err);
	if (rc)
		status = STATUS_FAILED;
	else if (o->strict && anything_lost(&run.ccct.totals))
		status = STATUS_LOST;
	buf_free(&out);
	critical_run__free(&run);
	return status;
}

/* The words that may stand in front of the files. */
static int learn_or_score(char **argv, int cnt, const struct critical_options *o, struct err *err)
{
	bool train = !strcmp(argv[0], "train");

	if (!o->model || cnt < 2) {
		err_set(err, -EINVAL, "%s: --model FILE and trace files are needed", argv[0]);
		return STATUS_USAGE;
	}
	return (train ? critical_train(argv + 1, cnt - 1, o, err) :
			critical_score(argv + 1, cnt - 1, o, err)) ?
		       STATUS_FAILED :
		       STATUS_DONE;
}

static bool is_word(const char *operand)
{
	return !strcmp(operand, "train") || !strcmp(operand, "score");
}

static int run(int argc, char **argv, struct err *err)
{
	struct critical_options o = { .max_shift_ns = 1000000000, .top = 20, .columns = 200 };
	struct opt_operands operands;
	int status = STATUS_USAGE;

	if (!opt_parse(options, argc, argv, &o, &operands, err)) {
		if (o.json)
			o.format = CRITICAL_JSON;
		if (!operands.argc)
			err_set(err, -EINVAL, "no trace file or folder given; - is standard input");
		else if (is_word(operands.argv[0]))
			status = learn_or_score(operands.argv, operands.argc, &o, err);
		else if (o.compare || o.what_if.cnt || o.format == CRITICAL_SECTIONS)
			status = special(operands.argv, operands.argc, &o, err);
		else
			status = report(operands.argv, operands.argc, &o, err);
	}
	opt_list_free(&o.what_if);
	return status;
}

const struct command command_critical = {
	.name = "critical",
	.usage = "[OPTIONS] [train|score] FILE|FOLDER...",
	.summary = "Critical paths of traces: which spans determine the latency",
	.details =
		"Reads Jaeger JSON and OTLP (JSON or protobuf), plain, gzip or zstd; - is standard input.",
	.options = options,
	.run = run,
};
