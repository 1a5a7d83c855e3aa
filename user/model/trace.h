/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trace of a distributed request: the spans that services reported for it, as they reported them. A
 * trace is self-contained: its names live in its own string table, so it can be handed to another thread.
 * What the spans mean together (tree, repairs, critical path) is user/analysis's business.
 *
 * Zero-initialised is empty. trace__free leaves it empty again. */
#ifndef CP_USER_MODEL_TRACE_H
#define CP_USER_MODEL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/strtab.h"

/* Numbers as in OTLP. */
enum span_kind {
	SPAN_UNSPECIFIED = 0,
	SPAN_INTERNAL = 1,
	SPAN_SERVER = 2,
	SPAN_CLIENT = 3,
	SPAN_PRODUCER = 4,
	SPAN_CONSUMER = 5,
	SPAN_KIND_MAX = 6,
};

enum span_flag {
	SPAN_FOLLOWS = 1 << 0,	/* parent_sid is a FOLLOWS_FROM link: related, not waited for */
	SPAN_ERROR = 1 << 1,	/* reported as failed */
	SPAN_NEGATIVE = 1 << 2, /* its duration was negative: end_ns = start_ns */
	SPAN_FOREIGN_TRACE = 1 << 3,  /* carries another trace id than its trace */
	SPAN_PARENT_WARNED = 1 << 4,  /* the collector warned of an invalid parent id */
	SPAN_FOREIGN_PARENT = 1 << 5, /* its only parents lie in other traces */
};

/* *_sid are ids in the trace's strings, 0 = not given. */
struct span {
	int64_t start_ns, end_ns; /* since the epoch; start_ns <= end_ns */
	uint32_t id_sid;
	uint32_t parent_sid; /* id of the parent, whether it is in the trace or not */
	uint32_t service_sid, operation_sid;
	uint32_t host_sid;
	uint32_t waker_sid; /* id of the span that is known to have released this one's start */
	uint8_t kind;	    /* enum span_kind */
	uint8_t flags;	    /* enum span_flag */
	uint16_t pad;
};

/* What a reader had to set aside; counts. */
enum trace_flaw {
	TRACE_SPAN_WITHOUT_ID = 0,
	TRACE_SPAN_WITHOUT_TIME = 1, /* missing, not a number, or beyond SPAN_TIME_*_NS */
	TRACE_WRONG_TYPE = 2,	     /* a field of another JSON type than the format says */
	TRACE_NO_PROCESS = 3,	     /* a span whose process (service) is not described */
	TRACE_FLAW_MAX = 4,
};

struct trace {
	struct strtab strings;
	struct span *spans;
	size_t span_cnt, span_cap;
	uint64_t ordinal; /* place among the traces of its input, from 0 */
	uint32_t id_sid;
	uint32_t flaws[TRACE_FLAW_MAX];
};

/* Times that a reader lets through: differences of two of them fit into int64_t. 1933..2116. */
#define SPAN_TIME_MIN_NS (-(INT64_C(1) << 60))
#define SPAN_TIME_MAX_NS (INT64_C(1) << 62)

struct span *trace__add_span(struct trace *t); /* zeroed; borrowed until the next call */
const char *trace__str(const struct trace *t, uint32_t sid);
void trace__reset(struct trace *t); /* empties, keeps the memory unless it is large */
void trace__free(struct trace *t);

const char *trace_flaw_name(int flaw);			 /* "span without id" */
const char *span_kind_name(int kind);			 /* "server"; "" for unspecified */
int span_kind_parse(const char *text, size_t len_bytes); /* SPAN_UNSPECIFIED if it is none */

#endif
