/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof flame: stacks as a picture. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/picture.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/cmd/flame_fill.h"
#include "user/cmd/flame_page.h"
#include "user/cmd/picture.h"
#include "user/cmd/profile_source.h"

struct flame_args {
	struct flame_opts picture;
	struct source_options source;
	struct filter_options filter;
	const char *output, *min_width, *colors, *state;
	int by, width_by;
	bool reverse, chart, no_classes, one_count, two_counts, unfold_asleep, html, wakers;
};

#define OFF(field) offsetof(struct flame_args, field)

static const char *const width_words[] = { "after", "before", "union", NULL };

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, OFF(output), "FILE",
	  "Where to write; \"-\" is standard output (default)", 0, 0, NULL },
	{ "title", 0, OPT_STRING, OFF(picture.title), "TEXT", "Heading", 0, 0, NULL },
	{ "subtitle", 0, OPT_STRING, OFF(picture.subtitle), "TEXT", "Second line of the heading", 0,
	  0, NULL },
	{ "width", 0, OPT_F64, OFF(picture.width_px), "PIXELS", "Width of the picture (1200)", 0, 0,
	  NULL },
	{ "height", 0, OPT_F64, OFF(picture.frame_height_px), "PIXELS", "Height of a frame (16)", 0,
	  0, NULL },
	{ "minwidth", 0, OPT_STRING, OFF(min_width), "N",
	  "Leave out frames narrower than this many pixels, or percent with \"%\" (0.1)", 0, 0,
	  NULL },
	{ "fonttype", 0, OPT_STRING, OFF(picture.font_type), "FONT", "Font (Verdana)", 0, 0, NULL },
	{ "fontsize", 0, OPT_F64, OFF(picture.font_size_px), "PIXELS", "Size of the font (12)", 0,
	  0, NULL },
	{ "fontwidth", 0, OPT_F64, OFF(picture.font_width_em), "EM",
	  "Mean width of a character (0.59)", 0, 0, NULL },
	{ "countname", 0, OPT_STRING, OFF(picture.count_name), "TEXT", "What is counted (samples)",
	  0, 0, NULL },
	{ "nametype", 0, OPT_STRING, OFF(picture.name_type), "TEXT",
	  "What the names are (Function:)", 0, 0, NULL },
	{ "colors", 0, OPT_STRING, OFF(colors), "PALETTE",
	  "hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple, orange",
	  0, 0, NULL },
	{ "bgcolors", 0, OPT_STRING, OFF(picture.bg_colors), "COLOR",
	  "Background: yellow, blue, green, grey, #rrggbb", 0, 0, NULL },
	{ "hash", 0, OPT_FLAG, OFF(picture.hash), NULL, "Names that begin alike get like colours",
	  0, 0, NULL },
	{ "random", 0, OPT_FLAG, OFF(picture.random), NULL, "Colours vary more", 0, 0, NULL },
	{ "inverted", 0, OPT_FLAG, OFF(picture.inverted), NULL, "Root on top: an icicle graph", 0,
	  0, NULL },
	{ "reverse", 0, OPT_FLAG, OFF(reverse), NULL, "Merge from the leaf: who calls what is hot",
	  0, 0, NULL },
	{ "flamechart", 0, OPT_FLAG, OFF(chart), NULL,
	  "Keep the order of the stacks, merge neighbours only", 0, 0, NULL },
	{ "negate", 0, OPT_FLAG, OFF(picture.negate), NULL, "Exchange red and blue of a difference",
	  0, 0, NULL },
	{ "total", 0, OPT_F64, OFF(picture.total), "COUNT",
	  "What the whole width stands for, if more than the sum", 0, 0, NULL },
	{ "factor", 0, OPT_F64, OFF(picture.factor), "N", "Multiply the counts shown", 0, 0, NULL },
	{ "notes", 0, OPT_STRING, OFF(picture.notes), "TEXT", "A comment inside of the file", 0, 0,
	  NULL },
	{ "state", 0, OPT_STRING, OFF(state), "STATE",
	  "Only time of this state: on, off, runnable, blocked, running, sleep, disk, ...", 0, 0,
	  NULL },
	{ "by", 0, OPT_CHOICE, OFF(by), "WHAT",
	  "Parts side by side in one scale: lane (on-CPU, off-CPU), class (each state), thread, process, request, cgroup, container",
	  0, 0, flame_by_words },
	{ "wakers", 0, OPT_FLAG, OFF(wakers), NULL,
	  "Who ended the waits: above each stack that waited, behind \"--\", that of its waker", 0,
	  0, NULL },
	{ "unfold-asleep", 0, OPT_FLAG, OFF(unfold_asleep), NULL,
	  "Show the stacks of threads that never ran, not one grey frame for all", 0, 0, NULL },
	{ "width-by", 0, OPT_CHOICE, OFF(width_by), "SIDE",
	  "What the width is in a difference: after (default), before, union (the larger side, so that vanished code is seen)",
	  0, 0, width_words },
	{ "no-classes", 0, OPT_FLAG, OFF(no_classes), NULL,
	  "A last frame like [sleep] is a frame, not a class of time", 0, 0, NULL },
	{ "differential", 0, OPT_FLAG, OFF(two_counts), NULL,
	  "Lines end in two counts, before and after (found out by itself if all of them do)", 0, 0,
	  NULL },
	{ "one-count", 0, OPT_FLAG, OFF(one_count), NULL,
	  "Lines end in one count, whatever stands in front of it", 0, 0, NULL },
	SOURCE_OPTIONS(struct flame_args),
	FILTER_OPTIONS(struct flame_args),
	{ "html", 0, OPT_FLAG, OFF(html), NULL,
	  "A page with tabs and, where there are intervals, a heat map; told by FILE's ending, too",
	  0, 0, NULL },
	{ "static", 0, OPT_FLAG, OFF(picture.all_elements), NULL,
	  "Every frame an element with a title, however large the file", 0, 0, NULL },
	{ "plain", 0, OPT_FLAG, OFF(picture.plain), NULL, "No script inside", 0, 0, NULL },
	{ 0 },
};

