/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a capture; see picture.h. */
#include "user/cmd/picture.h"

#include <errno.h>
#include <string.h>

#include "user/analysis/totals.h"
#include "user/cmd/flame_fill.h"
#include "user/cmd/summary.h"

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

static void set_unit(const struct profile *p, struct flame_opts *f)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	if (!*unit || !strcmp(unit, "ns"))
		f->unit = FLAME_UNIT_NS;
	else if (!strcmp(unit, "bytes"))
		f->unit = FLAME_UNIT_BYTES;
	else
		f->count_name = unit;
}

void picture__describe(const struct profile *p, struct flame_opts *f, struct picture_text *text)
{
	set_unit(p, f);
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
	struct flame_fill fill = { .tree = flame_tree__new(FLAME_MERGE_ALL),
				   .filter.cls = -1,
				   .scale = 1 };
	struct picture_text text = { 0 };
	struct flame_opts f;
	struct buf out = { 0 };
	struct err why = { 0 };
	int rc;

	flame_opts_init(&f);
	picture__describe(p, &f, &text);
	flame_fill__profile(&fill, p);
	flame_tree__finish(fill.tree);
	rc = flame_svg(fill.tree, &f, &out, &why);
	if (rc == -ENODATA) {
		flame_svg_message(&f, "The profile holds no time.", &out);
		rc = 0;
	}
	if (rc)
		err_set(err, rc, "%s", why.msg);
	else
		rc = outfile_put(path, mode, buf_str(&out), out.len_bytes, err);
	flame_tree__free(fill.tree);
	flame_fill__fini(&fill);
	picture_text_free(&text);
	buf_free(&out);
	return rc;
}
