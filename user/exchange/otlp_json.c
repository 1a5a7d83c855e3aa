/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OTLP as JSON: {"resourceSpans": [{"resource": {"attributes"}, "scopeSpans": [{"spans": [...]}]}]}, one
 * document or one a line. Times are nanoseconds, as strings or numbers; ids are hexadecimal in either case;
 * names of fields are camelCase or snake_case. The trace id of a span may come after its other fields, so a
 * span's texts are kept aside until it ends. */
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/otlp.h"

enum raw_text {
	RAW_TRACE_ID,
	RAW_SPAN_ID,
	RAW_PARENT_ID,
	RAW_NAME,
	RAW_HOST,
	RAW_WAKER,
	RAW_TEXT_MAX
};

enum otlp_key {
	KEY_TRACE_ID,
	KEY_SPAN_ID,
	KEY_PARENT_ID,
	KEY_NAME,
	KEY_KIND,
	KEY_START,
	KEY_END,
	KEY_ATTRIBUTES,
	KEY_STATUS
};

/* A span while its trace is not known; texts lie one behind the other in the reader's scratch. */
struct otlp_span {
	struct span span;
	size_t off_bytes[RAW_TEXT_MAX], len_bytes[RAW_TEXT_MAX];
	bool has_start, has_end;
	uint32_t flaws[TRACE_FLAW_MAX];
};

static void put_text(struct span_reader *r, struct otlp_span *o, int which, const char *text,
		     size_t len_bytes)
{
	o->off_bytes[which] = r->scratch.len_bytes;
	o->len_bytes[which] = len_bytes;
	buf_append(&r->scratch, text, len_bytes);
}

static const char *get_text(struct span_reader *r, const struct otlp_span *o, int which)
{
	return buf_str(&r->scratch) + o->off_bytes[which];
}

static int take_text(struct span_reader *r, struct otlp_span *o, int which, struct err *err)
{
	const char *text;
	size_t len;
	int rc = json_take_text(r, &text, &len, o->flaws, err);

	if (rc > 0)
		put_text(r, o, which, text, len);
	return rc;
}

