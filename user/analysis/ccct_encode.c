/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ccct as bytes; see ccct_encode.h. Numbers of strings, frames and paths depend on the order in which they
 * came, so all are renumbered in the order of their texts. */
#include "user/analysis/ccct_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

enum {
	MAGIC_BYTES = sizeof(CCCT_MAGIC) - 1,
	SUM_BYTES = 8,
	TOTALS_CNT = sizeof(struct ccct_totals) / sizeof(uint64_t),
};

static void put_u64(struct buf *out, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		buf_putc(out, (char)(v | 128));
	buf_putc(out, (char)v);
}

static void put_i64(struct buf *out, int64_t v)
{
	put_u64(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_text(struct buf *out, const struct ccct *c, uint32_t sid)
{
	size_t len = strtab_len_bytes(&c->strings, sid);

	put_u64(out, len);
	buf_append(out, strtab_get(&c->strings, sid), len);
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

	put_u64(out, c->frame_cnt);
	for (size_t i = 0; i < c->frame_cnt; i++) {
		const struct ccct_frame *f = &c->frames[order[i]];

		put_text(out, c, f->service_sid);
		put_text(out, c, f->operation_sid);
		put_u64(out, f->trace_cnt);
	}
	free(order);
}

static void put_example(struct buf *out, const struct ccct *c, const struct ccct_example *e)
{
	put_text(out, c, e->trace_sid);
	put_text(out, c, e->span_sid);
	put_i64(out, e->ns);
}

static void put_paths(struct buf *out, const struct ccct *c, struct ranks *r)
{
	uint32_t *order = sorted(c, c->path_cnt, by_path, r->path);

	put_u64(out, c->path_cnt);
	for (size_t i = 0; i < c->path_cnt; i++) {
		const struct ccct_path *p = &c->paths[order[i]];

		put_u64(out, p->parent == SPAN_NONE ? 0 : r->path[p->parent] + 1u);
		put_u64(out, r->frame[p->frame]);
		put_example(out, c, &p->inclusive);
		for (int k = 0; k < CCCT_EXAMPLES; k++)
			put_example(out, c, &p->exclusive[k]);
	}
	free(order);
}

static void put_groups(struct buf *out, const struct ccct *c, const struct ranks *r)
{
	put_u64(out, c->group_cnt);
	for (size_t i = 0; i < c->group_cnt; i++) {
		const struct ccct_group *g = &c->groups[i];

		put_u64(out, r->path[g->entry]);
		put_text(out, c, g->trace_sid);
		put_u64(out, g->trace_cnt);
		put_i64(out, g->root_ns);
		put_u64(out, g->span_cnt);
		put_u64(out, g->path_span_cnt);
		put_u64(out, g->cell_cnt);
		for (size_t k = g->first_cell; k < g->first_cell + g->cell_cnt; k++) {
			put_u64(out, r->path[c->cells[k].path]);
			put_u64(out, c->cells[k].trace_cnt);
			put_u64(out, c->cells[k].freq);
			put_i64(out, c->cells[k].inclusive_ns);
			put_i64(out, c->cells[k].exclusive_ns);
		}
	}
}

static void put_facts(struct buf *out, const struct ccct *c, const struct ranks *r)
{
	put_u64(out, c->fact_cnt);
	for (size_t i = 0; i < c->fact_cnt; i++) {
		const struct ccct_fact *f = &c->facts[i];
		const uint32_t *rank = f->kind == FACT_CLOCK ? r->frame : r->path;
		bool has_other = f->kind == FACT_CLOCK || f->kind == FACT_SERIAL;

		put_u64(out, f->kind);
		put_u64(out, rank[f->path]);
		put_u64(out, has_other ? rank[f->other] : 0);
		put_u64(out, f->bucket);
		put_u64(out, f->cnt);
		put_u64(out, f->more_cnt);
		put_i64(out, f->ns);
		put_i64(out, f->more_ns);
	}
}

void ccct_encode(const struct ccct *c, struct buf *out)
{
	size_t start = out->len_bytes;
	const uint64_t *totals = (const uint64_t *)&c->totals;
	struct ranks r;
	uint64_t sum;

	r.frame = xcalloc(c->frame_cnt + 1, sizeof(*r.frame));
	r.path = xcalloc(c->path_cnt + 1, sizeof(*r.path));
	buf_append(out, CCCT_MAGIC, MAGIC_BYTES);
	put_u64(out, TOTALS_CNT);
	for (size_t i = 0; i < TOTALS_CNT; i++)
		put_u64(out, totals[i]);
	put_u64(out, c->cells_added);
	put_frames(out, c, &r);
	put_paths(out, c, &r);
	put_groups(out, c, &r);
	put_facts(out, c, &r);
	sum = hash_bytes(out->data + start, out->len_bytes - start);
	for (int i = 0; i < SUM_BYTES; i++)
		buf_putc(out, (char)(sum >> 8 * i));
	free(r.frame);
	free(r.path);
}

struct cursor {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t get_u64(struct cursor *in)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		unsigned char b = *in->at++;

		v |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return v;
	}
	in->bad = true;
	return 0;
}

static int64_t get_i64(struct cursor *in)
{
	uint64_t v = get_u64(in);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* A count of things that take at least a byte each; or a number below a limit. */
static uint32_t get_below(struct cursor *in, uint64_t limit)
{
	uint64_t v = get_u64(in);

	if (v >= limit)
		in->bad = true;
	return in->bad ? 0 : (uint32_t)v;
}

static uint32_t get_count(struct cursor *in)
{
	uint64_t left = (uint64_t)(in->end - in->at) + 1;

	return get_below(in, left < UINT32_MAX ? left : UINT32_MAX);
}

static uint32_t get_text(struct cursor *in, struct ccct *c)
{
	uint32_t len = get_count(in), sid;

	if (in->bad || len > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		return 0;
	}
	sid = strtab_addn(&c->strings, (const char *)in->at, len);
	in->at += len;
	return sid;
}

static void get_frames(struct cursor *in, struct ccct *c)
{
	uint32_t cnt = get_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		uint32_t service = get_text(in, c), operation = get_text(in, c), at;

		at = ccct__frame(c, strtab_get(&c->strings, service),
				 strtab_get(&c->strings, operation));
		in->bad |= at != i;
		if (!in->bad)
			c->frames[at].trace_cnt = get_u64(in);
	}
}

static struct ccct_example get_example(struct cursor *in, struct ccct *c)
{
	uint32_t trace = get_text(in, c), span = get_text(in, c);

	return (struct ccct_example){ trace, span, get_i64(in) };
}

static void get_paths(struct cursor *in, struct ccct *c)
{
	uint32_t cnt = get_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		uint32_t parent = get_below(in, (uint64_t)i + 1);
		uint32_t frame = get_below(in, c->frame_cnt);

		if (in->bad || ccct__path(c, parent ? parent - 1 : SPAN_NONE, frame) != i) {
			in->bad = true;
			break;
		}
		c->paths[i].inclusive = get_example(in, c);
		for (int k = 0; k < CCCT_EXAMPLES; k++)
			c->paths[i].exclusive[k] = get_example(in, c);
	}
}