static int parse_min_width(const char *text, struct flame_opts *o, struct err *err)
{
	size_t len_bytes = text ? strlen(text) : 0;
	char *copy;
	int rc;

	if (!text)
		return 0;
	o->min_width_is_percent = len_bytes && text[len_bytes - 1] == '%';
	copy = xstrndup(text, len_bytes - o->min_width_is_percent);
	rc = parse_f64(copy, &o->min_width, err);
	free(copy);
	if (rc)
		err_prefix(err, "--minwidth");
	return rc;
}

/* Times are kept in nanoseconds, so that they can be shown in a fitting unit. */
static void parse_unit(const char *word, struct flame_opts *o, double *scale)
{
	static const struct {
		const char *word;
		enum flame_unit unit;
		double scale;
	} units[] = {
		{ "count", FLAME_UNIT_COUNT, 1 }, { "ns", FLAME_UNIT_NS, 1 },
		{ "us", FLAME_UNIT_NS, 1e3 },	  { "ms", FLAME_UNIT_NS, 1e6 },
		{ "s", FLAME_UNIT_NS, 1e9 },	  { "bytes", FLAME_UNIT_BYTES, 1 },
	};

	*scale = 1;
	for (size_t i = 0; word && i < ARRAY_CNT(units); i++)
		if (!strcmp(units[i].word, word)) {
			o->unit = units[i].unit;
			*scale = units[i].scale;
			return;
		}
	if (word)
		o->count_name = word;
}

static int parse_picture(struct flame_args *a, struct flame_fill *f, struct err *err)
{
	int palette = a->colors ? flame_palette_of_word(a->colors) : FLAME_HOT;

	if (palette < 0)
		return err_set(err, -EINVAL, "--colors '%s': no such palette; --help lists them",
			       a->colors);
	a->picture.palette = (enum flame_palette)palette;
	a->picture.width_by = (enum flame_width_by)a->width_by;
	f->by = (enum flame_by)a->by;
	f->counts = a->two_counts ? FOLDED_TWO : a->one_count ? FOLDED_ONE : FOLDED_DETECT;
	f->reverse = a->reverse;
	f->no_classes = a->no_classes;
	f->unfold_asleep = a->unfold_asleep;
	f->wakers = a->wakers;
	f->part = &a->filter;
	f->default_cls = a->source.kind;
	parse_unit(a->source.unit, &a->picture, &f->scale);
	if (a->source.hz > 0) {
		a->picture.unit = FLAME_UNIT_NS;
		f->scale = 1e9 / a->source.hz;
	}
	if (parse_min_width(a->min_width, &a->picture, err) ||
	    class_filter_parse(a->state, &f->filter, err))
		return -EINVAL;
	return flame_opts_check(&a->picture, err);
}

