/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/cmd/symbolize_profile.h"

_Static_assert((int)SYM_REASON_MAX == (int)NAME_REASON_MAX, "reasons have the model's values");

struct renaming {
	struct profile *p;
	struct symbolizer *symbolizer;
	bool lines;
	struct symbolize_counts *counts;
	struct buf *why;
	struct frame *old_frames;
	size_t old_frame_cnt;
	uint32_t *
		starts; /* new frames of an old one, root first: chain[starts[i]] .. chain[starts[i + 1]] */
	uint32_t *chain;
	size_t chain_cnt, chain_cap;
};

/* A process's mappings under its number as key. */
static void add_mappings(struct renaming *r)
{
	const struct profile *p = r->p;
	struct sym_mapping *list = xcalloc(p->mappings.cnt + 1, sizeof(*list));

	for (uint32_t process = 1; process < p->processes.cnt; process++) {
		size_t cnt = 0;

		for (size_t i = 1; i < p->mappings.cnt; i++) {
			const struct mapping *m = &p->mappings.items[i];

			if (m->process != process)
				continue;
			list[cnt] = (struct sym_mapping){
				.start = m->start,
				.end = m->end,
				.off_bytes = m->off_bytes,
				.path = profile__str(p, m->path_sid),
				.build_id_bytes = m->build_id_bytes,
			};
			memcpy(list[cnt++].build_id, m->build_id, sizeof(m->build_id));
		}
		symbolizer__add_stored(r->symbolizer, process, list, cnt);
	}
	free(list);
}

static bool is_wanted(const struct renaming *r, const struct frame *f)
{
	if (!f->mapping || !f->addr || f->kind != FRAME_USER ||
	    !r->p->mappings.items[f->mapping].process)
		return false;
	return f->reason || (r->lines && !f->line);
}

static struct sym_query query_of(const struct renaming *r, const struct frame *f)
{
	return (struct sym_query){
		.proc_key = r->p->mappings.items[f->mapping].process,
		.addr = f->addr,
		.pc = f->flags & FRAME_EXACT_PC ? SYM_PC_EXACT : SYM_PC_RETURN,
	};
}

static void prepare(struct renaming *r)
{
	struct sym_query *queries = xcalloc(r->old_frame_cnt + 1, sizeof(*queries));
	size_t cnt = 0;

	for (size_t i = 1; i < r->old_frame_cnt; i++)
		if (is_wanted(r, &r->old_frames[i]))
			queries[cnt++] = query_of(r, &r->old_frames[i]);
	symbolizer__prepare_user(r->symbolizer, queries, cnt);
	free(queries);
}

static void push(struct renaming *r, const struct frame *f)
{
	r->chain = xgrow(r->chain, &r->chain_cap, r->chain_cnt + 1, sizeof(*r->chain));
	r->chain[r->chain_cnt++] = profile__add_frame(r->p, f);
}

static void push_result(struct renaming *r, const struct frame *old,
			const struct sym_result *result)
{
	for (size_t i = result->cnt; i-- > 0;) {
		const struct sym_frame *sf = &result->frames[i];
		struct frame f = *old;

		f.name_sid = profile__string(r->p, sf->name);
		f.file_sid = profile__string(r->p, sf->file);
		f.line = sf->line;
		f.reason = NAME_OK;
		f.function = 0;
		if (sf->inlined) {
			f.flags |= FRAME_INLINED;
			f.addr = 0;
		}
		push(r, &f);
	}
	r->counts->named_cnt += old->reason != NAME_OK;
	r->counts->lined_cnt += result->cnt > 1 || result->frames->line;
}

static void explain(struct renaming *r, const struct frame *f)
{
	struct sym_query q = query_of(r, f);

	if (!r->why)
		return;
	buf_printf(r->why, "0x%" PRIx64 " %s %s\n", f->addr, model_name_reason(f->reason),
		   profile__str(r->p, f->module_sid));
	symbolizer__why_user(r->symbolizer, q.proc_key, q.addr - (q.pc == SYM_PC_RETURN), r->why);
}