static void get_groups(struct cursor *in, struct ccct *c)
{
	uint32_t cnt = get_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		struct ccct_group g = { .entry = get_below(in, c->path_cnt) };
		uint32_t cells;

		g.trace_sid = get_text(in, c);
		g.trace_cnt = get_u64(in);
		g.root_ns = get_i64(in);
		g.span_cnt = get_u64(in);
		g.path_span_cnt = get_u64(in);
		cells = get_count(in);
		in->bad |= !g.trace_cnt || g.trace_cnt > INT64_MAX;
		if (!in->bad)
			ccct__begin_group(c, &g);
		for (uint32_t k = 0; k < cells && !in->bad; k++) {
			struct ccct_cell cell = { .path = get_below(in, c->path_cnt) };

			cell.trace_cnt = get_below(in, UINT32_MAX);
			cell.freq = get_u64(in);
			cell.inclusive_ns = get_i64(in);
			cell.exclusive_ns = get_i64(in);
			if (!in->bad)
				ccct__add_cell(c, &cell);
		}
	}
}

static void get_facts(struct cursor *in, struct ccct *c)
{
	uint32_t cnt = get_count(in);

	for (uint32_t i = 0; i < cnt && !in->bad; i++) {
		struct ccct_fact f = { .kind = get_below(in, FACT_KIND_MAX) };
		uint64_t limit = f.kind == FACT_CLOCK ? c->frame_cnt : c->path_cnt;

		f.path = get_below(in, limit);
		f.other = get_below(in, limit);
		f.bucket = get_below(in, UINT32_MAX);
		f.cnt = get_u64(in);
		f.more_cnt = get_u64(in);
		f.ns = get_i64(in);
		f.more_ns = get_i64(in);
		in->bad |= !f.cnt && !f.more_cnt;
		if (!in->bad)
			ccct__add_fact(c, &f);
	}
}

int ccct_decode(const void *data, size_t len_bytes, struct ccct *c, struct err *err)
{
	struct cursor in = { data, data, false };
	uint64_t *totals = (uint64_t *)&c->totals, sum = 0;

	if (len_bytes < MAGIC_BYTES + SUM_BYTES || memcmp(data, CCCT_MAGIC, MAGIC_BYTES) != 0)
		return err_set(err, -EINVAL, "not a partial result of critical");
	in.at += MAGIC_BYTES;
	in.end += len_bytes - SUM_BYTES;
	for (int i = 0; i < SUM_BYTES; i++)
		sum |= (uint64_t)in.end[i] << 8 * i;
	if (sum != hash_bytes(data, len_bytes - SUM_BYTES))
		return err_set(err, -EINVAL, "truncated or damaged: its checksum does not match");
	in.bad = get_u64(&in) != TOTALS_CNT;
	for (size_t i = 0; i < TOTALS_CNT && !in.bad; i++)
		totals[i] = get_u64(&in);
	c->cells_added = get_u64(&in);
	get_frames(&in, c);
	get_paths(&in, c);
	get_groups(&in, c);
	get_facts(&in, c);
	if (in.bad || in.at != in.end)
		return err_set(err, -EINVAL, "inconsistent: not written by this version");
	return 0;
}
