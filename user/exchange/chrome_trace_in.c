/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Trace Event format of Chrome and Perfetto's JSON, as an input: spans of threads, either begun and ended
 * ("B", "E") or complete ("X"), times in microseconds. Events may stand in any order; what nests is a matter
 * of time. Each thread's spans are sorted and swept: the time of a span that its children do not cover is its
 * own. A span that outlives its parent is cut there and counted; so is an end without a beginning. Counters,
 * flows, instants and asynchronous spans are left out and counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/chrome_trace.h"
#include "user/exchange/eventstack.h"
#include "user/exchange/idmap.h"
#include "user/exchange/jsontree.h"

struct span {
	uint32_t thread, frame;
	event_time start, end;
	size_t order; /* of appearance: breaks ties */
};

struct event {
	const struct jsonnode *node;
	event_time at;
	uint32_t thread;
	size_t order;
	char phase;
};

struct open_span {
	uint32_t frame;
	event_time start;
	size_t order;
};

struct reader {
	struct intake intake;
	struct input *in;
	struct err *err;
	struct idmap threads; /* hash of pid and tid -> thread */
	struct event *events;
	size_t event_cnt, events_cap;
	struct span *spans;
	size_t span_cnt, spans_cap;
	struct open_span *open;
	size_t open_cnt, open_cap;
};

static uint64_t id_of(const struct jsonnode *n)
{
	uint64_t v = 0;

	jsontree_index(n, UINT32_MAX, &v);
	return v;
}

static uint32_t thread_of(struct reader *r, const struct jsonnode *event)
{
	uint64_t pid = id_of(jsontree_get(event, "pid")), tid = id_of(jsontree_get(event, "tid"));
	struct profile *p = r->intake.profile;
	struct thread t = { .tid = (uint32_t)tid, .ns_tid = (uint32_t)tid };
	uint32_t id;

	if (idmap_get(&r->threads, pid << 32 | tid, &id))
		return id;
	t.process = intake_process(&r->intake, "", 0, (uint32_t)pid);
	id = profile__add_thread(p, &t);
	idmap_add(&r->threads, pid << 32 | tid, id);
	return id;
}

/* "M": names of threads and processes. */
static void read_metadata(struct reader *r, const struct jsonnode *event)
{
	const char *what = jsontree_text(jsontree_get(event, "name"));
	const char *name = jsontree_text(jsontree_get(jsontree_get(event, "args"), "name"));
	struct profile *p = r->intake.profile;
	uint32_t thread, sid;

	if (strcmp(what, "thread_name") && strcmp(what, "process_name"))
		return;
	thread = thread_of(r, event);
	sid = profile__string(p, name);
	if (!strcmp(what, "thread_name"))
		p->threads.items[thread].comm_sid = sid;
	else if (p->threads.items[thread].process)
		p->processes.items[p->threads.items[thread].process].comm_sid = sid;
}

