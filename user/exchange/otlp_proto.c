/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OTLP as protobuf: TracesData (or an ExportTraceServiceRequest, which looks the same) messages one behind the
 * other, as they are or each behind its length (four bytes, big-endian, as the collector's file exporter writes
 * them). The outermost level is walked here, so that memory is bounded by the largest ResourceSpans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/otlp_trace.pb-c.h"
#include "user/base/mem.h"
#include "user/exchange/otlp.h"

enum {
	RESOURCE_MAX_BYTES = 1 << 30,
	TAG_RESOURCE_SPANS = 1 << 3 | 2,
	WIRE_LEN = 2,
	VARINT_MAX_BYTES = 10,
};

/* A varint at the start of len bytes: its length, or 0 if it is not whole. */
static size_t varint(const unsigned char *data, size_t len, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < len && i < VARINT_MAX_BYTES; i++) {
		*ret |= (uint64_t)(data[i] & 127) << 7 * i;
		if (data[i] < 128)
			return i + 1;
	}
	return 0;
}

bool otlp_is_protobuf(const char *head, size_t len_bytes)
{
	const unsigned char *data = (const unsigned char *)head;
	uint64_t outer, inner;
	size_t used;

	if (len_bytes > 5 && data[0] == 0) { /* a length: JSON does not start like that */
		data += 4;
		len_bytes -= 4;
	}
	if (len_bytes < 4 || data[0] != TAG_RESOURCE_SPANS)
		return false;
	used = varint(data + 1, len_bytes - 1, &outer);
	if (!used || used + 2 >= len_bytes)
		return false;
	if ((data[used + 1] & 7) != WIRE_LEN || data[used + 1] >> 3 > 3 || !(data[used + 1] >> 3))
		return false; /* resource, scope_spans or schema_url */
	return varint(data + used + 2, len_bytes - used - 2, &inner) && inner < outer;
}

/* Exactly len bytes, or an error. */
static int read_bytes(struct span_reader *r, struct input *in, void *data, size_t len,
		      struct err *err)
{
	size_t at = 0;

	while (at < len) {
		ssize_t n = input_read(in, (char *)data + at, len - at, err);

		if (n < 0)
			return (int)n;
		if (!n)
			return err_set(err, -EINVAL, "%s: the file ends inside a message", r->path);
		at += (size_t)n;
	}
	return 0;
}

static int read_varint(struct span_reader *r, struct input *in, uint64_t *ret, struct err *err)
{
	*ret = 0;
	for (int i = 0; i < VARINT_MAX_BYTES; i++) {
		unsigned char b;
		int rc = read_bytes(r, in, &b, 1, err);

		if (rc)
			return rc;
		*ret |= (uint64_t)(b & 127) << 7 * i;
		if (b < 128)
			return 0;
	}
	return err_set(err, -EINVAL, "%s: a number of more than 64 bits", r->path);
}

static size_t hex(const ProtobufCBinaryData *id, char *out, size_t cap)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = id->len * 2 <= cap ? id->len : cap / 2;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[id->data[i] >> 4];
		out[2 * i + 1] = digits[id->data[i] & 15];
	}
	return len * 2;
}

static const char *text_of(const Otlptrace__AnyValue *v)
{
	if (!v)
		return "";
	return *v->string_value ? v->string_value : v->bool_value ? "true" : "false";
}

static bool time_ok(uint64_t ns)
{
	return ns <= (uint64_t)SPAN_TIME_MAX_NS;
}

