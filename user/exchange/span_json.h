/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the readers of spans in this folder: the state of one reading, and small steps over JSON that
 * take a field of the wrong type as absent, and count it. Private to spans.c, jaeger.c and otlp*.c. */
#ifndef CP_USER_EXCHANGE_SPAN_JSON_H
#define CP_USER_EXCHANGE_SPAN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/jsonpull.h"
#include "user/exchange/spans.h"

struct otlp;

/* One CHILD_OF or FOLLOWS_FROM of the span under work. */
struct span_ref {
	uint32_t trace_sid, span_sid;
	bool follows;
};

struct span_reader {
	const struct spans_options *options;
	struct spans_stats *stats;
	struct jsonpull *json; /* NULL while protobuf is read */
	const char *path;      /* borrowed */
	struct trace trace;    /* Jaeger: the one under work */
	struct span_ref *refs;
	size_t ref_cnt, ref_cap;
	struct process_desc *processes;
	size_t process_cnt, process_cap;
	struct buf scratch;
	struct otlp *otlp;
};

/* A service as the "processes" of a Jaeger trace describe it. */
struct process_desc {
	uint32_t key_sid, service_sid, host_sid;
};

/* Hands *t out, counts it, and leaves *t empty. */
int span_reader__emit(struct span_reader *r, struct trace *t, struct err *err);

/* A key of the object under work: its number in names, or -1 for any other. */
struct json_name {
	const char *name;
	size_t len_bytes;
	int id;
};
#define JSON_NAME(text, number)                \
	{                                      \
		text, sizeof(text) - 1, number \
	}
int json_name_find(const struct json_name *names, size_t cnt, const char *text, size_t len_bytes);

/* Steps to the next key of the open object: 1 with *id (-1 = not in names), 0 when the object has ended. */
int json_next_key(struct span_reader *r, const struct json_name *names, size_t cnt, int *id,
		  struct err *err);
/* After a key or in an array: enters an object or array: 1, or 0 if the value is something else (passed
 * over, and counted in flaws unless it is null). */
int json_enter(struct span_reader *r, int token, uint32_t *flaws, struct err *err);
/* Steps to the next element of the open array that is an object, and enters it: 1; 0 at the array's end. */
int json_next_object(struct span_reader *r, uint32_t *flaws, struct err *err);
/* After a key: a string (1: borrowed until the next step), or 0. */
int json_take_text(struct span_reader *r, const char **text, size_t *len_bytes, uint32_t *flaws,
		   struct err *err);
int json_take_sid(struct span_reader *r, struct trace *t, uint32_t *sid, struct err *err);
/* After a key: a number or a string that is one: 1, or 0 (not a number, or it did not fit). */
int json_take_i64(struct span_reader *r, int64_t *ret, struct err *err);
/* After a key: any scalar as text; 0 if it is none. Booleans are "true" and "false". */
int json_take_scalar(struct span_reader *r, const char **text, size_t *len_bytes, struct err *err);

/* Jaeger. A document's top object may be the trace itself: jaeger_key takes one of its keys. */
int jaeger_name(const char *text, size_t len_bytes); /* -1 if no key of a trace */
int jaeger_key(struct span_reader *r, int id, struct err *err);
int jaeger_finish(struct span_reader *r, struct err *err);   /* the trace is complete */
int jaeger_array(struct span_reader *r, struct err *err);    /* after "data": traces */
int jaeger_elements(struct span_reader *r, struct err *err); /* inside an array of traces */

/* OTLP; otlp.h has the rest. */
int otlp_resources(struct span_reader *r, struct err *err); /* after "resourceSpans" */
int otlp_finish(struct span_reader *r, struct err *err);    /* hands out all that is held */
void otlp_free(struct otlp *o);

/* What both ask of an attribute (tag): the meanings that causeprof knows. */
enum span_tag {
	SPAN_TAG_OTHER = -1,
	SPAN_TAG_KIND,
	SPAN_TAG_ERROR,
	SPAN_TAG_HOST,
	SPAN_TAG_WAKER,
	SPAN_TAG_SERVICE,
};
int span_tag_find(const char *key, size_t len_bytes);
void span_tag_apply(struct trace *t, struct span *s, int tag, const char *text, size_t len_bytes);

#endif
