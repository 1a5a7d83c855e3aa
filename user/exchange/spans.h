/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces out of files: Jaeger JSON (one trace, many in "data", API dumps, one document a line) and OTLP
 * (JSON, or protobuf), plain, gzip or zstd. What a file is, is told by its content.
 *
 * A Jaeger file hands out each trace as soon as its closing bracket is read, so that memory is bounded by
 * the largest trace. In OTLP the spans of one trace may lie anywhere; traces are held until the end of the
 * input or until more than otlp_window_spans are held, when those that were longest without a new span go
 * first; spans that come after that form a second trace with the same id, counted in split_cnt. */
#ifndef CP_USER_EXCHANGE_SPANS_H
#define CP_USER_EXCHANGE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/trace.h"

struct spans_stats {
	uint64_t trace_cnt, span_cnt;
	uint64_t split_cnt;		/* OTLP traces that came back after they were handed out */
	uint64_t raw_bytes;		/* read so far, compressed as they are in the file */
	uint64_t flaws[TRACE_FLAW_MAX]; /* set aside, all traces together */
};

struct spans_options {
	size_t otlp_window_spans; /* 0 = 1,000,000 */
	/* Called for each trace. *t is the reader's, but its content may be taken: copy the struct and leave
	 * a zeroed (or another emptied) one behind. Non-zero (a negative errno, *err filled) ends the
	 * reading and is returned. */
	int (*take)(void *ctx, struct trace *t, struct err *err);
	void *ctx;
};

/* Reads a file or "-". Adds to *stats as it goes. 0, or a negative errno: traces before the damage have been
 * handed out, the one that it hit has not. A file without any trace is fine here (trace_cnt stays). */
int spans_read_file(const char *path, const struct spans_options *o, struct spans_stats *stats,
		    struct err *err);
int spans_read(struct input *in, const struct spans_options *o, struct spans_stats *stats,
	       struct err *err);

/* Files named by the operands, folders replaced by the trace files below them (.json .jsonl .ndjson .pb
 * .binpb .otlp .ccct, also with .gz or .zst), in the order of their names. */
struct spans_files {
	char **paths; /* owned */
	size_t cnt, cap;
};
int spans_files__add(struct spans_files *f, const char *path, struct err *err);
void spans_files__free(struct spans_files *f);

#endif
