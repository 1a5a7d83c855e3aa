/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jaeger JSON, as the query API and the UI's download give it:
 *	{"data": [{"traceID", "spans": [...], "processes": {id: {"serviceName", "tags"}}}, ...]}
 * A span has spanID, operationName, startTime and duration (microseconds), references (refType CHILD_OF or
 * FOLLOWS_FROM, traceID, spanID), processID, tags (key, value), logs, warnings. Keys may come in any order,
 * so services are known only at the end of a trace: until then service_sid holds the process id. */
#include "user/exchange/span_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum trace_key {
	KEY_TRACE_ID,
	KEY_SPANS,
	KEY_PROCESSES
};

int jaeger_name(const char *text, size_t len_bytes)
{
	static const struct json_name names[] = {
		JSON_NAME("traceID", KEY_TRACE_ID),
		JSON_NAME("spans", KEY_SPANS),
		JSON_NAME("processes", KEY_PROCESSES),
	};

	return json_name_find(names, ARRAY_CNT(names), text, len_bytes);
}

/* A trace id: nearly always that of the trace itself, which need not be looked up. */
static int take_trace_id(struct span_reader *r, uint32_t *sid, struct err *err)
{
	struct trace *t = &r->trace;
	const char *text;
	size_t len;
	int rc = json_take_text(r, &text, &len, t->flaws, err);

	if (rc <= 0)
		return rc;
	if (t->id_sid && strtab_len_bytes(&t->strings, t->id_sid) == len &&
	    !memcmp(trace__str(t, t->id_sid), text, len))
		*sid = t->id_sid;
	else
		*sid = strtab_addn(&t->strings, text, len);
	return 0;
}

/* One {"key", "type", "value"}; most are of no interest and are left at their key. */
static int read_tag(struct span_reader *r, struct trace *t, struct span *s, struct err *err)
{
	enum {
		KEY_KEY,
		KEY_VALUE
	};
	static const struct json_name names[] = { JSON_NAME("key", KEY_KEY),
						  JSON_NAME("value", KEY_VALUE) };
	int tag = SPAN_TAG_OTHER, id, rc;
	bool has_key = false, has_value = false;
	const char *text;
	size_t len;

	buf_reset(&r->scratch);
	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		if (id == KEY_KEY) {
			rc = json_take_text(r, &text, &len, t->flaws, err);
			tag = rc > 0 ? span_tag_find(text, len) : SPAN_TAG_OTHER;
			has_key = true;
			if (rc >= 0 && tag == SPAN_TAG_OTHER)
				return jsonpull__leave(r->json, err);
		} else if (id == KEY_VALUE) {
			rc = json_take_scalar(r, &text, &len, err);
			has_value = rc > 0;
			if (has_value)
				buf_append(&r->scratch, text, len);
		} else {
			rc = jsonpull__skip(r->json, err);
		}
		if (rc < 0)
			return rc;
	}
	if (!rc && has_key && has_value)
		span_tag_apply(t, s, tag, buf_str(&r->scratch), r->scratch.len_bytes);
	return rc;
}

static int read_tags(struct span_reader *r, struct trace *t, struct span *s, struct err *err)
{
	int rc = json_enter(r, JSONPULL_ARRAY, t->flaws, err);

	while (rc > 0) {
		rc = json_next_object(r, t->flaws, err);
		if (rc > 0) {
			int tag_rc = read_tag(r, t, s, err);

			if (tag_rc < 0)
				return tag_rc;
		}
	}
	return rc;
}

