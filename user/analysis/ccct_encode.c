/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ccct as bytes; see ccct_encode.h. Numbers of strings, frames and paths depend on the order in which they
 * came, so all are renumbered in the order of their texts. */
#include "user/analysis/ccct_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/wire.h"

enum {
	MAGIC_BYTES = sizeof(CCCT_MAGIC) - 1,
	TOTALS_CNT = sizeof(struct ccct_totals) / sizeof(uint64_t),
};

static void put_text(struct buf *out, const struct ccct *c, uint32_t sid)
{
	wire_put_text(out, strtab_get(&c->strings, sid), strtab_len_bytes(&c->strings, sid));
}

static int by_frame(const void *a, const void *b, void *arg)
{
	return ccct__compare_frames(arg, *(const uint32_t *)a, *(const uint32_t *)b);
}

static int by_path(const void *a, const void *b, void *arg)
{
	return ccct__compare_paths(arg, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* order[new] = old, and rank[old] = new. */
static uint32_t *sorted(const struct ccct *c, size_t cnt,
			int (*compare)(const void *, const void *, void *), uint32_t *rank)
{
	uint32_t *order = xcalloc(cnt + 1, sizeof(*order));

	for (uint32_t i = 0; i < cnt; i++)
		order[i] = i;
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), compare, (void *)(uintptr_t)c);
	for (uint32_t i = 0; i < cnt; i++)
		rank[order[i]] = i;
	return order;
}

struct ranks {
	uint32_t *frame, *path;
};

static void put_frames(struct buf *out, const struct ccct *c, struct ranks *r)
{
	uint32_t *order = sorted(c, c->frame_cnt, by_frame, r->frame);

	wire_put_u64(out, c->frame_cnt);
	for (size_t i = 0; i < c->frame_cnt; i++) {
		const struct ccct_frame *f = &c->frames[order[i]];

		put_text(out, c, f->service_sid);
		put_text(out, c, f->operation_sid);
		wire_put_u64(out, f->trace_cnt);
	}
	free(order);
}

static void put_example(struct buf *out, const struct ccct *c, const struct ccct_example *e)
{
	put_text(out, c, e->trace_sid);
	put_text(out, c, e->span_sid);
	wire_put_i64(out, e->ns);
}

static void put_paths(struct buf *out, const struct ccct *c, struct ranks *r)
{
	uint32_t *order = sorted(c, c->path_cnt, by_path, r->path);

	wire_put_u64(out, c->path_cnt);
	for (size_t i = 0; i < c->path_cnt; i++) {
		const struct ccct_path *p = &c->paths[order[i]];

		wire_put_u64(out, p->parent == SPAN_NONE ? 0 : r->path[p->parent] + 1u);
		wire_put_u64(out, r->frame[p->frame]);
		put_example(out, c, &p->inclusive);
		for (int k = 0; k < CCCT_EXAMPLES; k++)
			put_example(out, c, &p->exclusive[k]);
	}
	free(order);
}

static void put_groups(struct buf *out, const struct ccct *c, const struct ranks *r)
{
	wire_put_u64(out, c->group_cnt);
	for (size_t i = 0; i < c->group_cnt; i++) {
		const struct ccct_group *g = &c->groups[i];

		wire_put_u64(out, r->path[g->entry]);
		put_text(out, c, g->trace_sid);
		wire_put_u64(out, g->trace_cnt);
		wire_put_i64(out, g->root_ns);
		wire_put_u64(out, g->span_cnt);
		wire_put_u64(out, g->path_span_cnt);
		wire_put_u64(out, g->cell_cnt);
		for (size_t k = g->first_cell; k < g->first_cell + g->cell_cnt; k++) {
			wire_put_u64(out, r->path[c->cells[k].path]);
			wire_put_u64(out, c->cells[k].trace_cnt);
			wire_put_u64(out, c->cells[k].freq);
			wire_put_i64(out, c->cells[k].inclusive_ns);
			wire_put_i64(out, c->cells[k].exclusive_ns);
		}
	}
}

static void put_facts(struct buf *out, const struct ccct *c, const struct ranks *r)
{
	wire_put_u64(out, c->fact_cnt);
	for (size_t i = 0; i < c->fact_cnt; i++) {
		const struct ccct_fact *f = &c->facts[i];
		const uint32_t *rank = f->kind == FACT_CLOCK ? r->frame : r->path;
		bool has_other = f->kind == FACT_CLOCK || f->kind == FACT_SERIAL;

		wire_put_u64(out, f->kind);
		wire_put_u64(out, rank[f->path]);
		wire_put_u64(out, has_other ? rank[f->other] : 0);
		wire_put_u64(out, f->bucket);
		wire_put_u64(out, f->cnt);
		wire_put_u64(out, f->more_cnt);
		wire_put_i64(out, f->ns);
		wire_put_i64(out, f->more_ns);
	}
}

