/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof diff: what changed between two profiles, or between two sets of them. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/diff.h"
#include "user/analysis/diff_report.h"
#include "user/analysis/fold.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/cmd/command.h"
#include "user/cmd/diff_picture.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/profile_source.h"

enum diff_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_MARKDOWN,
	FORMAT_FOLDED,
};

struct diff_values {
	struct source_options source;
	struct filter_options filter;
	struct opt_list before, after, gates;
	struct diff_picture_options picture;
	const char *output;
	const char *kinds;
	int normalize;
	double alpha, min_share;
	uint64_t permutations, seed, top;
	bool json, markdown, folded, strip_addresses, strip_process, force;
};

static const struct opt options[] = {
	{ "before", 0, OPT_LIST, offsetof(struct diff_values, before), "PROFILE",
	  "a profile of the first side; more may follow, also behind it as operands", 0, 0, NULL },
	{ "after", 0, OPT_LIST, offsetof(struct diff_values, after), "PROFILE",
	  "a profile of the second side; more may follow", 0, 0, NULL },
	{ "normalize", 'n', OPT_CHOICE, offsetof(struct diff_values, normalize), "BY",
	  "what makes runs comparable: none, wall, running, requests or total", 0, 0,
	  diff_normalize_names },
	{ "alpha", 0, OPT_F64, offsetof(struct diff_values, alpha), "P",
	  "chance of calling anything changed when nothing did (default 0.01)", 1e-6, 0.5, NULL },
	{ "min-share", 0, OPT_F64, offsetof(struct diff_values, min_share), "SHARE",
	  "do not test frames below this part of the whole (default 0.0001)", 0, 0.5, NULL },
	{ "permutations", 0, OPT_U64, offsetof(struct diff_values, permutations), "N",
	  "how many splits of the runs to try (default 9999)", 99, 1000000, NULL },
	{ "seed", 0, OPT_U64, offsetof(struct diff_values, seed), "N",
	  "of the random splits; the same seed gives the same result (default 1)", 0, 0, NULL },
	{ "fail-if", 0, OPT_LIST, offsetof(struct diff_values, gates), "GATE",
	  "exit with status 4 if \"[total|any|NAME] regression|improvement|change > N% [of total] "
	  "[at p < P]\" holds; may be given several times",
	  0, 0, NULL },
	{ "top", 0, OPT_U64, offsetof(struct diff_values, top), "N",
	  "rows of each table (default 20)", 1, 1000000, NULL },
	{ "output", 'o', OPT_STRING, offsetof(struct diff_values, output), "FILE.svg|.html",
	  "also draw the difference: red grew, blue shrank, grey is noise; \"-\" instead of the report",
	  0, 0, NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct diff_values, force), NULL,
	  "replace the picture if it exists", 0, 0, NULL },
	{ "width-by", 0, OPT_CHOICE, offsetof(struct diff_values, picture.width_by), "SIDE",
	  "picture: the width of frames is that after (default), before, or the larger of both", 0,
	  0, diff_picture_widths },
	{ "title", 0, OPT_STRING, offsetof(struct diff_values, picture.title), "TEXT",
	  "picture: its heading", 0, 0, NULL },
	{ "negate", 0, OPT_FLAG, offsetof(struct diff_values, picture.negate), NULL,
	  "picture: exchange red and blue", 0, 0, NULL },
	{ "inverted", 0, OPT_FLAG, offsetof(struct diff_values, picture.inverted), NULL,
	  "picture: the root on top", 0, 0, NULL },
	{ "json", 0, OPT_FLAG, offsetof(struct diff_values, json), NULL, "print JSON", 0, 0, NULL },
	{ "markdown", 0, OPT_FLAG, offsetof(struct diff_values, markdown), NULL,
	  "print a summary for a pull request", 0, 0, NULL },
	{ "folded", 0, OPT_FLAG, offsetof(struct diff_values, folded), NULL,
	  "print stacks with two counts, as difffolded.pl does", 0, 0, NULL },
	{ "kinds", 0, OPT_STRING, offsetof(struct diff_values, kinds), "KINDS",
	  "only time of these kinds: all (default), off, blocked, runnable, running, sleep, ..., with commas",
	  0, 0, NULL },
	{ "strip-addresses", 0, OPT_FLAG, offsetof(struct diff_values, strip_addresses), NULL,
	  "treat names that differ only in hexadecimal addresses as one", 0, 0, NULL },
	{ "strip-process", 0, OPT_FLAG, offsetof(struct diff_values, strip_process), NULL,
	  "leave process names out of the stacks", 0, 0, NULL },
	FILTER_OPTIONS(struct diff_values),
	SOURCE_OPTIONS(struct diff_values),
	{ 0 },
};