static int read_reference(struct span_reader *r, struct span_ref *ref, struct err *err)
{
	enum {
		KEY_TYPE,
		KEY_REF_TRACE,
		KEY_REF_SPAN
	};
	static const struct json_name names[] = { JSON_NAME("refType", KEY_TYPE),
						  JSON_NAME("traceID", KEY_REF_TRACE),
						  JSON_NAME("spanID", KEY_REF_SPAN) };
	struct trace *t = &r->trace;
	const char *text;
	size_t len;
	int id, rc;

	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		if (id == KEY_TYPE) {
			rc = json_take_text(r, &text, &len, t->flaws, err);
			ref->follows = rc > 0 && len == 12 && !memcmp(text, "FOLLOWS_FROM", 12);
		} else if (id == KEY_REF_TRACE) {
			rc = take_trace_id(r, &ref->trace_sid, err);
		} else if (id == KEY_REF_SPAN) {
			rc = json_take_sid(r, t, &ref->span_sid, err);
		} else {
			rc = jsonpull__skip(r->json, err);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int read_references(struct span_reader *r, struct err *err)
{
	int rc = json_enter(r, JSONPULL_ARRAY, r->trace.flaws, err);

	while (rc > 0) {
		rc = json_next_object(r, r->trace.flaws, err);
		if (rc > 0) {
			struct span_ref ref = { 0 };
			int ref_rc = read_reference(r, &ref, err);

			if (ref_rc < 0)
				return ref_rc;
			r->refs = xgrow(r->refs, &r->ref_cap, r->ref_cnt + 1, sizeof(*r->refs));
			r->refs[r->ref_cnt++] = ref;
		}
	}
	return rc;
}

static int read_warnings(struct span_reader *r, uint8_t *flags, struct err *err)
{
	static const char invalid[] = "invalid parent span ID";
	int token, rc = json_enter(r, JSONPULL_ARRAY, r->trace.flaws, err);
	const char *text;
	size_t len;

	while (rc > 0) {
		token = jsonpull__next(r->json, err);
		if (token == JSONPULL_ARRAY_END || token < 0)
			return token < 0 ? token : 0;
		if (token == JSONPULL_OBJECT || token == JSONPULL_ARRAY)
			rc = jsonpull__leave(r->json, err) ? -EINVAL : 1;
		if (token != JSONPULL_STRING)
			continue;
		text = jsonpull__text(r->json, &len);
		if (memmem(text, len, invalid, sizeof(invalid) - 1))
			*flags |= SPAN_PARENT_WARNED;
	}
	return rc;
}

/* The last CHILD_OF within the trace; else the last FOLLOWS_FROM within it. */
static void choose_parent(struct span_reader *r, struct span *s, uint32_t trace_sid)
{
	bool foreign = false;

	for (size_t i = 0; i < r->ref_cnt; i++) {
		const struct span_ref *ref = &r->refs[i];

		if (!ref->span_sid)
			continue;
		if (ref->trace_sid && trace_sid && ref->trace_sid != trace_sid) {
			foreign = true;
			continue;
		}
		if (ref->follows && s->parent_sid && !(s->flags & SPAN_FOLLOWS))
			continue;
		s->parent_sid = ref->span_sid;
		s->flags =
			(uint8_t)((s->flags & ~SPAN_FOLLOWS) | (ref->follows ? SPAN_FOLLOWS : 0));
	}
	if (foreign && !s->parent_sid)
		s->flags |= SPAN_FOREIGN_PARENT;
}

struct raw_span {
	struct span span;
	uint32_t trace_sid;
	int64_t start_us, duration_us;
	bool has_start, has_duration;
};

static int read_span_key(struct span_reader *r, int id, struct raw_span *raw, struct err *err);

enum span_key {
	KEY_SPAN_TRACE,
	KEY_SPAN_ID,
	KEY_OPERATION,
	KEY_START,
	KEY_DURATION,
	KEY_REFERENCES,
	KEY_PROCESS,
	KEY_PARENT,
	KEY_TAGS,
	KEY_WARNINGS
};

/* Adds the span to the trace unless it lacks what a span needs. */
static void keep_span(struct span_reader *r, struct raw_span *raw)
{
	struct trace *t = &r->trace;
	struct span *s = &raw->span;
	int64_t duration_ns;

	if (raw->has_duration && raw->duration_us < 0) {
		s->flags |= SPAN_NEGATIVE;
		raw->duration_us = 0;
	}
	if (!s->id_sid) {
		t->flaws[TRACE_SPAN_WITHOUT_ID]++;
		return;
	}
	if (!raw->has_start || !raw->has_duration ||
	    __builtin_mul_overflow(raw->start_us, 1000, &s->start_ns) ||
	    __builtin_mul_overflow(raw->duration_us, 1000, &duration_ns) ||
	    __builtin_add_overflow(s->start_ns, duration_ns, &s->end_ns) ||
	    s->start_ns < SPAN_TIME_MIN_NS || s->end_ns > SPAN_TIME_MAX_NS) {
		t->flaws[TRACE_SPAN_WITHOUT_TIME]++;
		return;
	}
	if (!t->id_sid)
		t->id_sid = raw->trace_sid;
	if (raw->trace_sid && raw->trace_sid != t->id_sid)
		s->flags |= SPAN_FOREIGN_TRACE;
	choose_parent(r, s, raw->trace_sid ? raw->trace_sid : t->id_sid);
	*trace__add_span(t) = *s;
}

static int read_span(struct span_reader *r, struct err *err)
{
	static const struct json_name names[] = {
		JSON_NAME("traceID", KEY_SPAN_TRACE),
		JSON_NAME("spanID", KEY_SPAN_ID),
		JSON_NAME("operationName", KEY_OPERATION),
		JSON_NAME("startTime", KEY_START),
		JSON_NAME("duration", KEY_DURATION),
		JSON_NAME("references", KEY_REFERENCES),
		JSON_NAME("processID", KEY_PROCESS),
		JSON_NAME("parentSpanID", KEY_PARENT),
		JSON_NAME("tags", KEY_TAGS),
		JSON_NAME("warnings", KEY_WARNINGS),
	};
	struct raw_span raw = { 0 };
	int id, rc;

	r->ref_cnt = 0;
	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = read_span_key(r, id, &raw, err);
		if (rc < 0)
			return rc;
	}
	if (!rc)
		keep_span(r, &raw);
	return rc;
}

static int read_span_key(struct span_reader *r, int id, struct raw_span *raw, struct err *err)
{
	struct trace *t = &r->trace;
	struct span_ref old = { 0 };
	int rc;

	switch (id) {
	case KEY_SPAN_TRACE:
		return take_trace_id(r, &raw->trace_sid, err);
	case KEY_SPAN_ID:
		return json_take_sid(r, t, &raw->span.id_sid, err);
	case KEY_OPERATION:
		return json_take_sid(r, t, &raw->span.operation_sid, err);
	case KEY_PROCESS:
		return json_take_sid(r, t, &raw->span.service_sid, err);
	case KEY_START:
	case KEY_DURATION:
		rc = json_take_i64(r, id == KEY_START ? &raw->start_us : &raw->duration_us, err);
		*(id == KEY_START ? &raw->has_start : &raw->has_duration) = rc > 0;
		return rc;
	case KEY_REFERENCES:
		return read_references(r, err);
	case KEY_PARENT: /* of Jaeger before 1.0 */
		rc = json_take_sid(r, t, &old.span_sid, err);
		if (!rc && old.span_sid && !r->ref_cnt) {
			r->refs = xgrow(r->refs, &r->ref_cap, 1, sizeof(*r->refs));
			r->refs[r->ref_cnt++] = old;
		}
		return rc;
	case KEY_TAGS:
		return read_tags(r, t, &raw->span, err);
	case KEY_WARNINGS:
		return read_warnings(r, &raw->span.flags, err);
	default:
		return jsonpull__skip(r->json, err);
	}
}

static int read_spans(struct span_reader *r, struct err *err)
{
	int rc = json_enter(r, JSONPULL_ARRAY, r->trace.flaws, err);

	while (rc > 0) {
		rc = json_next_object(r, r->trace.flaws, err);
		if (rc > 0) {
			int span_rc = read_span(r, err);

			if (span_rc < 0)
				return span_rc;
		}
	}
	return rc;
}

static int read_process(struct span_reader *r, struct process_desc *d, struct err *err)
{
	enum {
		KEY_SERVICE,
		KEY_PROCESS_TAGS
	};
	static const struct json_name names[] = { JSON_NAME("serviceName", KEY_SERVICE),
						  JSON_NAME("tags", KEY_PROCESS_TAGS) };
	struct span host = { 0 };
	int id, rc;

	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		if (id == KEY_SERVICE)
			rc = json_take_sid(r, &r->trace, &d->service_sid, err);
		else if (id == KEY_PROCESS_TAGS)
			rc = read_tags(r, &r->trace, &host, err);
		else
			rc = jsonpull__skip(r->json, err);
		if (rc < 0)
			return rc;
	}
	d->host_sid = host.host_sid;
	return rc;
}