void ccct_encode(const struct ccct *c, struct buf *out)
{
	size_t start = out->len_bytes;
	const uint64_t *totals = (const uint64_t *)&c->totals;
	struct ranks r;

	r.frame = xcalloc(c->frame_cnt + 1, sizeof(*r.frame));
	r.path = xcalloc(c->path_cnt + 1, sizeof(*r.path));
	buf_append(out, CCCT_MAGIC, MAGIC_BYTES);
	wire_put_u64(out, TOTALS_CNT);
	for (size_t i = 0; i < TOTALS_CNT; i++)
		wire_put_u64(out, totals[i]);
	wire_put_u64(out, c->cells_added);
	put_frames(out, c, &r);
	put_paths(out, c, &r);
	put_groups(out, c, &r);
	put_facts(out, c, &r);
	wire_seal(out, start);
	free(r.frame);
	free(r.path);
}

static uint32_t get_text(struct wire *in, struct ccct *c)
{
	size_t len;
	const char *text = wire_text(in, &len);

	return strtab_addn(&c->strings, text, len);
}

static void get_frames(struct wire *in, struct ccct *c)
{
	uint32_t cnt = wire_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		uint32_t service = get_text(in, c), operation = get_text(in, c), at;

		at = ccct__frame(c, strtab_get(&c->strings, service),
				 strtab_get(&c->strings, operation));
		in->bad |= at != i;
		if (!in->bad)
			c->frames[at].trace_cnt = wire_u64(in);
	}
}

static struct ccct_example get_example(struct wire *in, struct ccct *c)
{
	uint32_t trace = get_text(in, c), span = get_text(in, c);

	return (struct ccct_example){ trace, span, wire_i64(in) };
}

static void get_paths(struct wire *in, struct ccct *c)
{
	uint32_t cnt = wire_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		uint32_t parent = wire_below(in, (uint64_t)i + 1);
		uint32_t frame = wire_below(in, c->frame_cnt);

		if (in->bad || ccct__path(c, parent ? parent - 1 : SPAN_NONE, frame) != i) {
			in->bad = true;
			break;
		}
		c->paths[i].inclusive = get_example(in, c);
		for (int k = 0; k < CCCT_EXAMPLES; k++)
			c->paths[i].exclusive[k] = get_example(in, c);
	}
}

static void get_groups(struct wire *in, struct ccct *c)
{
	uint32_t cnt = wire_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		struct ccct_group g = { .entry = wire_below(in, c->path_cnt) };
		uint32_t cells;

		g.trace_sid = get_text(in, c);
		g.trace_cnt = wire_u64(in);
		g.root_ns = wire_i64(in);
		g.span_cnt = wire_u64(in);
		g.path_span_cnt = wire_u64(in);
		cells = wire_count(in);
		in->bad |= !g.trace_cnt || g.trace_cnt > INT64_MAX;
		if (!in->bad)
			ccct__begin_group(c, &g);
		for (uint32_t k = 0; k < cells && !in->bad; k++) {
			struct ccct_cell cell = { .path = wire_below(in, c->path_cnt) };

			cell.trace_cnt = wire_below(in, UINT32_MAX);
			cell.freq = wire_u64(in);
			cell.inclusive_ns = wire_i64(in);
			cell.exclusive_ns = wire_i64(in);
			if (!in->bad)
				ccct__add_cell(c, &cell);
		}
	}
}

static void get_facts(struct wire *in, struct ccct *c)
{
	uint32_t cnt = wire_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		struct ccct_fact f = { .kind = wire_below(in, FACT_KIND_MAX) };
		uint64_t limit = f.kind == FACT_CLOCK ? c->frame_cnt : c->path_cnt;

		f.path = wire_below(in, limit);
		f.other = wire_below(in, limit);
		f.bucket = wire_below(in, UINT32_MAX);
		f.cnt = wire_u64(in);
		f.more_cnt = wire_u64(in);
		f.ns = wire_i64(in);
		f.more_ns = wire_i64(in);
		in->bad |= !f.cnt && !f.more_cnt;
		if (!in->bad)
			ccct__add_fact(c, &f);
	}
}

int ccct_decode(const void *data, size_t len_bytes, struct ccct *c, struct err *err)
{
	struct wire in;
	uint64_t *totals = (uint64_t *)&c->totals;
	int rc = wire_open(data, len_bytes, CCCT_MAGIC, &in, err);

	if (rc)
		return rc;
	in.bad = wire_u64(&in) != TOTALS_CNT;
	for (size_t i = 0; i < TOTALS_CNT && !in.bad; i++)
		totals[i] = wire_u64(&in);
	c->cells_added = wire_u64(&in);
	get_frames(&in, c);
	get_paths(&in, c);
	get_groups(&in, c);
	get_facts(&in, c);
	if (in.bad || in.at != in.end)
		return err_set(err, -EINVAL, "inconsistent: not written by this version");
	return 0;
}
