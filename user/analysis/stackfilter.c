/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters on stacks; see stackfilter.h. Every stack is judged once, callers before callees, so that what holds
 * for the caller is at hand. */
#include "user/analysis/stackfilter.h"

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/model/nametree.h"

struct pattern {
	const char *name; /* NULL: regex */
	regex_t regex;
};

struct patterns {
	struct pattern *items;
	size_t cnt;
};

enum stack_state {
	HAS_ONLY = 1 << 0,
	HAS_WITHOUT = 1 << 1,
	IN_BASE = 1 << 2,
};

struct filtering {
	struct profile *p;
	struct patterns only, without, base;
	uint8_t *state_of_frame; /* what its name matches */
	uint8_t *state;		 /* by stack */
	uint32_t *stack_of;	 /* by stack: what it becomes */
	uint32_t *depth;	 /* by stack: of what it becomes */
	uint32_t max_depth;
};

static int add_pattern(struct patterns *ps, const char *text, struct err *err)
{
	struct pattern *p = &ps->items[ps->cnt];
	size_t n = strlen(text);
	char *body, why[128];
	int rc;

	*p = (struct pattern){ .name = text };
	if (n < 3 || text[0] != '/' || text[n - 1] != '/') {
		ps->cnt++;
		return 0;
	}
	body = xstrndup(text + 1, n - 2);
	rc = regcomp(&p->regex, body, REG_EXTENDED | REG_NOSUB);
	free(body);
	if (rc) {
		regerror(rc, &p->regex, why, sizeof(why));
		return err_set(err, -EINVAL, "%s is no regular expression: %s", text, why);
	}
	p->name = NULL;
	ps->cnt++;
	return 0;
}

static int add_patterns(struct patterns *ps, const char *const *texts, size_t cnt, struct err *err)
{
	int rc = 0;

	ps->items = xcalloc(cnt + 1, sizeof(*ps->items));
	for (size_t i = 0; i < cnt && !rc; i++)
		rc = add_pattern(ps, texts[i], err);
	return rc;
}

static void free_patterns(struct patterns *ps)
{
	for (size_t i = 0; i < ps->cnt; i++)
		if (!ps->items[i].name)
			regfree(&ps->items[i].regex);
	free(ps->items);
}

int stackfilter_check(const char *frame, struct err *err)
{
	struct patterns ps = { 0 };
	int rc = add_patterns(&ps, &frame, 1, err);

	free_patterns(&ps);
	return rc;
}

static bool matches(const struct patterns *ps, const char *name)
{
	for (size_t i = 0; i < ps->cnt; i++) {
		const struct pattern *p = &ps->items[i];

		if (p->name ? !strcmp(p->name, name) : !regexec(&p->regex, name, 0, NULL, 0))
			return true;
	}
	return false;
}

static uint8_t judge_name(const struct filtering *f, const char *name)
{
	return (uint8_t)((matches(&f->only, name) ? HAS_ONLY : 0) |
			 (matches(&f->without, name) ? HAS_WITHOUT : 0) |
			 (matches(&f->base, name) ? IN_BASE : 0));
}

static void judge_frames(struct filtering *f)
{
	struct buf name = { 0 };

	for (size_t i = 1; i < f->p->frames.cnt; i++) {
		buf_reset(&name);
		frame_label(f->p, (uint32_t)i, 0, &name);
		f->state_of_frame[i] = judge_name(f, buf_str(&name));
	}
	buf_free(&name);
}

/* profile__add_stack may move the table, so that stacks are read by value. */
static void judge_stacks(struct filtering *f)
{
	size_t cnt = f->p->stacks.cnt;

	for (size_t i = 1; i < cnt; i++) {
		struct stack s = f->p->stacks.items[i];
		bool kept;

		f->state[i] = f->state[s.parent] | f->state_of_frame[s.frame];
		kept = (!f->base.cnt || f->state[i] & IN_BASE) &&
		       (!f->max_depth || f->depth[s.parent] < f->max_depth);
		f->stack_of[i] = f->stack_of[s.parent];
		f->depth[i] = f->depth[s.parent];
		if (kept) {
			f->stack_of[i] = profile__add_stack(f->p, f->stack_of[s.parent], s.frame);
			f->depth[i]++;
		}
	}
}

static bool keeps(const struct filtering *f, uint32_t stack, uint32_t process)
{
	uint32_t comm_sid = f->p->processes.items[process].comm_sid;
	uint8_t state = f->state[stack];

	if (comm_sid && (f->only.cnt || f->without.cnt))
		state |= judge_name(f, profile__str(f->p, comm_sid)) & (HAS_ONLY | HAS_WITHOUT);
	return (!f->only.cnt || state & HAS_ONLY) && !(state & HAS_WITHOUT) &&
	       (!f->base.cnt || f->state[stack] & IN_BASE);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void filter_sums(struct filtering *f, struct stackfilter_report *ret)
{
	struct sum *old = f->p->sums.items;
	size_t cnt = f->p->sums.cnt;

	f->p->sums.items = NULL;
	f->p->sums.cnt = f->p->sums.cap = 0;
	index_free(&f->p->sum_index);
	for (size_t i = 0; i < cnt; i++) {
		struct sum s = old[i];

		if (!keeps(f, s.stack, s.process)) {
			ret->dropped = add_saturating(ret->dropped, s.ns);
			continue;
		}
		s.stack = f->stack_of[s.stack];
		ret->kept = add_saturating(ret->kept, s.ns);
		profile__add_sum(f->p, &s);
	}
	free(old);
}

static void filter_intervals(struct filtering *f, struct stackfilter_report *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->p->intervals.cnt; i++) {
		struct interval iv = f->p->intervals.items[i];

		if (!keeps(f, iv.stack, f->p->threads.items[iv.thread].process)) {
			ret->dropped_interval_cnt++;
			continue;
		}
		iv.stack = f->stack_of[iv.stack];
		f->p->intervals.items[kept++] = iv;
	}
	f->p->intervals.cnt = kept;
}

static bool is_idle(const struct stackfilter *f)
{
	return !f->only_cnt && !f->without_cnt && !f->base && !f->max_depth;
}

int stackfilter_apply(struct profile *p, const struct stackfilter *filter,
		      struct stackfilter_report *ret, struct err *err)
{
	struct filtering f = { .p = p, .max_depth = filter->max_depth };
	int rc;

	*ret = (struct stackfilter_report){ 0 };
	if (is_idle(filter))
		return 0;
	rc = add_patterns(&f.only, filter->only, filter->only_cnt, err);
	if (!rc)
		rc = add_patterns(&f.without, filter->without, filter->without_cnt, err);
	if (!rc)
		rc = add_patterns(&f.base, &filter->base, filter->base ? 1 : 0, err);
	if (!rc) {
		f.state_of_frame = xcalloc(p->frames.cnt, sizeof(*f.state_of_frame));
		f.state = xcalloc(p->stacks.cnt, sizeof(*f.state));
		f.stack_of = xcalloc(p->stacks.cnt, sizeof(*f.stack_of));
		f.depth = xcalloc(p->stacks.cnt, sizeof(*f.depth));
		judge_frames(&f);
		judge_stacks(&f);
		filter_sums(&f, ret);
		filter_intervals(&f, ret);
	}
	free_patterns(&f.only);
	free_patterns(&f.without);
	free_patterns(&f.base);
	free(f.state_of_frame);
	free(f.state);
	free(f.stack_of);
	free(f.depth);
	return rc;
}