static int read_processes(struct span_reader *r, struct err *err)
{
	int rc = json_enter(r, JSONPULL_OBJECT, r->trace.flaws, err);

	while (rc > 0) {
		struct process_desc d = { 0 };
		const char *text;
		size_t len;
		int token = jsonpull__next(r->json, err);

		if (token != JSONPULL_KEY)
			return token < 0 ? token : 0;
		text = jsonpull__text(r->json, &len);
		d.key_sid = strtab_addn(&r->trace.strings, text, len);
		rc = json_enter(r, JSONPULL_OBJECT, r->trace.flaws, err);
		if (rc > 0)
			rc = read_process(r, &d, err);
		if (rc < 0)
			return rc;
		r->processes = xgrow(r->processes, &r->process_cap, r->process_cnt + 1,
				     sizeof(*r->processes));
		r->processes[r->process_cnt++] = d;
		rc = 1;
	}
	return rc;
}

int jaeger_key(struct span_reader *r, int id, struct err *err)
{
	switch (id) {
	case KEY_TRACE_ID:
		return json_take_sid(r, &r->trace, &r->trace.id_sid, err);
	case KEY_SPANS:
		return read_spans(r, err);
	case KEY_PROCESSES:
		return read_processes(r, err);
	default:
		return jsonpull__skip(r->json, err);
	}
}

