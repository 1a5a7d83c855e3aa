/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces under way while OTLP is read; see otlp.h. The service is an attribute of the resource, which may
 * come after its spans: they are remembered until the resource has ended. */
#include "user/exchange/otlp.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

enum {
	WINDOW_SPANS = 1000000
};

static struct otlp *otlp_get(struct span_reader *r)
{
	if (!r->otlp)
		r->otlp = xzalloc(sizeof(*r->otlp));
	return r->otlp;
}

/* Hexadecimal ids are compared in lower case; anything else as it is. */
static const char *fold_id(const char *id, size_t len_bytes, char *out, size_t cap)
{
	if (len_bytes > cap)
		return id;
	for (size_t i = 0; i < len_bytes; i++) {
		char c = id[i];

		if ((c < '0' || c > '9') && ((c | 32) < 'a' || (c | 32) > 'f'))
			return id;
		out[i] = c >= 'A' && c <= 'F' ? (char)(c | 32) : c;
	}
	return out;
}

struct trace *otlp_trace(struct span_reader *r, const char *id, size_t len_bytes)
{
	struct otlp *o = otlp_get(r);
	char folded[64];
	const char *key = fold_id(id, len_bytes, folded, sizeof(folded));
	uint64_t hash = hash_bytes(key, len_bytes);
	struct index_iter it = index_find(&o->index, hash);
	struct open_trace *t;

	for (; index_hit(&o->index, &it); index_next(&o->index, &it)) {
		uint32_t sid;

		t = &o->traces[it.elem];
		sid = t->trace.id_sid;
		if (strtab_len_bytes(&t->trace.strings, sid) == len_bytes &&
		    !memcmp(trace__str(&t->trace, sid), key, len_bytes))
			break;
	}
	if (index_hit(&o->index, &it)) {
		o->last = it.elem;
	} else {
		o->traces = xgrow(o->traces, &o->trace_cap, o->trace_cnt + 1, sizeof(*o->traces));
		o->last = (uint32_t)o->trace_cnt;
		o->traces[o->trace_cnt++] = (struct open_trace){ .hash = hash };
		t = &o->traces[o->last];
		t->trace.id_sid = strtab_addn(&t->trace.strings, key, len_bytes);
		index_add(&o->index, hash, o->last);
	}
	t = &o->traces[o->last];
	t->touched = ++o->clock;
	return &t->trace;
}

void otlp_keep(struct span_reader *r, struct trace *t, const struct span *s)
{
	struct otlp *o = r->otlp;

	*trace__add_span(t) = *s;
	o->held_spans++;
	o->pending = xgrow(o->pending, &o->pending_cap, o->pending_cnt + 1, sizeof(*o->pending));
	o->pending[o->pending_cnt++] =
		(struct pending_span){ o->last, (uint32_t)(t->span_cnt - 1) };
}

uint32_t otlp_id_sid(struct trace *t, const char *id, size_t len_bytes)
{
	char folded[64];
	bool zero = true;

	for (size_t i = 0; i < len_bytes && zero; i++)
		zero = id[i] == '0';
	if (zero)
		return 0;
	return strtab_addn(&t->strings, fold_id(id, len_bytes, folded, sizeof(folded)), len_bytes);
}

void otlp_resource_end(struct span_reader *r)
{
	struct otlp *o = otlp_get(r);

	for (size_t i = 0; i < o->pending_cnt; i++) {
		struct trace *t = &o->traces[o->pending[i].trace].trace;
		struct span *s = &t->spans[o->pending[i].span];

		if (o->service.len_bytes)
			s->service_sid = strtab_addn(&t->strings, buf_str(&o->service),
						     o->service.len_bytes);
		else
			t->flaws[TRACE_NO_PROCESS]++;
		if (o->host.len_bytes && !s->host_sid)
			s->host_sid =
				strtab_addn(&t->strings, buf_str(&o->host), o->host.len_bytes);
	}
	o->pending_cnt = 0;
	buf_reset(&o->service);
	buf_reset(&o->host);
}

void otlp_resource_tag(struct span_reader *r, int tag, const char *text, size_t len_bytes)
{
	struct otlp *o = otlp_get(r);
	struct buf *to = tag == SPAN_TAG_SERVICE ? &o->service : &o->host;

	if (tag != SPAN_TAG_SERVICE && tag != SPAN_TAG_HOST)
		return;
	buf_reset(to);
	buf_append(to, text, len_bytes);
}

static int by_touch(const void *a, const void *b)
{
	const struct open_trace *x = a, *y = b;

	return (x->touched > y->touched) - (x->touched < y->touched);
}

/* Was this trace handed out before? A Bloom-free exact set of hashes: 8 bytes a trace that was trimmed. */
static bool seen_before(struct otlp *o, uint64_t hash)
{
	struct index_iter it = index_find(&o->trimmed_index, hash);

	for (; index_hit(&o->trimmed_index, &it); index_next(&o->trimmed_index, &it))
		if (o->trimmed[it.elem] == hash)
			return true;
	return false;
}

static void remember_trimmed(struct otlp *o, uint64_t hash)
{
	o->trimmed = xgrow(o->trimmed, &o->trimmed_cap, o->trimmed_cnt + 1, sizeof(*o->trimmed));
	o->trimmed[o->trimmed_cnt] = hash;
	index_add(&o->trimmed_index, hash, (uint32_t)o->trimmed_cnt++);
}

static int emit_first(struct span_reader *r, size_t cnt, bool trimming, struct err *err)
{
	struct otlp *o = r->otlp;
	int rc = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct open_trace *t = &o->traces[i];

		o->held_spans -= t->trace.span_cnt;
		r->stats->split_cnt += o->trimmed_cnt && seen_before(o, t->hash);
		if (trimming)
			remember_trimmed(o, t->hash);
		if (!rc && t->trace.span_cnt)
			rc = span_reader__emit(r, &t->trace, err);
		trace__free(&t->trace);
	}
	if (cnt < o->trace_cnt)
		memmove(o->traces, o->traces + cnt, (o->trace_cnt - cnt) * sizeof(*o->traces));
	o->trace_cnt -= cnt;
	index_reset(&o->index);
	for (size_t i = 0; i < o->trace_cnt; i++)
		index_add(&o->index, o->traces[i].hash, (uint32_t)i);
	return rc;
}

int otlp_trim(struct span_reader *r, struct err *err)
{
	struct otlp *o = otlp_get(r);
	size_t window =
		r->options->otlp_window_spans ? r->options->otlp_window_spans : WINDOW_SPANS;
	size_t spans = o->held_spans, cnt = 0;

	if (spans <= window)
		return 0;
	qsort(o->traces, o->trace_cnt, sizeof(*o->traces), by_touch);
	while (cnt < o->trace_cnt && spans > window / 2)
		spans -= o->traces[cnt++].trace.span_cnt;
	return emit_first(r, cnt, true, err);
}

int otlp_finish(struct span_reader *r, struct err *err)
{
	return r->otlp ? emit_first(r, r->otlp->trace_cnt, false, err) : 0;
}

void otlp_free(struct otlp *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->trace_cnt; i++)
		trace__free(&o->traces[i].trace);
	free(o->traces);
	free(o->pending);
	free(o->trimmed);
	index_free(&o->index);
	index_free(&o->trimmed_index);
	buf_free(&o->service);
	buf_free(&o->host);
	free(o);
}
