/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as weighted stacks of names; see fold.h. */
#include "user/analysis/fold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/model/container.h"

const char *const fold_root_words[] = { "comm", "none",	  "pid",       "tid",
					"gate", "cgroup", "container", NULL };

/* Where a stack of the profile is in the tree of names, below the root at hand. */
struct place {
	uint32_t root; /* 1 + the root for which the rest holds */
	uint32_t node;
	bool is_kernel; /* its leaf belongs to the kernel part */
};

struct folder {
	struct fold *f;
	const struct profile *p;
	const struct fold_opts *opts;
	uint32_t *name_of_frame; /* 1 + name; 0 = not looked up yet */
	struct place *places;
	uint32_t *path; /* stacks still to be placed */
	size_t path_cap, row_cap;
	struct index row_index;
	struct buf text;
	uint64_t *asleep_cnt; /* by node of a root: threads that never ran */
	size_t asleep_cap;
};

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint32_t child(struct folder *fo, uint32_t parent, const char *name)
{
	return nametree_child(&fo->f->names, parent, strtab_add(&fo->f->names.names, name));
}

/* Names of processes come from outside: one that is empty still needs a frame. */
static const char *comm_or(const struct profile *p, uint32_t sid)
{
	const char *comm = profile__str(p, sid);

	return *comm ? comm : "[no name]";
}

static bool merges_asleep(const struct folder *fo, const struct sum *s)
{
	return s->flags & PART_ASLEEP_THROUGHOUT && !(fo->opts->flags & FOLD_UNFOLD_ASLEEP);
}

/* What a container calls it, where that differs. */
static void put_inside(struct folder *fo, uint32_t id, uint32_t ns_id)
{
	if (ns_id && ns_id != id)
		buf_printf(&fo->text, " (%u inside)", ns_id);
}

/* The node of what stands before the process's name; 0 = nothing. */
static uint32_t above_process(struct folder *fo, const struct sum *s)
{
	const char *cgroup = profile__str(fo->p, fo->p->processes.items[s->process].cgroup_sid);

	buf_reset(&fo->text);
	if (fo->opts->root == FOLD_ROOT_GATE && s->gate)
		buf_puts(&fo->text, profile__str(fo->p, s->gate));
	else if (fo->opts->root == FOLD_ROOT_CGROUP)
		buf_puts(&fo->text, *cgroup ? cgroup : "[no cgroup]");
	else if (fo->opts->root == FOLD_ROOT_CONTAINER)
		container_name(*cgroup ? cgroup : "[no cgroup]", &fo->text);
	return fo->text.len_bytes ? child(fo, 0, buf_str(&fo->text)) : 0;
}

/* Threads that never ran merge by process, also where each thread has a root of its own. */
static uint32_t root_of(struct folder *fo, const struct sum *s)
{
	const uint32_t thread = merges_asleep(fo, s) ? 0 : s->thread;
	const struct process *pr = &fo->p->processes.items[s->process];
	const struct thread *t = &fo->p->threads.items[thread];
	const char *comm = comm_or(fo->p, thread ? t->comm_sid : pr->comm_sid);
	enum fold_root root = fo->opts->root;
	uint32_t above;

	if (root == FOLD_ROOT_NONE || (!s->process && !thread))
		return 0;
	above = above_process(fo, s);
	buf_reset(&fo->text);
	if (root == FOLD_ROOT_THREAD && thread) {
		buf_printf(&fo->text, "%s-%u/%u", comm, pr->pid, t->tid);
		put_inside(fo, t->tid, t->ns_tid);
	} else if (root == FOLD_ROOT_PROCESS || root == FOLD_ROOT_THREAD) {
		buf_printf(&fo->text, "%s-%u", comm_or(fo->p, pr->comm_sid), pr->pid);
		put_inside(fo, pr->pid, pr->ns_pid);
	} else {
		buf_puts(&fo->text, comm);
	}
	return child(fo, above, buf_str(&fo->text));
}

static unsigned int label_flags(unsigned int fold_flags)
{
	return (fold_flags & FOLD_SUFFIXES ? NAMETREE_SUFFIXES : 0) |
	       (fold_flags & FOLD_LINES ? NAMETREE_LINES : 0);
}

static uint32_t frame_name(struct folder *fo, uint32_t frame)
{
	if (!fo->name_of_frame[frame]) {
		buf_reset(&fo->text);
		frame_label(fo->p, frame, label_flags(fo->opts->flags), &fo->text);
		fo->name_of_frame[frame] = 1 + strtab_addn(&fo->f->names.names, buf_str(&fo->text),
							   fo->text.len_bytes);
	}
	return fo->name_of_frame[frame] - 1;
}

/* A mark belongs to the part that it stands in: behind kernel frames to the kernel's. */
static bool is_kernel_part(const struct frame *f, bool parent_is_kernel)
{
	return f->kind == FRAME_KERNEL || (f->kind == FRAME_MARK && parent_is_kernel);
}