static void rename_frame(struct renaming *r, const struct frame *old)
{
	struct sym_result result = { .reason = SYM_NO_MAPPING };
	struct frame f = *old;
	struct sym_query q;

	r->counts->frame_cnt += old->mapping != 0;
	r->counts->unnamed_cnt += old->reason != NAME_OK;
	if (is_wanted(r, old)) {
		q = query_of(r, old);
		symbolizer__resolve_user(r->symbolizer, q.proc_key, q.addr, q.pc, &result);
	}
	if (!result.reason) {
		push_result(r, old, &result);
		return;
	}
	if (f.reason == NAME_PENDING && is_wanted(r, old))
		f.reason = (uint8_t)result.reason; /* now we know */
	if (result.function_start)
		f.function = result.function_start;
	push(r, &f);
	if (!f.reason || f.reason >= SYM_REASON_MAX)
		return;
	r->counts->left_cnt[f.reason]++;
	if (is_wanted(r, old))
		explain(r, &f);
}

#define LATER "later, by causeprof symbolize:\n"

/* What the capture tried stays; what an earlier "symbolize" tried does not. */
static void note_tried(struct renaming *r, uint32_t mapping)
{
	struct mapping *m = &r->p->mappings.items[mapping];
	const char *before = profile__str(r->p, m->tried_sid), *later = strstr(before, LATER);
	struct buf tried = { 0 };

	buf_append(&tried, before, later ? (size_t)(later - before) : strlen(before));
	buf_puts(&tried, tried.len_bytes ? LATER : "");
	symbolizer__tried_user(r->symbolizer, m->process, m->start, &tried);
	m->tried_sid = profile__string(r->p, buf_str(&tried));
	buf_free(&tried);
}

static void note_all_tried(struct renaming *r)
{
	bool *wanted = xcalloc(r->p->mappings.cnt + 1, sizeof(*wanted));

	for (size_t i = 1; i < r->p->frames.cnt; i++) {
		const struct frame *f = &r->p->frames.items[i];

		if (f->reason && is_wanted(r, f) && !wanted[f->mapping]) {
			wanted[f->mapping] = true;
			note_tried(r, f->mapping);
		}
	}
	free(wanted);
}

static void rename_frames(struct renaming *r)
{
	struct profile *p = r->p;

	index_free(&p->frame_index);
	memset(&p->frames, 0, sizeof(p->frames));
	profile__add_frame(p, &r->old_frames[0]);
	r->starts = xcalloc(r->old_frame_cnt + 1, sizeof(*r->starts));
	for (size_t i = 1; i < r->old_frame_cnt; i++) {
		r->starts[i] = (uint32_t)r->chain_cnt;
		rename_frame(r, &r->old_frames[i]);
	}
	r->starts[r->old_frame_cnt] = (uint32_t)r->chain_cnt;
}

/* Parents precede their children, so one pass rebuilds the trie. Returns the new numbers. */
static uint32_t *rebuild_stacks(struct renaming *r)
{
	struct profile *p = r->p;
	struct stack *old = p->stacks.items;
	size_t cnt = p->stacks.cnt;
	uint32_t *ids = xcalloc(cnt + 1, sizeof(*ids));

	index_free(&p->stack_index);
	memset(&p->stacks, 0, sizeof(p->stacks));
	profile__add_stack(p, 0, 0);
	for (size_t i = 1; i < cnt; i++) {
		uint32_t at = ids[old[i].parent], frame = old[i].frame;

		for (uint32_t n = r->starts[frame]; n < r->starts[frame + 1]; n++)
			at = profile__add_stack(p, at, r->chain[n]);
		ids[i] = at;
	}
	free(old);
	return ids;
}

/* Sums of stacks that became equal stay separate records: whoever reads them adds them up. */
static void use_stacks(struct profile *p, const uint32_t *ids)
{
	index_free(&p->sum_index);
	for (size_t i = 0; i < p->sums.cnt; i++)
		p->sums.items[i].stack = ids[p->sums.items[i].stack];
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		struct interval *iv = &p->intervals.items[i];

		iv->stack = ids[iv->stack];
		iv->waker_stack = ids[iv->waker_stack];
	}
}

void symbolize_profile(struct profile *p, struct symbolizer *s, bool lines,
		       struct symbolize_counts *counts, struct buf *why)
{
	struct renaming r = {
		.p = p,
		.symbolizer = s,
		.lines = lines,
		.counts = counts,
		.why = why,
		.old_frames = p->frames.items,
		.old_frame_cnt = p->frames.cnt,
	};
	uint32_t *ids;

	memset(counts, 0, sizeof(*counts));
	add_mappings(&r);
	prepare(&r);
	rename_frames(&r);
	note_all_tried(&r);
	ids = rebuild_stacks(&r);
	use_stacks(p, ids);
	free(ids);
	free(r.old_frames);
	free(r.starts);
	free(r.chain);
}
