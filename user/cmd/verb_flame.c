/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof flame: stacks as a picture, SVG. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/class.h"
#include "flamegraph/folded.h"
#include "flamegraph/picture.h"
#include "flamegraph/tree.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"

struct flame_args {
	struct flame_opts picture;
	const char *output, *min_width, *colors, *unit, *cls;
	bool reverse, chart, no_classes, one_count, two_counts;
};

#define OFF(field) offsetof(struct flame_args, field)

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
	{ "unit", 0, OPT_STRING, OFF(unit), "UNIT",
	  "The unit of the counts: count, ns, us, ms, s, bytes; times and sizes are shown readably",
	  0, 0, NULL },
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
	{ "only-class", 0, OPT_STRING, OFF(cls), "CLASS",
	  "Only time of this class: on, off, runnable, blocked, running, sleep, disk, ...", 0, 0,
	  NULL },
	{ "no-classes", 0, OPT_FLAG, OFF(no_classes), NULL,
	  "A last frame like [sleep] is a frame, not a class of time", 0, 0, NULL },
	{ "differential", 0, OPT_FLAG, OFF(two_counts), NULL,
	  "Lines end in two counts, before and after (found out by itself if all of them do)", 0, 0,
	  NULL },
	{ "one-count", 0, OPT_FLAG, OFF(one_count), NULL,
	  "Lines end in one count, whatever stands in front of it", 0, 0, NULL },
	{ "static", 0, OPT_FLAG, OFF(picture.all_elements), NULL,
	  "Every frame an element with a title, however large the file", 0, 0, NULL },
	{ "plain", 0, OPT_FLAG, OFF(picture.plain), NULL, "No script inside", 0, 0, NULL },
	{ 0 },
};

struct class_filter {
	enum flame_group group;
	int cls; /* -1: by group */
};

static int parse_filter(const char *word, struct class_filter *f, struct err *err)
{
	static const char *const groups[] = { "all", "on", "off", "runnable", "blocked" };

	*f = (struct class_filter){ FLAME_GROUP_ALL, -1 };
	if (!word)
		return 0;
	for (size_t i = 0; i < ARRAY_CNT(groups); i++)
		if (!strcmp(groups[i], word)) {
			f->group = (enum flame_group)i;
			return 0;
		}
	f->cls = flame_class_of_word(word);
	if (f->cls < 0)
		return err_set(err, -EINVAL,
			       "--only-class '%s': it must be all, on, off, runnable, blocked, "
			       "or one class such as running, sleep, disk",
			       word);
	return 0;
}

static bool filtered_out(const struct class_filter *f, int cls)
{
	return f->cls >= 0 ? cls != f->cls : !flame_class_in_group(cls, f->group);
}

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
static int parse_unit(const char *word, struct flame_opts *o, double *scale, struct err *err)
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
			return 0;
		}
	return word ? err_set(err, -EINVAL, "--unit '%s': it must be count, ns, us, ms, s or bytes",
			      word) :
		      0;
}

static int parse_picture(struct flame_args *a, double *scale, struct class_filter *filter,
			 struct err *err)
{
	int palette = a->colors ? flame_palette_of_word(a->colors) : FLAME_HOT;

	if (palette < 0)
		return err_set(err, -EINVAL, "--colors '%s': no such palette", a->colors);
	a->picture.palette = (enum flame_palette)palette;
	if (parse_min_width(a->min_width, &a->picture, err) ||
	    parse_unit(a->unit, &a->picture, scale, err) || parse_filter(a->cls, filter, err))
		return -EINVAL;
	return flame_opts_check(&a->picture, err);
}

struct fill {
	struct flame_tree *tree;
	const struct flame_args *args;
	struct class_filter filter;
	double scale;
	bool told_classes;
	struct flame_str *turned;
	size_t turned_cap;
};

static const struct flame_str *turn_around(struct fill *f, const struct flame_str *frames,
					   size_t cnt)
{
	f->turned = xgrow(f->turned, &f->turned_cap, cnt + 1, sizeof(*f->turned));
	for (size_t i = 0; i < cnt; i++)
		f->turned[i] = frames[cnt - 1 - i];
	return f->turned;
}