static int read_event(struct reader *r, const struct jsonnode *node, size_t number)
{
	const char *phase = jsontree_text(jsontree_get(node, "ph"));
	struct event e = { .node = node, .order = number, .phase = *phase };
	struct foldtext_count at;

	if (*phase == 'M') {
		read_metadata(r, node);
		return 0;
	}
	if (!*phase || phase[1] || !strchr("BEX", *phase)) {
		intake_ignore(&r->intake, "events that are no spans of a thread");
		return 0;
	}
	if (!jsontree_number(jsontree_get(node, "ts"), &at))
		return err_set(r->err, -EINVAL, "%s: event %zu has no time (ts)", input_path(r->in),
			       number);
	e.at = event_time_of(&at);
	e.thread = thread_of(r, node);
	if (r->event_cnt == r->events_cap)
		r->events = xgrow(r->events, &r->events_cap, r->event_cnt + 1, sizeof(*r->events));
	r->events[r->event_cnt++] = e;
	return 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void add_span(struct reader *r, uint32_t thread, uint32_t frame, event_time start,
		     event_time end, size_t order)
{
	if (r->span_cnt == r->spans_cap)
		r->spans = xgrow(r->spans, &r->spans_cap, r->span_cnt + 1, sizeof(*r->spans));
	r->spans[r->span_cnt++] = (struct span){ thread, frame, start, end, order };
}

static uint32_t frame_of(struct reader *r, const struct jsonnode *event)
{
	const char *name = jsontree_text(jsontree_get(event, "name"));

	return intake_frame(&r->intake, *name ? name : "[unnamed]", *name ? strlen(name) : 9);
}

/* The innermost open span of that name ends; without a name the innermost. */
static void end_span(struct reader *r, const struct event *e)
{
	const struct jsonnode *name = jsontree_get(e->node, "name");
	uint32_t frame = name ? frame_of(r, e->node) : 0;
	size_t i = r->open_cnt;

	while (i && name && r->open[i - 1].frame != frame)
		i--;
	if (!i) {
		intake_reject(&r->intake, e->order + 1, "ends a span that did not begin");
		return;
	}
	i--;
	add_span(r, e->thread, r->open[i].frame, r->open[i].start, e->at, r->open[i].order);
	memmove(r->open + i, r->open + i + 1, (r->open_cnt - i - 1) * sizeof(*r->open));
	r->open_cnt--;
}

static void close_all(struct reader *r, uint32_t thread, event_time at)
{
	while (r->open_cnt) {
		const struct open_span *o = &r->open[--r->open_cnt];

		intake_reject(&r->intake, o->order + 1,
			      "a span without an end; it ends with its thread");
		add_span(r, thread, o->frame, o->start, at, o->order);
	}
}

static void begin_span(struct reader *r, const struct event *e)
{
	if (r->open_cnt == r->open_cap)
		r->open = xgrow(r->open, &r->open_cap, r->open_cnt + 1, sizeof(*r->open));
	r->open[r->open_cnt++] = (struct open_span){ frame_of(r, e->node), e->at, e->order };
}

static void complete_span(struct reader *r, const struct event *e)
{
	struct foldtext_count duration = { 0 };

	if (!jsontree_number(jsontree_get(e->node, "dur"), &duration) || duration.is_negative) {
		intake_reject(&r->intake, e->order + 1,
			      "a complete event without a duration (dur)");
		return;
	}
	add_span(r, e->thread, frame_of(r, e->node), e->at, e->at + event_time_of(&duration),
		 e->order);
}

static void make_spans(struct reader *r)
{
	if (r->event_cnt)
		qsort(r->events, r->event_cnt, sizeof(*r->events), compare_events);
	for (size_t i = 0; i < r->event_cnt; i++) {
		const struct event *e = &r->events[i];

		if (e->phase == 'B')
			begin_span(r, e);
		else if (e->phase == 'E')
			end_span(r, e);
		else
			complete_span(r, e);
		if (i + 1 == r->event_cnt || e[1].thread != e->thread)
			close_all(r, e->thread, e->at);
	}
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1; /* the longer one is outside */
	return (x->order > y->order) - (x->order < y->order);
}

struct sweep {
	struct reader *r;
	struct eventstack stack;
	event_time *ends; /* of the open spans */
	size_t ends_cap;
};

static void close_until(struct sweep *s, event_time at)
{
	while (s->stack.depth && s->ends[s->stack.depth - 1] <= at) {
		eventstack_advance(&s->stack, s->ends[s->stack.depth - 1]);
		eventstack_close(&s->stack);
	}
}

static void sweep_span(struct sweep *s, const struct span *span)
{
	event_time end = span->end;

	close_until(s, span->start);
	eventstack_advance(&s->stack, span->start);
	if (s->stack.depth && end > s->ends[s->stack.depth - 1]) {
		end = s->ends[s->stack.depth - 1];
		intake_reject(&s->r->intake, span->order + 1,
			      "a span that outlives the one around it; it was cut there");
	}
	if (s->stack.depth >= s->ends_cap)
		s->ends = xgrow(s->ends, &s->ends_cap, s->stack.depth + 1, sizeof(*s->ends));
	s->ends[s->stack.depth] = end;
	eventstack_open(&s->stack, span->frame, 0);
}

static void sweep_threads(struct reader *r)
{
	struct sweep s = { .r = r, .stack = { .intake = &r->intake, .keep_intervals = true } };
	const event_time forever = (event_time)1 << 126;

	if (r->span_cnt)
		qsort(r->spans, r->span_cnt, sizeof(*r->spans), compare_spans);
	for (size_t i = 0; i < r->span_cnt; i++) {
		const struct span *span = &r->spans[i];

		if (!i || span->thread != span[-1].thread) {
			close_until(&s, forever);
			s.stack.has_time = false;
			s.stack.key.thread = span->thread;
			s.stack.key.process =
				r->intake.profile->threads.items[span->thread].process;
		}
		sweep_span(&s, span);
	}
	close_until(&s, forever);
	eventstack_free(&s.stack);
	free(s.ends);
}

/* The window is from the first interval to the last; threads lived from their first span to their last. */
static void set_times(struct profile *p)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		const struct interval *iv = &p->intervals.items[i];
		struct thread *t = &p->threads.items[iv->thread];

		if (!t->last_ns || iv->start_ns < t->first_ns)
			t->first_ns = iv->start_ns;
		if (iv->end_ns > t->last_ns)
			t->last_ns = iv->end_ns;
		if (!i || iv->start_ns < p->header.window_start_ns)
			p->header.window_start_ns = iv->start_ns;
		if (iv->end_ns > p->header.window_end_ns)
			p->header.window_end_ns = iv->end_ns;
	}
	p->header.flags |= HEADER_HAS_INTERVALS;
}

static int read_events(struct reader *r, const struct jsonnode *root)
{
	const struct jsonnode *list =
		jsontree_is(root, JSONTREE_ARRAY) ? root : jsontree_get(root, "traceEvents");
	size_t number = 0;
	int rc = 0;

	if (!jsontree_is(list, JSONTREE_ARRAY))
		return err_set(r->err, -EINVAL, "%s: no traceEvents in this JSON",
			       input_path(r->in));
	for (const struct jsonnode *n = list->first; n && !rc; n = n->next)
		rc = read_event(r, n, number++);
	if (rc)
		return rc;
	make_spans(r);
	sweep_threads(r);
	set_times(r->intake.profile);
	return 0;
}

int chrome_trace_import(struct input *in, const struct import_options *opts, struct profile *p,
			struct import_report *report, struct err *err)
{
	struct reader r = { .in = in, .err = err };
	struct jsontree t = { .root = NULL };
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (!rc)
		rc = intake_set_unit(&r.intake, "us", err);
	if (!rc)
		rc = jsontree_read(&t, in, true, err);
	if (!rc)
		rc = read_events(&r, t.root);
	intake_finish(&r.intake);
	jsontree_free(&t);
	idmap_free(&r.threads);
	free(r.events);
	free(r.spans);
	free(r.open);
	return rc;
}
