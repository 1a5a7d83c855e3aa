/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From stacks to the tree of a picture; see flame_fill.h. */
#include "user/cmd/flame_fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/fold.h"
#include "user/base/mem.h"
#include "user/exchange/exchange.h"
#include "user/cmd/flame_chart.h"
#include "user/cmd/flame_wakers.h"
#include "user/cmd/stack_names.h"
#include "user/store/format.h"

const char *const flame_by_words[] = { "nothing", "lane",   "class",	 "thread", "process",
				       "request", "cgroup", "container", NULL };

int class_filter_parse(const char *word, struct class_filter *ret, struct err *err)
{
	static const char *const groups[] = { "all", "on", "off", "runnable", "blocked" };

	*ret = (struct class_filter){ FLAME_GROUP_ALL, -1 };
	if (!word)
		return 0;
	for (size_t i = 0; i < ARRAY_CNT(groups); i++)
		if (!strcmp(groups[i], word)) {
			ret->group = (enum flame_group)i;
			return 0;
		}
	ret->cls = flame_class_of_word(word);
	if (ret->cls > 0)
		return 0;
	return err_set(err, -EINVAL,
		       "--state '%s': it must be all, on, off, runnable, blocked, or one of "
		       "running, preempted, woken, sleep, disk, stopped, traced, parked, idle",
		       word);
}

static bool keeps(const struct class_filter *f, int cls)
{
	return f->cls >= 0 ? cls == f->cls : flame_class_in_group(cls, f->group);
}

static const char *lane_of(enum flame_by by, int cls)
{
	if (by == FLAME_BY_LANE)
		return cls == FLAME_RUNNING ? "on-CPU" : "off-CPU";
	return flame_class_label(cls);
}

/* The frames in the order of the tree: the lane, then the stack, turned around if asked for. */
static const struct flame_str *arrange(struct flame_fill *f, const struct flame_str *frames,
				       size_t *cnt, int cls)
{
	bool lane = (f->by == FLAME_BY_LANE || f->by == FLAME_BY_CLASS) && cls != FLAME_NONE;
	size_t n = *cnt;

	if (!lane && !f->reverse)
		return frames;
	f->turned = xgrow(f->turned, &f->turned_cap, n + 1, sizeof(*f->turned));
	for (size_t i = 0; i < n; i++)
		f->turned[lane + i] = frames[f->reverse ? n - 1 - i : i];
	if (lane)
		f->turned[0] =
			(struct flame_str){ lane_of(f->by, cls), strlen(lane_of(f->by, cls)) };
	*cnt = n + lane;
	return f->turned;
}

static void add_stack(struct flame_fill *f, const struct flame_str *frames, size_t cnt,
		      const struct flame_weight *weights, size_t weight_cnt)
{
	f->stack_cnt++;
	if (!keeps(&f->filter, weights[0].cls))
		return;
	frames = arrange(f, frames, &cnt, weights[0].cls);
	flame_tree__add(f->tree, frames, cnt, weights, weight_cnt);
}

void flame_fill__stack(struct flame_fill *f, struct stack_names *names,
		       const struct flame_weight *weight)
{
	const struct flame_str *frames = stack_names_frames(names);

	add_stack(f, frames, names->cnt, weight, 1);
}

/* Folded text ------------------------------------------------------------------------------------------ */

static void add_line(struct flame_fill *f, const struct folded_line *line, bool two)
{
	struct flame_weight w[2] = { { .value = line->values[two] * f->scale },
				     { .value = line->values[0] * f->scale,
				       .side = FLAME_BEFORE } };
	size_t cnt = line->frame_cnt;
	enum flame_class cls = FLAME_NONE;

	if (cnt && !f->no_classes)
		cls = flame_class_of_leaf(line->frames[cnt - 1].s, line->frames[cnt - 1].len_bytes);
	f->told_classes |= cls != FLAME_NONE;
	w[0].cls = w[1].cls = (uint8_t)(cls ? (int)cls : f->default_cls);
	add_stack(f, line->frames, cnt - (cls != FLAME_NONE), w, two ? 2 : 1);
}

static void tell_folded(const struct flame_fill *f, struct folded *folded, const char *path)
{
	struct buf warning = { 0 };

	folded_put_warning(folded, &warning);
	if (warning.len_bytes)
		fprintf(stderr, "causeprof: %s: %s\n", path, buf_str(&warning));
	if (folded_stats(folded)->two_counts && f->counts == FOLDED_DETECT)
		fprintf(stderr,
			"causeprof: %s: two counts in every line: drawn as a difference "
			"(--one-count if it is none)\n",
			path);
	buf_free(&warning);
}

static int fill_folded(struct flame_fill *f, struct input *in, struct err *err)
{
	struct folded *folded = NULL;
	struct folded_line line;
	int rc = folded_open(in, f->counts, false, &folded, err);

	while (!rc && (rc = folded_next(folded, &line, err)) > 0) {
		add_line(f, &line, folded_stats(folded)->two_counts);
		rc = 0;
	}
	if (!rc)
		tell_folded(f, folded, input_path(in));
	folded_close(folded);
	return rc;
}