static void add_line(struct fill *f, const struct folded_line *line, bool two)
{
	struct flame_weight w[2] = { 0 };
	size_t cnt = line->frame_cnt;
	const struct flame_str *frames = line->frames;
	enum flame_class cls = FLAME_NONE;

	if (cnt && !f->args->no_classes)
		cls = flame_class_of_leaf(frames[cnt - 1].s, frames[cnt - 1].len_bytes);
	if (cls != FLAME_NONE) {
		cnt--;
		f->told_classes = true;
	}
	if (filtered_out(&f->filter, cls))
		return;
	w[0].value = line->values[two] * f->scale;
	w[1].value = line->values[0] * f->scale;
	w[1].side = FLAME_BEFORE;
	w[0].cls = w[1].cls = (uint8_t)cls;
	if (f->args->reverse)
		frames = turn_around(f, frames, cnt);
	flame_tree__add(f->tree, frames, cnt, w, two ? 2 : 1);
}

static int read_file(struct fill *f, const char *path, struct err *err)
{
	enum folded_counts counts = f->args->two_counts ? FOLDED_TWO :
				    f->args->one_count	? FOLDED_ONE :
							  FOLDED_DETECT;
	struct input *in = NULL;
	struct folded *folded = NULL;
	struct folded_line line;
	struct buf warning = { 0 };
	int rc = input_open(path, &in, err);

	if (!rc)
		rc = folded_open(in, counts, false, &folded, err);
	while (!rc && (rc = folded_next(folded, &line, err)) > 0) {
		add_line(f, &line, folded_stats(folded)->two_counts);
		rc = 0;
	}
	if (!rc) {
		folded_put_warning(folded, &warning);
		if (warning.len_bytes)
			fprintf(stderr, "causeprof: %s: %s\n", input_path(in), buf_str(&warning));
		if (folded_stats(folded)->two_counts && !f->args->two_counts)
			fprintf(stderr,
				"causeprof: %s: two counts in every line: drawn as a "
				"difference (--one-count if it is none)\n",
				input_path(in));
	}
	buf_free(&warning);
	folded_close(folded);
	input_close(in);
	return rc;
}

static int draw(struct fill *f, struct flame_args *a, struct buf *out, struct err *err)
{
	flame_tree__finish(f->tree);
	if (f->told_classes && !a->unit && !strcmp(a->picture.count_name, "samples")) {
		/* classes come from "causeprof fold", which counts microseconds */
		a->picture.unit = FLAME_UNIT_NS;
		a->picture.factor *= 1000;
	}
	return flame_svg(f->tree, &a->picture, out, err);
}

static int run(int argc, char **argv, struct err *err)
{
	struct flame_args a = { .output = "-" };
	struct opt_operands files;
	struct fill f = { .args = &a };
	struct buf out = { 0 };
	static char dash[] = "-";
	char *standard[] = { dash };
	int rc = 0, put_rc = 0;

	flame_opts_init(&a.picture);
	if (opt_parse(options, argc, argv, &a, &files, err) ||
	    parse_picture(&a, &f.scale, &f.filter, err))
		return STATUS_USAGE;
	if (!files.argc) {
		files.argv = standard;
		files.argc = 1;
	}
	a.picture.total *= f.scale;
	f.tree = flame_tree__new(a.chart ? FLAME_MERGE_CHART : FLAME_MERGE_ALL);
	for (int i = 0; !rc && i < files.argc; i++)
		rc = read_file(&f, files.argv[i], err);
	if (!rc)
		rc = draw(&f, &a, &out, err);
	if (rc == -ENODATA) {
		err_prefix(err, "%s",
			   strcmp(files.argv[0], "-") ? files.argv[0] : "standard input");
		flame_svg_message(&a.picture, err->msg, &out);
	}
	if (out.len_bytes)
		put_rc = outfile_put(a.output, OUTFILE_REPLACE, buf_str(&out), out.len_bytes, err);
	flame_tree__free(f.tree);
	free(f.turned);
	buf_free(&out);
	return rc || put_rc ? STATUS_FAILED : STATUS_DONE;
}

const struct command command_flame = {
	.name = "flame",
	.usage = "[OPTIONS] [FILE...]",
	.summary = "Draw stacks as a flame graph",
	.options = options,
	.run = run,
};