static struct place place_frame(struct folder *fo, struct place parent, uint32_t frame)
{
	const struct frame *f = &fo->p->frames.items[frame];
	unsigned int flags = fo->opts->flags;
	struct place at = parent;

	at.is_kernel = is_kernel_part(f, parent.is_kernel);
	if (flags & (at.is_kernel ? FOLD_USER_ONLY : FOLD_KERNEL_ONLY))
		return at;
	if (flags & FOLD_DELIMITER && at.is_kernel && !parent.is_kernel &&
	    at.node + 1 != at.root) /* there is a user part */
		at.node = child(fo, at.node, "-");
	at.node = nametree_child(&fo->f->names, at.node, frame_name(fo, frame));
	return at;
}

static uint32_t place_stack(struct folder *fo, uint32_t root, uint32_t stack)
{
	const struct stack *stacks = fo->p->stacks.items;
	struct place at = { .root = root + 1, .node = root };
	size_t depth = 0;

	for (uint32_t s = stack; s; s = stacks[s].parent) {
		if (fo->places[s].root == root + 1) {
			at = fo->places[s];
			break;
		}
		if (depth == fo->path_cap)
			fo->path = xgrow(fo->path, &fo->path_cap, depth + 1, sizeof(*fo->path));
		fo->path[depth++] = s;
	}
	while (depth) {
		uint32_t s = fo->path[--depth];

		at = place_frame(fo, at, stacks[s].frame);
		fo->places[s] = at;
	}
	return at.node;
}

static void count_asleep(struct folder *fo, uint32_t root, uint64_t cnt)
{
	if (root >= fo->asleep_cap) {
		size_t old = fo->asleep_cap;

		fo->asleep_cnt = xgrow(fo->asleep_cnt, &fo->asleep_cap, (size_t)root + 1,
				       sizeof(*fo->asleep_cnt));
		memset(fo->asleep_cnt + old, 0, (fo->asleep_cap - old) * sizeof(*fo->asleep_cnt));
	}
	fo->asleep_cnt[root] = add_saturating(fo->asleep_cnt[root], cnt);
}

static uint32_t node_of(struct folder *fo, uint32_t root, const struct sum *s)
{
	uint32_t node;

	if (merges_asleep(fo, s)) {
		buf_reset(&fo->text);
		buf_printf(&fo->text, "[asleep throughout] \u00d7%llu",
			   (unsigned long long)fo->asleep_cnt[root]);
		return child(fo, root, buf_str(&fo->text));
	}
	if (!s->stack && s->flags & PART_FILTERED)
		return child(fo, root, "[filtered]");
	if (!s->stack && s->flags & PART_NOT_SAMPLED)
		return child(fo, root, "[running, not sampled]");
	node = place_stack(fo, root, s->stack);
	return node ? node : child(fo, 0, "[no stack]");
}

static bool same_row(const struct fold_row *a, const struct fold_row *b)
{
	return a->node == b->node && a->kind == b->kind &&
	       (a->flags & PART_ASLEEP_THROUGHOUT) == (b->flags & PART_ASLEEP_THROUGHOUT);
}

static void add_row(struct folder *fo, const struct fold_row *row)
{
	struct fold *f = fo->f;
	uint64_t hash = hash_pair(row->node, row->kind);
	struct index_iter it = index_find(&fo->row_index, hash);

	f->total_ns = add_saturating(f->total_ns, row->ns);
	for (; index_hit(&fo->row_index, &it); index_next(&fo->row_index, &it)) {
		struct fold_row *have = &f->rows[it.elem];

		if (!same_row(have, row))
			continue;
		have->ns = add_saturating(have->ns, row->ns);
		have->cnt = add_saturating(have->cnt, row->cnt);
		have->flags |= row->flags;
		have->process = have->process == row->process ? row->process : 0;
		have->thread = have->thread == row->thread ? row->thread : 0;
		return;
	}
	if (f->row_cnt == fo->row_cap)
		f->rows = xgrow(f->rows, &fo->row_cap, f->row_cnt + 1, sizeof(*f->rows));
	index_add(&fo->row_index, hash, (uint32_t)f->row_cnt);
	f->rows[f->row_cnt++] = *row;
}

struct by_root {
	uint32_t root, sum;
};

static int compare_roots(const void *a, const void *b)
{
	const struct by_root *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

/* The sums to fold, those of one root together, so that each stack is placed once a root. */
static struct by_root *choose_sums(struct folder *fo, size_t *cnt)
{
	const struct profile *p = fo->p;
	struct by_root *order = xcalloc(p->sums.cnt + 1, sizeof(*order));

	*cnt = 0;
	for (size_t i = 0; i < p->sums.cnt; i++) {
		const struct sum *s = &p->sums.items[i];
		uint32_t root;

		if (s->kind < 32 && !(fo->opts->kinds >> s->kind & 1))
			continue;
		root = root_of(fo, s);
		if (merges_asleep(fo, s))
			count_asleep(fo, root, s->cnt);
		order[(*cnt)++] = (struct by_root){ root, (uint32_t)i };
	}
	qsort(order, *cnt, sizeof(*order), compare_roots);
	return order;
}

struct row_rank {
	struct fold_row row;
	uint32_t rank; /* of its node */
};

static int compare_ranks(const void *a, const void *b)
{
	const struct row_rank *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->row.kind != y->row.kind)
		return x->row.kind < y->row.kind ? -1 : 1;
	return (x->row.flags & PART_ASLEEP_THROUGHOUT) - (y->row.flags & PART_ASLEEP_THROUGHOUT);
}