/* {"stringValue": "x"}: the value of the first scalar in it, appended to *out. */
static int read_any_value(struct span_reader *r, struct buf *out, struct err *err)
{
	static const struct json_name names[] = {
		JSON_NAME("stringValue", 0), JSON_NAME("string_value", 0),
		JSON_NAME("boolValue", 0),   JSON_NAME("bool_value", 0),
		JSON_NAME("intValue", 0),    JSON_NAME("int_value", 0),
	};
	uint32_t flaws[TRACE_FLAW_MAX] = { 0 };
	const char *text;
	size_t len;
	int id, rc = json_enter(r, JSONPULL_OBJECT, flaws, err);

	while (rc > 0 && (rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = id < 0 ? jsonpull__skip(r->json, err) : json_take_scalar(r, &text, &len, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			buf_append(out, text, len);
		rc = 1;
	}
	return rc;
}

/* One {"key", "value"}: gives its meaning and its value in r->value; most are left at their key. */
static int read_attribute(struct span_reader *r, int *tag, struct buf *value, struct err *err)
{
	static const struct json_name names[] = { JSON_NAME("key", 0), JSON_NAME("value", 1) };
	uint32_t flaws[TRACE_FLAW_MAX] = { 0 };
	const char *text;
	size_t len;
	int id, rc;

	*tag = SPAN_TAG_OTHER;
	buf_reset(value);
	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		if (id == 0) {
			rc = json_take_text(r, &text, &len, flaws, err);
			*tag = rc > 0 ? span_tag_find(text, len) : SPAN_TAG_OTHER;
			if (rc >= 0 && *tag == SPAN_TAG_OTHER)
				return jsonpull__leave(r->json, err);
		} else if (id == 1) {
			rc = read_any_value(r, value, err);
		} else {
			rc = jsonpull__skip(r->json, err);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* Attributes of a span (o given) or of the resource under work. */
static int read_attributes(struct span_reader *r, struct otlp_span *o, struct err *err)
{
	uint32_t unused[TRACE_FLAW_MAX] = { 0 };
	uint32_t *flaws = o ? o->flaws : unused;
	struct buf value = { 0 };
	int tag, rc = json_enter(r, JSONPULL_ARRAY, flaws, err);

	while (rc > 0 && (rc = json_next_object(r, flaws, err)) > 0) {
		rc = read_attribute(r, &tag, &value, err);
		if (rc < 0)
			break;
		rc = 1;
		if (tag == SPAN_TAG_OTHER)
			continue;
		if (!o)
			otlp_resource_tag(r, tag, buf_str(&value), value.len_bytes);
		else if (tag == SPAN_TAG_HOST || tag == SPAN_TAG_WAKER)
			put_text(r, o, tag == SPAN_TAG_HOST ? RAW_HOST : RAW_WAKER, buf_str(&value),
				 value.len_bytes);
		else if (tag == SPAN_TAG_ERROR && strcmp(buf_str(&value), "false") != 0)
			o->span.flags |= SPAN_ERROR;
	}
	buf_free(&value);
	return rc;
}

/* A number, or a word such as "SPAN_KIND_SERVER". */
static int read_kind(struct span_reader *r, struct otlp_span *o, struct err *err)
{
	static const char prefix[] = "SPAN_KIND_";
	const size_t skip = sizeof(prefix) - 1;
	const char *text;
	size_t len;
	int rc = json_take_scalar(r, &text, &len, err);

	if (rc <= 0)
		return rc;
	if (len == 1 && *text >= '0' && *text < '0' + SPAN_KIND_MAX)
		o->span.kind = (uint8_t)(*text - '0');
	else if (len > skip && !memcmp(text, prefix, skip))
		o->span.kind = (uint8_t)span_kind_parse(text + skip, len - skip);
	return 1;
}

static int read_status(struct span_reader *r, struct otlp_span *o, struct err *err)
{
	static const struct json_name names[] = { JSON_NAME("code", 0) };
	const char *text;
	size_t len;
	int id, rc = json_enter(r, JSONPULL_OBJECT, o->flaws, err);

	while (rc > 0 && (rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = id < 0 ? jsonpull__skip(r->json, err) : json_take_scalar(r, &text, &len, err);
		if (rc < 0)
			return rc;
		if (rc > 0 && ((len == 1 && *text == '2') ||
			       (len == 17 && !memcmp(text, "STATUS_CODE_ERROR", 17))))
			o->span.flags |= SPAN_ERROR;
		rc = 1;
	}
	return rc;
}

static int read_span_key(struct span_reader *r, int id, struct otlp_span *o, struct err *err)
{
	int rc;

	switch (id) {
	case KEY_TRACE_ID:
		return take_text(r, o, RAW_TRACE_ID, err);
	case KEY_SPAN_ID:
		return take_text(r, o, RAW_SPAN_ID, err);
	case KEY_PARENT_ID:
		return take_text(r, o, RAW_PARENT_ID, err);
	case KEY_NAME:
		return take_text(r, o, RAW_NAME, err);
	case KEY_KIND:
		return read_kind(r, o, err);
	case KEY_START:
		rc = json_take_i64(r, &o->span.start_ns, err);
		o->has_start = rc > 0;
		return rc;
	case KEY_END:
		rc = json_take_i64(r, &o->span.end_ns, err);
		o->has_end = rc > 0;
		return rc;
	case KEY_ATTRIBUTES:
		return read_attributes(r, o, err);
	case KEY_STATUS:
		return read_status(r, o, err);
	default:
		return jsonpull__skip(r->json, err);
	}
}

/* Moves the span into its trace, or counts why it cannot be. */
static void keep_span(struct span_reader *r, struct otlp_span *o)
{
	struct span *s = &o->span;
	struct trace *t;

	if (!o->len_bytes[RAW_TRACE_ID] || !o->len_bytes[RAW_SPAN_ID]) {
		r->stats->flaws[TRACE_SPAN_WITHOUT_ID]++;
		return;
	}
	t = otlp_trace(r, get_text(r, o, RAW_TRACE_ID), o->len_bytes[RAW_TRACE_ID]);
	t->flaws[TRACE_WRONG_TYPE] += o->flaws[TRACE_WRONG_TYPE];
	s->id_sid = otlp_id_sid(t, get_text(r, o, RAW_SPAN_ID), o->len_bytes[RAW_SPAN_ID]);
	if (!s->id_sid) {
		t->flaws[TRACE_SPAN_WITHOUT_ID]++;
		return;
	}
	if (!o->has_start || !o->has_end || s->start_ns < SPAN_TIME_MIN_NS ||
	    s->start_ns > SPAN_TIME_MAX_NS || s->end_ns < SPAN_TIME_MIN_NS ||
	    s->end_ns > SPAN_TIME_MAX_NS) {
		t->flaws[TRACE_SPAN_WITHOUT_TIME]++;
		return;
	}
	if (s->end_ns < s->start_ns) {
		s->flags |= SPAN_NEGATIVE;
		s->end_ns = s->start_ns;
	}
	s->parent_sid = otlp_id_sid(t, get_text(r, o, RAW_PARENT_ID), o->len_bytes[RAW_PARENT_ID]);
	s->waker_sid = otlp_id_sid(t, get_text(r, o, RAW_WAKER), o->len_bytes[RAW_WAKER]);
	s->operation_sid =
		strtab_addn(&t->strings, get_text(r, o, RAW_NAME), o->len_bytes[RAW_NAME]);
	s->host_sid = strtab_addn(&t->strings, get_text(r, o, RAW_HOST), o->len_bytes[RAW_HOST]);
	otlp_keep(r, t, s);
}

static int read_span(struct span_reader *r, struct err *err)
{
	static const struct json_name names[] = {
		JSON_NAME("traceId", KEY_TRACE_ID),
		JSON_NAME("trace_id", KEY_TRACE_ID),
		JSON_NAME("spanId", KEY_SPAN_ID),
		JSON_NAME("span_id", KEY_SPAN_ID),
		JSON_NAME("parentSpanId", KEY_PARENT_ID),
		JSON_NAME("parent_span_id", KEY_PARENT_ID),
		JSON_NAME("name", KEY_NAME),
		JSON_NAME("kind", KEY_KIND),
		JSON_NAME("startTimeUnixNano", KEY_START),
		JSON_NAME("start_time_unix_nano", KEY_START),
		JSON_NAME("endTimeUnixNano", KEY_END),
		JSON_NAME("end_time_unix_nano", KEY_END),
		JSON_NAME("attributes", KEY_ATTRIBUTES),
		JSON_NAME("status", KEY_STATUS),
	};
	struct otlp_span o = { 0 };
	int id, rc;

	buf_reset(&r->scratch);
	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = read_span_key(r, id, &o, err);
		if (rc < 0)
			return rc;
	}
	if (!rc)
		keep_span(r, &o);
	return rc;
}

/* An array of objects under a key; each is read by one. */
static int read_each(struct span_reader *r, int (*one)(struct span_reader *, struct err *),
		     struct err *err)
{
	uint32_t flaws[TRACE_FLAW_MAX] = { 0 };
	int rc = json_enter(r, JSONPULL_ARRAY, flaws, err);

	while (rc > 0 && (rc = json_next_object(r, flaws, err)) > 0) {
		rc = one(r, err);
		if (rc < 0)
			return rc;
		rc = 1;
	}
	r->stats->flaws[TRACE_WRONG_TYPE] += flaws[TRACE_WRONG_TYPE];
	return rc;
}

static int read_scope(struct span_reader *r, struct err *err)
{
	static const struct json_name names[] = { JSON_NAME("spans", 0) };
	int id, rc;

	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = id < 0 ? jsonpull__skip(r->json, err) : read_each(r, read_span, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int read_resource(struct span_reader *r, struct err *err)
{
	static const struct json_name names[] = { JSON_NAME("attributes", 0) };
	uint32_t flaws[TRACE_FLAW_MAX] = { 0 };
	int id, rc = json_enter(r, JSONPULL_OBJECT, flaws, err);

	while (rc > 0 && (rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		rc = id < 0 ? jsonpull__skip(r->json, err) : read_attributes(r, NULL, err);
		if (rc < 0)
			return rc;
		rc = 1;
	}
	return rc;
}

static int read_resource_spans(struct span_reader *r, struct err *err)
{
	static const struct json_name names[] = {
		JSON_NAME("resource", 0),
		JSON_NAME("scopeSpans", 1),
		JSON_NAME("scope_spans", 1),
		JSON_NAME("instrumentationLibrarySpans", 1),
		JSON_NAME("instrumentation_library_spans", 1),
	};
	int id, rc;

	while ((rc = json_next_key(r, names, ARRAY_CNT(names), &id, err)) > 0) {
		if (id < 0)
			rc = jsonpull__skip(r->json, err);
		else
			rc = id == 0 ? read_resource(r, err) : read_each(r, read_scope, err);
		if (rc < 0)
			return rc;
	}
	otlp_resource_end(r);
	return rc ? rc : otlp_trim(r, err);
}

int otlp_resources(struct span_reader *r, struct err *err)
{
	return read_each(r, read_resource_spans, err);
}
