/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as a flame graph; see picture.h. */
#include "user/cmd/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/class.h"
#include "user/analysis/totals.h"
#include "user/base/mem.h"
#include "user/cmd/summary.h"

_Static_assert((int)FLAME_NONE == KIND_NONE && (int)FLAME_RUNNING == KIND_RUNNING &&
		       (int)FLAME_PREEMPTED == KIND_PREEMPTED && (int)FLAME_WOKEN == KIND_WOKEN &&
		       (int)FLAME_SLEEP == KIND_SLEEP && (int)FLAME_DISK == KIND_DISK &&
		       (int)FLAME_STOPPED == KIND_STOPPED && (int)FLAME_TRACED == KIND_TRACED &&
		       (int)FLAME_PARKED == KIND_PARKED && (int)FLAME_IDLE == KIND_IDLE,
	       "classes of a picture are numbered as kinds of time");

struct fill {
	struct flame_tree *tree;
	const struct picture_opts *opts;
	enum flame_side side;
	const char **turned;
	size_t turned_cap;
};

static enum flame_class class_of(const struct fold_row *row)
{
	if (row->flags & PART_ASLEEP_THROUGHOUT)
		return FLAME_ASLEEP;
	return row->kind < KIND_MAX ? (enum flame_class)row->kind : FLAME_NONE;
}

static void add_stack(void *ctx, const char *const *names, size_t name_cnt,
		      const struct fold_row *row)
{
	struct fill *f = ctx;
	enum flame_class cls = class_of(row);
	const struct flame_weight w = { .value = (double)row->ns,
					.cnt = row->cnt,
					.cls = (uint8_t)cls,
					.side = (uint8_t)f->side };

	if (f->opts->classes && !(f->opts->classes >> cls & 1))
		return;
	if (f->opts->reverse) {
		if (name_cnt >= f->turned_cap)
			f->turned =
				xgrow(f->turned, &f->turned_cap, name_cnt + 1, sizeof(*f->turned));
		for (size_t i = 0; i < name_cnt; i++)
			f->turned[i] = names[name_cnt - 1 - i];
		names = f->turned;
	}
	flame_tree__add_names(f->tree, names, name_cnt, &w, 1);
}

void picture__fill(struct flame_tree *t, const struct profile *p, const struct picture_opts *o,
		   enum flame_side side)
{
	const struct fold_opts opts = { .kinds = FOLD_KINDS_ALL,
					.flags = o->fold_flags,
					.root = o->root };
	struct fill fill = { .tree = t, .opts = o, .side = side };
	struct fold f;

	fold_init(&f, p, &opts);
	fold_each(&f, add_stack, &fill);
	fold_free(&f);
	free(fill.turned);
}

/* Where it was recorded, of what, and what is missing; the legend tells the times. */
static void put_subtitle(const struct profile *p, struct buf *out)
{
	const struct header *h = &p->header;
	struct totals t;

	totals_init(&t, p);
	if (h->kernel_sid)
		buf_printf(out, "Linux %s %s", profile__str(p, h->kernel_sid),
			   profile__str(p, h->machine_sid));
	if (h->cpu_cnt)
		buf_printf(out, "%s%u CPU%s", out->len_bytes ? ", " : "", h->cpu_cnt,
			   h->cpu_cnt == 1 ? "" : "s");
	if (h->filter_sid)
		buf_printf(out, "%s%s", out->len_bytes ? "; " : "", profile__str(p, h->filter_sid));
	if (t.sample_cnt && h->sample_period_ns)
		buf_printf(out, "%srunning time by %llu samples", out->len_bytes ? "; " : "",
			   (unsigned long long)t.sample_cnt);
	if (t.lost_cnt) {
		buf_printf(out, "%slost: ", out->len_bytes ? "; " : "");
		summary__put_loss(p, out);
	}
}

void picture__describe(const struct profile *p, struct flame_opts *f, struct picture_text *text)
{
	const char *unit = profile__str(p, p->header.unit_sid);
	bool is_time = !*unit || !strcmp(unit, "ns");

	if (is_time)
		f->unit = FLAME_UNIT_NS;
	else if (!strcmp(unit, "bytes"))
		f->unit = FLAME_UNIT_BYTES;
	else
		f->count_name = unit;
	if (!f->title) {
		summary__put_title(p, &text->title);
		f->title = buf_str(&text->title);
	}
	if (!f->subtitle) {
		put_subtitle(p, &text->subtitle);
		f->subtitle = text->subtitle.len_bytes ? buf_str(&text->subtitle) : NULL;
	}
}

void picture_text_free(struct picture_text *text)
{
	buf_free(&text->title);
	buf_free(&text->subtitle);
}

int picture__save(const struct profile *p, const char *path, enum outfile_mode mode,
		  struct err *err)
{
	const struct picture_opts opts = { .fold_flags = FOLD_SUFFIXES };
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_ALL);
	struct picture_text text = { 0 };
	struct flame_opts f;
	struct buf out = { 0 };
	int rc;

	flame_opts_init(&f);
	picture__describe(p, &f, &text);
	picture__fill(t, p, &opts, FLAME_AFTER);
	flame_tree__finish(t);
	rc = flame_svg(t, &f, &out, err);
	if (rc == -ENODATA) {
		flame_svg_message(&f, "The profile holds no time.", &out);
		if (err)
			err->code = 0;
		rc = 0;
	}
	if (!rc)
		rc = outfile_put(path, mode, buf_str(&out), out.len_bytes, err);
	flame_tree__free(t);
	picture_text_free(&text);
	buf_free(&out);
	return rc;
}