/* Turns process ids into services and hosts; and marks spans that came before the trace's id was known. */
int jaeger_finish(struct span_reader *r, struct err *err)
{
	struct trace *t = &r->trace;
	uint32_t *by_sid = xcalloc(t->strings.cnt + 1, sizeof(*by_sid)); /* 1 + index */

	for (size_t i = r->process_cnt; i-- > 0;)
		by_sid[r->processes[i].key_sid] = (uint32_t)i + 1;
	for (size_t i = 0; i < t->span_cnt; i++) {
		struct span *s = &t->spans[i];
		uint32_t at = by_sid[s->service_sid];

		if (!at || !r->processes[at - 1].service_sid)
			t->flaws[TRACE_NO_PROCESS]++;
		s->service_sid = at ? r->processes[at - 1].service_sid : 0;
		if (at && !s->host_sid)
			s->host_sid = r->processes[at - 1].host_sid;
	}
	free(by_sid);
	r->process_cnt = 0;
	return span_reader__emit(r, t, err);
}

static int read_trace(struct span_reader *r, struct err *err)
{
	for (;;) {
		const char *text;
		size_t len;
		int rc, token = jsonpull__next(r->json, err);

		if (token != JSONPULL_KEY)
			return token < 0 ? token : jaeger_finish(r, err);
		text = jsonpull__text(r->json, &len);
		rc = jaeger_key(r, jaeger_name(text, len), err);
		if (rc < 0)
			return rc;
	}
}

int jaeger_elements(struct span_reader *r, struct err *err)
{
	int rc = 1;

	while (rc > 0) {
		uint32_t flaws[TRACE_FLAW_MAX] = { 0 };

		rc = json_next_object(r, flaws, err);
		r->stats->flaws[TRACE_WRONG_TYPE] += flaws[TRACE_WRONG_TYPE];
		if (rc > 0) {
			int trace_rc = read_trace(r, err);

			if (trace_rc < 0)
				return trace_rc;
		}
	}
	return rc;
}

int jaeger_array(struct span_reader *r, struct err *err)
{
	int token = jsonpull__next(r->json, err);

	if (token == JSONPULL_ARRAY)
		return jaeger_elements(r, err);
	if (token == JSONPULL_OBJECT)
		return read_trace(r, err);
	if (token > 0 && token != JSONPULL_NULL)
		r->stats->flaws[TRACE_WRONG_TYPE]++;
	return token < 0 ? token : 0;
}