struct sides {
	struct profile **profiles;
	unsigned int cnt[2];
};

static void free_sides(struct sides *s)
{
	for (unsigned int i = 0; i < s->cnt[0] + s->cnt[1]; i++)
		profile__free(s->profiles[i]);
	free(s->profiles);
}

static int load_side(struct sides *s, int side, const char *const *paths, size_t cnt,
		     const struct diff_values *v, struct err *err)
{
	for (size_t i = 0; i < cnt; i++) {
		unsigned int at = s->cnt[0] + s->cnt[1];
		int rc = source_load(paths[i], &v->source, &s->profiles[at], err);

		if (rc)
			return rc;
		s->cnt[side]++;
		rc = filter_profile(s->profiles[at], &v->filter, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The shell expands "--before a*.cprof --after b*.cprof" to operands behind the options. opt_parse collects
 * operands without their place, so they are assigned to a side here, from the argument vector. */
static void assign_operands(int argc, char **argv, struct opt_list sides[2])
{
	int side = -1;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--before") || !strcmp(argv[i], "--after")) {
			side = !strcmp(argv[i], "--after");
			continue;
		}
		if (side >= 0 && argv[i][0] == '-' && argv[i][1])
			side = -1;
		if (side < 0)
			continue;
		sides[side].items = xgrow(sides[side].items, &sides[side].cap, sides[side].cnt + 1,
					  sizeof(*sides[side].items));
		sides[side].items[sides[side].cnt++] = argv[i];
	}
}

static int load_sides(struct sides *s, const struct opt_list lists[2],
		      const struct opt_operands *operands, const struct diff_values *v,
		      struct err *err)
{
	size_t cnt = lists[0].cnt + lists[1].cnt + (size_t)operands->argc;
	int rc;

	s->profiles = xcalloc(cnt + 1, sizeof(struct profile *));
	if (!lists[0].cnt && !lists[1].cnt) {
		if (operands->argc != 2)
			return err_set(
				err, -EINVAL,
				"diff takes two profiles, or --before PROFILE... --after PROFILE...");
		rc = load_side(s, 0, (const char *const *)operands->argv, 1, v, err);
		return rc ? rc :
			    load_side(s, 1, (const char *const *)operands->argv + 1, 1, v, err);
	}
	if (!lists[0].cnt || !lists[1].cnt)
		return err_set(err, -EINVAL, "%s has no profiles",
			       lists[0].cnt ? "--after" : "--before");
	if (lists[0].cnt + lists[1].cnt != v->before.cnt + v->after.cnt + (size_t)operands->argc)
		return err_set(err, -EINVAL, "give each profile behind --before or --after");
	rc = load_side(s, 0, lists[0].items, lists[0].cnt, v, err);
	return rc ? rc : load_side(s, 1, lists[1].items, lists[1].cnt, v, err);
}

static void print_report(const struct diff *d, const struct diff_values *v)
{
	struct buf out = { 0 };

	if (v->json)
		diff_report_json(d, &out);
	else if (v->markdown)
		diff_report_markdown(d, (size_t)v->top, &out);
	else if (v->folded)
		diff_report_folded(d, &out);
	else
		diff_report_text(d, (size_t)v->top, &out);
	fwrite(buf_str(&out), 1, out.len_bytes, stdout);
	buf_free(&out);
}

static void print_gate(const struct diff *d, const char *gate, int cnt, uint32_t worst)
{
	struct buf line = { 0 };

	buf_puts(&line, "causeprof: gate met: ");
	escape_terminal(&line, gate, strlen(gate));
	if (worst == UINT32_MAX) {
		buf_puts(&line, ": the total");
	} else {
		const char *name = strtab_get(&d->tree.names, d->functions[worst].name);

		buf_puts(&line, ": ");
		escape_terminal(&line, name, strlen(name));
		if (cnt > 1)
			buf_printf(&line, " and %d more", cnt - 1);
	}
	fprintf(stderr, "%s\n", buf_str(&line));
	buf_free(&line);
}

static int judge(const struct diff *d, const struct diff_gate *gates, const struct diff_values *v,
		 struct err *err)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < v->gates.cnt; i++) {
		uint32_t worst;
		int cnt = diff_gate_check(d, &gates[i], &worst, err);

		if (cnt < 0)
			return STATUS_FAILED;
		if (cnt) {
			print_gate(d, v->gates.items[i], cnt, worst);
			status = STATUS_GATE;
		}
	}
	return status;
}