static void sort_rows(struct fold *f)
{
	struct row_rank *ranked = xcalloc(f->row_cnt + 1, sizeof(*ranked));
	uint32_t *rank_of = xcalloc(f->names.cnt, sizeof(*rank_of));
	uint32_t *order = nametree_sorted(&f->names);

	for (uint32_t i = 0; i < f->names.cnt; i++)
		rank_of[order[i]] = i;
	for (size_t i = 0; i < f->row_cnt; i++)
		ranked[i] = (struct row_rank){ f->rows[i], rank_of[f->rows[i].node] };
	qsort(ranked, f->row_cnt, sizeof(*ranked), compare_ranks);
	for (size_t i = 0; i < f->row_cnt; i++)
		f->rows[i] = ranked[i].row;
	free(ranked);
	free(rank_of);
	free(order);
}

void fold_init(struct fold *f, const struct profile *p, const struct fold_opts *opts)
{
	struct folder fo = { .f = f, .p = p, .opts = opts };
	struct by_root *order;
	size_t cnt;

	*f = (struct fold){ 0 };
	nametree_init(&f->names);
	fo.name_of_frame = xcalloc(p->frames.cnt, sizeof(*fo.name_of_frame));
	fo.places = xcalloc(p->stacks.cnt, sizeof(*fo.places));
	order = choose_sums(&fo, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct sum *s = &p->sums.items[order[i].sum];
		const struct fold_row row = {
			.node = node_of(&fo, order[i].root, s),
			.process = s->process,
			.thread = s->thread,
			.kind = s->kind,
			.flags = s->flags,
			.ns = s->ns,
			.cnt = s->cnt,
		};

		add_row(&fo, &row);
	}
	sort_rows(f);
	free(order);
	free(fo.name_of_frame);
	free(fo.places);
	free(fo.path);
	free(fo.asleep_cnt);
	index_free(&fo.row_index);
	buf_free(&fo.text);
}

void fold_free(struct fold *f)
{
	nametree_free(&f->names);
	free(f->rows);
	*f = (struct fold){ 0 };
}

void fold_each(const struct fold *f, fold_visit visit, void *ctx)
{
	const char **names = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < f->row_cnt; i++) {
		size_t cnt = 0, at;

		for (uint32_t n = f->rows[i].node; n; n = f->names.nodes[n].parent)
			cnt++;
		if (cnt >= cap)
			names = xgrow(names, &cap, cnt + 1, sizeof(*names));
		at = cnt;
		for (uint32_t n = f->rows[i].node; n; n = f->names.nodes[n].parent)
			names[--at] = nametree_name(&f->names, n);
		visit(ctx, names, cnt, &f->rows[i]);
	}
	free(names);
}

/* The kinds that one word means; 0 = unknown. */
static uint32_t kinds_of_word(const char *word)
{
	uint32_t mask = 0;

	if (!strcmp(word, "all"))
		return FOLD_KINDS_ALL;
	for (int kind = KIND_NONE; kind < KIND_MAX; kind++) {
		const char letter[2] = { model_kind_letter(kind), '\0' };

		if (!strcmp(word, model_kind_name(kind)) || !strcmp(word, letter) ||
		    (!strcmp(word, "blocked") && model_kind_is_blocked(kind)) ||
		    (!strcmp(word, "runnable") && model_kind_is_runnable(kind)) ||
		    (!strcmp(word, "off") &&
		     (model_kind_is_runnable(kind) || model_kind_is_blocked(kind))))
			mask |= 1U << kind;
	}
	return mask;
}

int fold_parse_kinds(const char *text, uint32_t *ret, struct err *err)
{
	char *copy = xstrdup(text), *save = NULL;
	uint32_t mask = 0;
	int rc = 0;

	for (char *word = strtok_r(copy, ",", &save); word && !rc;
	     word = strtok_r(NULL, ",", &save)) {
		uint32_t one = kinds_of_word(word);

		if (!one)
			rc = err_set(
				err, -EINVAL,
				"'%s' is no kind of time: all, off, blocked, runnable, running, "
				"preempted, woken, sleep, disk, stopped, traced, parked, idle",
				word);
		mask |= one;
	}
	free(copy);
	if (!rc && !mask)
		rc = err_set(err, -EINVAL, "--kinds names no kind of time");
	if (!rc)
		*ret = mask;
	return rc;
}

uint32_t fold_kinds_of(const struct profile *p)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < p->sums.cnt; i++)
		mask |= 1U << (p->sums.items[i].kind & 31);
	return mask;
}