static void keep_span(struct span_reader *r, const Otlptrace__Span *p)
{
	struct span s = { .kind = p->kind >= 0 && p->kind < SPAN_KIND_MAX ? (uint8_t)p->kind : 0 };
	char id[64];
	size_t len = hex(&p->trace_id, id, sizeof(id));
	struct trace *t;

	if (!len || !p->span_id.len) {
		r->stats->flaws[TRACE_SPAN_WITHOUT_ID]++;
		return;
	}
	t = otlp_trace(r, id, len);
	s.id_sid = otlp_id_sid(t, id, hex(&p->span_id, id, sizeof(id)));
	if (!s.id_sid) {
		t->flaws[TRACE_SPAN_WITHOUT_ID]++;
		return;
	}
	if (!time_ok(p->start_time_unix_nano) || !time_ok(p->end_time_unix_nano)) {
		t->flaws[TRACE_SPAN_WITHOUT_TIME]++;
		return;
	}
	s.start_ns = (int64_t)p->start_time_unix_nano;
	s.end_ns = (int64_t)p->end_time_unix_nano;
	if (s.end_ns < s.start_ns) {
		s.flags |= SPAN_NEGATIVE;
		s.end_ns = s.start_ns;
	}
	s.parent_sid = otlp_id_sid(t, id, hex(&p->parent_span_id, id, sizeof(id)));
	s.operation_sid = strtab_add(&t->strings, p->name);
	for (size_t i = 0; i < p->n_attributes; i++) {
		const Otlptrace__KeyValue *a = p->attributes[i];
		const char *text = text_of(a->value);
		int tag = span_tag_find(a->key, strlen(a->key));

		if (tag == SPAN_TAG_HOST || tag == SPAN_TAG_WAKER || tag == SPAN_TAG_ERROR)
			span_tag_apply(t, &s, tag, text, strlen(text));
	}
	if (p->status && p->status->code == 2)
		s.flags |= SPAN_ERROR;
	otlp_keep(r, t, &s);
}

static int keep_resource(struct span_reader *r, const void *data, size_t len, struct err *err)
{
	Otlptrace__ResourceSpans *m = otlptrace__resource_spans__unpack(NULL, len, data);

	if (!m)
		return err_set(err, -EINVAL, "%s: a damaged ResourceSpans message", r->path);
	for (size_t i = 0; m->resource && i < m->resource->n_attributes; i++) {
		const Otlptrace__KeyValue *a = m->resource->attributes[i];
		const char *text = text_of(a->value);

		otlp_resource_tag(r, span_tag_find(a->key, strlen(a->key)), text, strlen(text));
	}
	for (size_t i = 0; i < m->n_scope_spans; i++)
		for (size_t k = 0; k < m->scope_spans[i]->n_spans; k++)
			keep_span(r, m->scope_spans[i]->spans[k]);
	otlptrace__resource_spans__free_unpacked(m, NULL);
	otlp_resource_end(r);
	return otlp_trim(r, err);
}

/* One field of TracesData. *framed: lengths stand between the messages. */
static int read_field(struct span_reader *r, struct input *in, struct buf *body, struct err *err)
{
	uint64_t tag, len;
	int rc = read_varint(r, in, &tag, err);

	if (!rc && (tag & 7) != WIRE_LEN)
		rc = err_set(err, -EINVAL, "%s: neither Jaeger nor OTLP", r->path);
	if (!rc)
		rc = read_varint(r, in, &len, err);
	if (!rc && len > RESOURCE_MAX_BYTES)
		rc = err_set(err, -E2BIG, "%s: a message of %llu bytes", r->path,
			     (unsigned long long)len);
	buf_reset(body);
	for (uint64_t at = 0;
	     !rc && at < len;) { /* grows with what is there, not with what is claimed */
		size_t part = len - at < 1 << 20 ? (size_t)(len - at) : 1 << 20;

		buf_reserve(body, part);
		rc = read_bytes(r, in, body->data + body->len_bytes, part, err);
		body->len_bytes += part;
		at += part;
	}
	if (rc || tag != TAG_RESOURCE_SPANS)
		return rc;
	return keep_resource(r, buf_str(body), body->len_bytes, err);
}

int otlp_protobuf(struct span_reader *r, struct input *in, struct err *err)
{
	struct buf body = { 0 };
	const char *head;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = input_peek(in, 1, &head, err)) != 0) {
		char length[4];

		if (n < 0)
			rc = (int)n;
		else if (!*head)
			rc = read_bytes(r, in, length, sizeof(length), err);
		else
			rc = read_field(r, in, &body, err);
	}
	buf_free(&body);
	return rc;
}