static int compare(const struct sides *s, const struct diff_values *v,
		   const struct diff_gate *gates, struct err *err)
{
	struct diff_options opts = {
		.normalize = (enum diff_normalize)v->normalize,
		.tree_flags = (v->folded ? NAMETREE_SUFFIXES : 0) |
			      (v->strip_addresses ? NAMETREE_NO_ADDRESSES : 0) |
			      (v->strip_process ? NAMETREE_NO_PROCESS : 0),
		.alpha = v->alpha,
		.min_share = v->min_share,
		.permutation_cnt = (uint32_t)v->permutations,
		.seed = v->seed,
	};
	const struct profile *const *profiles = (const struct profile *const *)s->profiles;
	struct diff d;
	int status = STATUS_FAILED;

	if (v->kinds && fold_parse_kinds(v->kinds, &opts.kinds, err))
		return STATUS_USAGE;
	if (!diff__make(&d, profiles, s->cnt[0], profiles + s->cnt[0], s->cnt[1], &opts, err)) {
		if (!v->output || strcmp(v->output, "-"))
			print_report(&d, v);
		if (!v->output ||
		    !diff_picture__save(&d, &v->picture, v->output,
					v->force ? OUTFILE_REPLACE : OUTFILE_NEW, err))
			status = judge(&d, gates, v, err);
	}
	diff__fini(&d);
	return status;
}

static int parse_gates(const struct diff_values *v, struct diff_gate **ret, struct err *err)
{
	*ret = xcalloc(v->gates.cnt + 1, sizeof(**ret));
	for (size_t i = 0; i < v->gates.cnt; i++)
		if (diff_gate_parse(v->gates.items[i], v->alpha, &(*ret)[i], err))
			return -EINVAL;
	return 0;
}

static int run(int argc, char **argv, struct err *err)
{
	struct diff_values v = {
		.alpha = 0.01, .min_share = 1e-4, .permutations = 9999, .seed = 1, .top = 20
	};
	struct opt_operands operands;
	struct opt_list lists[2] = { { 0 } };
	struct sides sides = { 0 };
	struct diff_gate *gates = NULL;
	int status = STATUS_USAGE;

	assign_operands(argc, argv, lists);
	if (opt_parse(options, argc, argv, &v, &operands, err) || parse_gates(&v, &gates, err))
		goto out;
	status = STATUS_FAILED;
	if (load_sides(&sides, lists, &operands, &v, err))
		goto out;
	status = compare(&sides, &v, gates, err);
out:
	free_sides(&sides);
	free(gates);
	opt_list_free(&lists[0]);
	opt_list_free(&lists[1]);
	opt_list_free(&v.before);
	opt_list_free(&v.after);
	opt_list_free(&v.gates);
	filter_options_free(&v.filter);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[OPTIONS] BEFORE AFTER | --before PROFILE... --after PROFILE...",
	.summary = "What changed between two profiles, and what of it is more than noise",
	.details =
		"With several runs a side the runs themselves show how large noise is. p is the chance\n"
		"of one false alarm among all frames together. With one run a side only the noise of\n"
		"sampling is known.",
	.options = options,
	.run = run,
};