/* What the values are and what the heading says, where the options do not. */
static void settle_texts(struct flame_args *a, const struct flame_fill *f,
			 struct picture_text *text)
{
	const char *asked = a->picture.count_name;

	if (f->kept) {
		picture__describe(f->kept, &a->picture, text);
		flame_set_unit(&a->picture, f->kept);
		if (strcmp(asked, "samples")) {
			a->picture.unit = FLAME_UNIT_COUNT;
			a->picture.count_name = asked;
		}
	} else if (f->told_classes && !a->source.unit && !(a->source.hz > 0) &&
		   !strcmp(a->picture.count_name, "samples")) {
		/* classes come from "causeprof fold", which counts microseconds */
		a->picture.unit = FLAME_UNIT_NS;
		a->picture.factor *= 1000;
	}
}

static int draw(struct flame_args *a, struct flame_fill *f, struct buf *out, struct err *err)
{
	struct picture_text text = { 0 };
	struct flame_heat heat = { 0 };
	int rc;

	if (f->stack_cnt && !f->tree->cell_cnt)
		return err_set(err, -ENODATA, "--state %s leaves none of %llu stacks", a->state,
			       (unsigned long long)f->stack_cnt);
	if (a->html && f->kept && f->by == FLAME_BY_NOTHING && !a->wakers && !a->reverse &&
	    !a->chart)
		flame_heat_init(&heat, f, f->kept);
	flame_tree__finish(f->tree);
	settle_texts(a, f, &text);
	rc = a->html ? flame_page__put(f, &a->picture, &heat, out, err) :
		       flame_svg(f->tree, &a->picture, out, err);
	flame_heat_fini(&heat);
	picture_text_free(&text);
	return rc;
}

static int run_parsed(struct flame_args *a, struct flame_fill *f, int file_cnt, char **files,
		      struct err *err)
{
	struct buf out = { 0 };
	int rc = 0, put_rc = 0;

	f->tree = flame_tree__new(a->chart ? FLAME_MERGE_CHART : FLAME_MERGE_ALL);
	for (int i = 0; !rc && i < file_cnt; i++)
		rc = flame_fill__file(f, files[i], &a->source, err);
	if (!rc)
		rc = draw(a, f, &out, err);
	if (rc == -ENODATA && !a->html) { /* a picture that says so, for tools that expect a file */
		err_prefix(err, "%s", strcmp(files[0], "-") ? files[0] : "standard input");
		flame_svg_message(&a->picture, err->msg, &out);
	}
	if (out.len_bytes)
		put_rc = outfile_put(a->output, OUTFILE_REPLACE, buf_str(&out), out.len_bytes, err);
	flame_tree__free(f->tree);
	flame_fill__fini(f);
	buf_free(&out);
	return rc || put_rc ? STATUS_FAILED : STATUS_DONE;
}

static bool is_html(const char *path, bool asked)
{
	size_t len_bytes = strlen(path);

	return asked || (len_bytes > 5 && !strcmp(path + len_bytes - 5, ".html")) ||
	       (len_bytes > 4 && !strcmp(path + len_bytes - 4, ".htm"));
}

static int run(int argc, char **argv, struct err *err)
{
	struct flame_args a = { .output = "-" };
	struct opt_operands files;
	struct flame_fill f = { 0 };
	char dash[] = "-";
	char *standard[] = { dash };
	int status;

	flame_opts_init(&a.picture);
	if (opt_parse(options, argc, argv, &a, &files, err) || parse_picture(&a, &f, err))
		return STATUS_USAGE;
	a.picture.total *= f.scale;
	a.html = is_html(a.output, a.html);
	if (files.argc)
		status = run_parsed(&a, &f, files.argc, files.argv, err);
	else
		status = run_parsed(&a, &f, 1, standard, err);
	filter_options_free(&a.filter);
	return status;
}

const struct command command_flame = {
	.name = "flame",
	.usage = "[OPTIONS] [FILE...]",
	.summary = "Draw stacks as a flame graph",
	.options = options,
	.run = run,
};
