/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces of spans as calls; see msgspans.h. */
#include "user/exchange/msgspans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/spans.h"
#include "user/model/trace.h"

#define NIL 0xffffffffu

enum {
	CLIMB_MAX = 1024 /* spans of one service above each other; a loop of parents ends here */
};

struct converter {
	struct msgtrace *t;
	uint32_t *span_of_id;	   /* by string id of the trace at hand */
	uint32_t *parents, *calls; /* by span: its parent, and the call that it is the entry of */
	bool *has_entry_below;
	size_t id_cap, span_cap;
};

bool msgspans_detect(const char *head, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++) {
		if (head[i] == ' ' || head[i] == '\t' || head[i] == '\n' || head[i] == '\r')
			continue;
		return head[i] == '{' || head[i] == '[';
	}
	return false;
}

static uint32_t node(struct converter *c, const struct trace *t, uint32_t sid)
{
	const char *name = trace__str(t, sid);

	return *name ? msgtrace__node(c->t, name, strlen(name)) : msgtrace__node(c->t, "-", 1);
}

static void link_spans(struct converter *c, const struct trace *t)
{
	if (t->strings.cnt > c->id_cap) {
		c->id_cap = t->strings.cnt;
		c->span_of_id = xreallocarray(c->span_of_id, c->id_cap, sizeof(uint32_t));
	}
	memset(c->span_of_id, 0xff, t->strings.cnt * sizeof(uint32_t));
	if (t->span_cnt > c->span_cap) {
		c->span_cap = t->span_cnt;
		c->parents = xreallocarray(c->parents, c->span_cap, sizeof(uint32_t));
		c->calls = xreallocarray(c->calls, c->span_cap, sizeof(uint32_t));
		c->has_entry_below = xreallocarray(c->has_entry_below, c->span_cap, sizeof(bool));
	}
	for (size_t i = 0; i < t->span_cnt; i++)
		c->span_of_id[t->spans[i].id_sid] = (uint32_t)i;
	for (size_t i = 0; i < t->span_cnt; i++) {
		uint32_t parent = t->spans[i].parent_sid;

		c->parents[i] = parent ? c->span_of_id[parent] : NIL;
		c->calls[i] = NIL;
		c->has_entry_below[i] = false;
	}
}

static bool is_entry(const struct converter *c, const struct trace *t, uint32_t span)
{
	uint32_t parent = c->parents[span];

	return parent == NIL || t->spans[parent].service_sid != t->spans[span].service_sid ||
	       (t->spans[span].kind == SPAN_SERVER && t->spans[parent].kind == SPAN_CLIENT);
}

static void add_call(struct converter *c, const struct trace *t, uint32_t span)
{
	const struct span *s = &t->spans[span];
	uint32_t parent = c->parents[span];
	bool entry = is_entry(c, t, span);
	struct call call = call_init(0, 0, s->start_ns, s->end_ns);

	if (c->t->call_cnt >= CALL_TRUE_NONE - 1)
		return;
	if (entry) {
		const struct span *from = parent == NIL ? NULL : &t->spans[parent];

		call.callee = node(c, t, s->service_sid);
		call.caller =
			from ? node(c, t, from->service_sid) : msgtrace__node(c->t, "client", 6);
		if (from && from->kind == SPAN_CLIENT) {
			call.client_start_ns = from->start_ns;
			call.client_end_ns = from->end_ns;
		}
	} else {
		call.caller = node(c, t, s->service_sid);
		call.callee = node(c, t, s->operation_sid);
	}
	if (s->operation_sid)
		call.op_sid = strtab_add(&c->t->strings, trace__str(t, s->operation_sid));
	c->calls[span] = (uint32_t)c->t->call_cnt;
	msgtrace__add_call(c->t, &call, NULL);
}

/* The entry at or above a span in its service; NIL if there is none. */
static uint32_t entry_above(const struct converter *c, const struct trace *t, uint32_t span)
{
	for (int i = 0; i < CLIMB_MAX && span != NIL; i++) {
		if (is_entry(c, t, span))
			return span;
		span = c->parents[span];
	}
	return NIL;
}

static int take(void *ctx, struct trace *t, struct err *err)
{
	struct converter *c = ctx;

	(void)err;
	link_spans(c, t);
	for (size_t i = 0; i < t->span_cnt; i++)
		if (c->parents[i] != NIL && is_entry(c, t, (uint32_t)i))
			c->has_entry_below[c->parents[i]] = true;
	for (size_t i = 0; i < t->span_cnt; i++)
		if (is_entry(c, t, (uint32_t)i) ||
		    (t->spans[i].kind == SPAN_CLIENT && !c->has_entry_below[i]))
			add_call(c, t, (uint32_t)i);
	for (size_t i = 0; i < t->span_cnt; i++) {
		uint32_t above = c->parents[i] == NIL ? NIL : entry_above(c, t, c->parents[i]);

		if (c->calls[i] == NIL || above == NIL || c->calls[above] == NIL || above == i)
			continue;
		c->t->calls[c->calls[i]].true_parent = c->calls[above] & CALL_TRUE_NONE;
		c->t->has_true_parents = true;
	}
	return 0;
}

int msgspans_read(struct input *in, struct msgtrace *t, struct buf *notes, struct err *err)
{
	struct converter c = { .t = t };
	struct spans_stats stats = { 0 };
	struct spans_options o = { .take = take, .ctx = &c };
	int rc = spans_read(in, &o, &stats, err);

	for (int i = 0; i < TRACE_FLAW_MAX && !rc; i++)
		if (stats.flaws[i])
			buf_printf(notes, "%s: %s: %llu\n", input_path(in), trace_flaw_name(i),
				   (unsigned long long)stats.flaws[i]);
	if (!rc && !stats.trace_cnt)
		rc = err_set(err, -EINVAL, "%s: no traces in it", input_path(in));
	free(c.span_of_id);
	free(c.parents);
	free(c.calls);
	free(c.has_entry_below);
	return rc;
}
