/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page of a profile; see flame_page.h. */
#include "user/cmd/flame_page.h"

#include <stdlib.h>

#include "user/base/mem.h"
#include "user/cmd/stack_names.h"

enum {
	TAB_MAX = 6,
	ROWS = 50,
	COLUMNS_MAX = 600,
};

#define SECOND_NS UINT64_C(1000000000)

struct page {
	struct flame_tab tabs[TAB_MAX];
	struct flame_opts opts[TAB_MAX];
	struct flame_fill fills[TAB_MAX];
	size_t cnt;
};

static struct flame_opts *add_tab(struct page *pg, const char *label, const struct flame_tree *t,
				  const struct flame_opts *o)
{
	pg->opts[pg->cnt] = *o;
	pg->tabs[pg->cnt] = (struct flame_tab){ label, t, &pg->opts[pg->cnt] };
	return &pg->opts[pg->cnt++];
}

/* A tab with a tree of its own, made of the main one. */
static void add_derived(struct page *pg, const char *label, const struct flame_fill *main,
			const struct flame_opts *o, const struct flame_fill *how)
{
	struct flame_fill *f = &pg->fills[pg->cnt];

	*f = *how;
	f->scale = 1;
	f->tree = flame_tree__new(FLAME_MERGE_ALL);
	flame_fill__derive(f, main->tree);
	flame_tree__finish(f->tree);
	add_tab(pg, label, f->tree, o);
}

static void add_changes(struct page *pg, const struct flame_fill *f, const struct flame_opts *o)
{
	static const char *const labels[] = { "Width: after", "Width: before",
					      "Width: the larger, vanished code seen" };

	add_tab(pg, labels[o->width_by], f->tree, o);
	for (int by = 0; by < 3; by++)
		if (by != (int)o->width_by)
			add_tab(pg, labels[by], f->tree, o)->width_by = (enum flame_width_by)by;
}

static void add_views(struct page *pg, const struct flame_fill *f, const struct flame_opts *o)
{
	const struct class_filter all = { FLAME_GROUP_ALL, -1 };

	add_tab(pg, "All", f->tree, o);
	if (flame_tree__has_classes(f->tree)) {
		add_derived(pg, "On-CPU", f, o,
			    &(struct flame_fill){ .filter = { FLAME_GROUP_ON, -1 } });
		add_derived(pg, "Off-CPU", f, o,
			    &(struct flame_fill){ .filter = { FLAME_GROUP_OFF, -1 } });
		add_derived(pg, "Side by side", f, o,
			    &(struct flame_fill){ .filter = all, .by = FLAME_BY_LANE });
	}
	add_derived(pg, "From the leaf", f, o,
		    &(struct flame_fill){ .filter = all, .reverse = true });
	add_tab(pg, "Icicle", f->tree, o)->inverted = !o->inverted;
}

int flame_page__put(const struct flame_fill *f, const struct flame_opts *o, struct flame_heat *heat,
		    struct buf *out, struct err *err)
{
	struct page pg = { 0 };
	int rc;

	if (f->tree->merge == FLAME_MERGE_CHART)
		add_tab(&pg, "Chart", f->tree, o);
	else if (flame_tree__has_side(f->tree, FLAME_BEFORE))
		add_changes(&pg, f, o);
	else
		add_views(&pg, f, o);
	rc = flame_html(pg.tabs, pg.cnt, heat, out, err);
	for (size_t i = 0; i < pg.cnt; i++) {
		flame_tree__free(pg.fills[i].tree);
		flame_fill__fini(&pg.fills[i]);
	}
	return rc;
}

/* Heat ------------------------------------------------------------------------------------------------- */

struct heat_fill {
	struct flame_heat *h;
	size_t cap;
	const struct profile *p;
	struct flame_fill *fill;
	uint32_t *node_of; /* by stack: 1 + node, for the process seen last with it */
	uint32_t *process_of;
	struct stack_names names;
};

static uint32_t find_node(struct heat_fill *hf, uint32_t stack, uint32_t process)
{
	const struct flame_str *frames;

	if (hf->node_of[stack] && hf->process_of[stack] == process)
		return hf->node_of[stack] - 1;
	stack_names_reset(&hf->names);
	stack_names_put_comm(&hf->names, hf->p, process);
	stack_names_put_stack(&hf->names, hf->p, stack, false);
	frames = stack_names_frames(&hf->names);
	hf->node_of[stack] = 1 + flame_tree__add(hf->fill->tree, frames, hf->names.cnt, NULL, 0);
	hf->process_of[stack] = process;
	return hf->node_of[stack] - 1;
}

/* Splits the interval at the borders of slices. */
static void add_interval(struct heat_fill *hf, const struct interval *iv)
{
	struct flame_heat *h = hf->h;
	uint64_t t0 = hf->p->header.window_start_ns, at = iv->start_ns;
	uint32_t process = hf->p->threads.items[iv->thread].process;
	uint32_t node = find_node(hf, iv->stack, process);

	while (at < iv->end_ns && at >= t0) {
		uint64_t slice = (at - t0) / h->slice_ns, end = t0 + (slice + 1) * h->slice_ns;

		if (slice >= h->slice_cnt)
			break;
		if (end > iv->end_ns)
			end = iv->end_ns;
		h->slices = xgrow(h->slices, &hf->cap, h->cnt + 1, sizeof(*h->slices));
		h->slices[h->cnt++] = (struct flame_slice){
			.slice = (uint32_t)slice,
			.node = node,
			.cls = iv->kind <= FLAME_IDLE ? iv->kind : FLAME_NONE,
			.value = (double)(end - at),
		};
		at = end;
	}
}

void flame_heat_init(struct flame_heat *h, struct flame_fill *f, const struct profile *p)
{
	struct heat_fill hf = { .h = h, .p = p, .fill = f };
	uint64_t window_ns = p->header.window_end_ns - p->header.window_start_ns;
	uint64_t column_ns = SECOND_NS;

	*h = (struct flame_heat){ .row_cnt = ROWS };
	if (!p->intervals.cnt || p->header.window_end_ns <= p->header.window_start_ns)
		return;
	while (column_ns > 1000000 && window_ns / column_ns < 20) /* a short window: finer */
		column_ns /= 10;
	while (window_ns / column_ns > COLUMNS_MAX)
		column_ns *= 10;
	h->slice_ns = column_ns / ROWS;
	h->slice_cnt = (uint32_t)((window_ns + h->slice_ns - 1) / h->slice_ns);
	hf.node_of = xcalloc(p->stacks.cnt, sizeof(*hf.node_of));
	hf.process_of = xcalloc(p->stacks.cnt, sizeof(*hf.process_of));
	for (size_t i = 0; i < p->intervals.cnt; i++)
		add_interval(&hf, &p->intervals.items[i]);
	free(hf.node_of);
	free(hf.process_of);
	stack_names_free(&hf.names);
}

void flame_heat_fini(struct flame_heat *h)
{
	free(h->slices);
	*h = (struct flame_heat){ 0 };
}
