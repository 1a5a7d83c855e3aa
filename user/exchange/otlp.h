/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces under way while OTLP is read, for its JSON and its protobuf reader. Private to otlp*.c. */
#ifndef CP_USER_EXCHANGE_OTLP_H
#define CP_USER_EXCHANGE_OTLP_H

#include "user/base/index.h"
#include "user/exchange/span_json.h"

struct open_trace {
	struct trace trace;
	uint64_t hash;	  /* of its id */
	uint64_t touched; /* when it last got a span, in spans */
};

struct pending_span {
	uint32_t trace, span; /* indices */
};

struct otlp {
	struct open_trace *traces;
	size_t trace_cnt, trace_cap;
	struct index index; /* by id */
	uint32_t last;	    /* the trace that otlp_trace found last */
	uint64_t clock;
	size_t held_spans;
	struct pending_span *pending; /* of the resource under work */
	size_t pending_cnt, pending_cap;
	struct buf service, host; /* of the resource under work */
	uint64_t *trimmed;	  /* hashes of the ids that were handed out early */
	size_t trimmed_cnt, trimmed_cap;
	struct index trimmed_index;
};

/* The open trace with this id, begun if need be; borrowed until the next call. */
struct trace *otlp_trace(struct span_reader *r, const char *id, size_t len_bytes);
/* Adds a span of the resource under work to the trace that otlp_trace gave last. */
void otlp_keep(struct span_reader *r, struct trace *t, const struct span *s);
uint32_t otlp_id_sid(struct trace *t, const char *id, size_t len_bytes); /* all zeros = none */
void otlp_resource_tag(struct span_reader *r, int tag, const char *text, size_t len_bytes);
void otlp_resource_end(struct span_reader *r);
int otlp_trim(struct span_reader *r, struct err *err); /* keeps to the window */

/* Whether these first bytes (16 or more, if there are) begin OTLP as protobuf; and its reader. */
bool otlp_is_protobuf(const char *head, size_t len_bytes);
int otlp_protobuf(struct span_reader *r, struct input *in, struct err *err);

#endif