void flame_fill__derive(struct flame_fill *f, const struct flame_tree *from)
{
	struct flame_str *path = NULL;
	size_t cap = 0;

	for (uint32_t n = 0; n < from->node_cnt; n++) {
		size_t cnt = 0;

		if (!from->nodes[n].cell)
			continue;
		for (uint32_t up = n; up; up = from->nodes[up].parent)
			cnt++;
		path = xgrow(path, &cap, cnt + 1, sizeof(*path));
		for (uint32_t up = n, i = (uint32_t)cnt; i--; up = from->nodes[up].parent) {
			uint32_t name = from->nodes[up].name;

			path[i] = (struct flame_str){ strtab_get(&from->names, name),
						      strtab_len_bytes(&from->names, name) };
		}
		for (uint32_t c = from->nodes[n].cell; c; c = from->cells[c - 1].next) {
			const struct flame_cell *cell = &from->cells[c - 1];

			add_stack(f, path, cnt,
				  &(struct flame_weight){ cell->value, cell->cnt, cell->cls,
							  cell->side },
				  1);
		}
	}
	free(path);
}

/* Profiles --------------------------------------------------------------------------------------------- */

static void add_row(void *ctx, const char *const *names, size_t name_cnt,
		    const struct fold_row *row)
{
	struct flame_fill *f = ctx;
	struct flame_str *frames = xcalloc(name_cnt + 1, sizeof(*frames));
	bool asleep = row->flags & PART_ASLEEP_THROUGHOUT && !f->unfold_asleep;
	struct flame_weight w = { .value = (double)row->ns, .cnt = row->cnt };

	/* kinds of a profile and classes of a picture have the same numbers; newer kinds have none */
	w.cls = asleep ? FLAME_ASLEEP : row->kind <= FLAME_IDLE ? row->kind : FLAME_NONE;
	for (size_t i = 0; i < name_cnt; i++)
		frames[i] = (struct flame_str){ names[i], strlen(names[i]) };
	add_stack(f, frames, name_cnt, &w, 1);
	free(frames);
}

void flame_fill__profile(struct flame_fill *f, const struct profile *p)
{
	static const enum fold_root roots[] = {
		[FLAME_BY_NOTHING] = FOLD_ROOT_COMM,	[FLAME_BY_LANE] = FOLD_ROOT_COMM,
		[FLAME_BY_CLASS] = FOLD_ROOT_COMM,	[FLAME_BY_THREAD] = FOLD_ROOT_THREAD,
		[FLAME_BY_PROCESS] = FOLD_ROOT_PROCESS, [FLAME_BY_GATE] = FOLD_ROOT_GATE,
		[FLAME_BY_CGROUP] = FOLD_ROOT_CGROUP,	[FLAME_BY_CONTAINER] = FOLD_ROOT_CONTAINER,
	};
	struct fold_opts opts = {
		.kinds = FOLD_KINDS_ALL,
		.flags = FOLD_SUFFIXES | (f->unfold_asleep ? FOLD_UNFOLD_ASLEEP : 0),
		.root = roots[f->by],
	};
	struct fold fold;

	fold_init(&fold, p, &opts);
	fold_each(&fold, add_row, f);
	fold_free(&fold);
}

static bool is_folded(struct input *in)
{
	const char *head;
	ssize_t n = input_peek(in, strlen(FORMAT_MAGIC), &head, NULL);
	const struct exchange_format *format;
	struct err ignored = { 0 };

	if (n >= (ssize_t)strlen(FORMAT_MAGIC) && !memcmp(head, FORMAT_MAGIC, strlen(FORMAT_MAGIC)))
		return false;
	format = exchange_sniff(in, &ignored);
	return !format || !strcmp(format->name, "folded");
}

static int fill_profile(struct flame_fill *f, const struct profile *p, const char *path,
			struct err *err)
{
	const char *what = f->wakers ? "who woke whom" : "when";

	if (!f->wakers && f->tree->merge == FLAME_MERGE_ALL) {
		flame_fill__profile(f, p);
		return 0;
	}
	if (f->wakers ? flame_fill__wakers(f, p) : flame_fill__chart(f, p))
		return 0;
	return err_set(err, -EINVAL,
		       "%s has no intervals, which tell %s; record it with --intervals", path,
		       what);
}

int flame_fill__file(struct flame_fill *f, const char *path, const struct source_options *source,
		     struct err *err)
{
	bool part = f->part && filter_options_any(f->part);
	struct input *in = NULL;
	struct profile *p = NULL;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	if (!part && (source->from ? !strcmp(source->from, "folded") : is_folded(in))) {
		rc = fill_folded(f, in, err);
	} else {
		rc = source_read(in, path, source, &p, err);
		if (!rc && part)
			rc = filter_profile(p, f->part, err);
		rc = rc ? rc : fill_profile(f, p, path, err);
	}
	if (!f->kept)
		f->kept = p;
	else
		profile__free(p);
	input_close(in);
	return rc;
}

void flame_fill__fini(struct flame_fill *f)
{
	free(f->turned);
	profile__free(f->kept);
}

void flame_set_unit(struct flame_opts *o, const struct profile *p)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	if (!*unit || !strcmp(unit, "ns"))
		o->unit = FLAME_UNIT_NS;
	else if (!strcmp(unit, "bytes"))
		o->unit = FLAME_UNIT_BYTES;
	else
		o->count_name = unit;
}

int flame_profile_svg(const struct profile *p, const struct flame_opts *opts, struct buf *out,
		      struct err *err)
{
	struct flame_fill f = { .tree = flame_tree__new(FLAME_MERGE_ALL),
				.filter = { FLAME_GROUP_ALL, -1 } };
	struct flame_opts o = *opts;
	int rc;

	flame_set_unit(&o, p);
	flame_fill__profile(&f, p);
	flame_tree__finish(f.tree);
	rc = flame_svg(f.tree, &o, out, err);
	flame_fill__fini(&f);
	flame_tree__free(f.tree);
	return rc;
}
