/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a trace file: no crash, and every span that comes out is sound. Whether the bytes are JSON at
 * all must be answered as yajl answers it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "user/base/jsonpull.h"
#include "user/exchange/spans.h"

static int check_trace(void *ctx, struct trace *t, struct err *err)
{
	(void)ctx;
	(void)err;
	for (size_t i = 0; i < t->span_cnt; i++) {
		const struct span *s = &t->spans[i];

		if (s->start_ns > s->end_ns || !s->id_sid || s->kind >= SPAN_KIND_MAX ||
		    s->service_sid >= t->strings.cnt || s->parent_sid >= t->strings.cnt ||
		    s->host_sid >= t->strings.cnt || s->operation_sid >= t->strings.cnt)
			abort();
	}
	return 0;
}

static int pull_accepts(const uint8_t *data, size_t size)
{
	struct jsonpull *p;
	struct input *in;
	struct err err = { 0 };
	int rc;

	if (input_open_mem(data, size, &in, &err))
		return -1;
	p = jsonpull__new(in);
	do
		rc = jsonpull__next(p, &err);
	while (rc > 0);
	jsonpull__free(p);
	input_close(in);
	/* a limit of ours; and yajl takes an unfinished token behind a finished document for nothing */
	if (rc == -E2BIG || strstr(err.msg, "the file ends"))
		return -1;
	return !rc;
}

static int yajl_accepts(const uint8_t *data, size_t size)
{
	static const yajl_callbacks none = { 0 };
	yajl_handle h = yajl_alloc(&none, NULL, NULL);
	int ok;

	yajl_config(h, yajl_allow_multiple_values, 1);
	yajl_config(h, yajl_dont_validate_strings, 1);
	ok = yajl_parse(h, data, size) == yajl_status_ok &&
	     yajl_complete_parse(h) == yajl_status_ok;
	yajl_free(h);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spans_options o = { .take = check_trace, .otlp_window_spans = 16 };
	struct spans_stats stats = { 0 };
	struct err err = { 0 };
	struct input *in;
	int ours;

	if (input_open_mem(data, size, &in, &err))
		return 0;
	spans_read(in, &o, &stats, &err);
	input_close(in);
	if (size < 4 || data[0] == 0x1f || data[0] == 0x28) /* empty, or compressed */
		return 0;
	ours = pull_accepts(data, size);
	if (ours >= 0 && ours != yajl_accepts(data, size))
		abort();
	return 0;
}
