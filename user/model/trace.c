/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trace of a distributed request; see trace.h. */
#include "user/model/trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "user/base/mem.h"

enum {
	KEEP_SPANS = 4096 /* what trace__reset keeps room for */
};

struct span *trace__add_span(struct trace *t)
{
	struct span *s;

	t->spans = xgrow(t->spans, &t->span_cap, t->span_cnt + 1, sizeof(*t->spans));
	s = &t->spans[t->span_cnt++];
	*s = (struct span){ 0 };
	return s;
}

const char *trace__str(const struct trace *t, uint32_t sid)
{
	return strtab_get(&t->strings, sid);
}

void trace__free(struct trace *t)
{
	strtab_free(&t->strings);
	free(t->spans);
	*t = (struct trace){ 0 };
}

void trace__reset(struct trace *t)
{
	struct trace empty = { .strings = t->strings, .spans = t->spans, .span_cap = t->span_cap };

	if (t->span_cap > KEEP_SPANS || t->strings.cnt > 4 * KEEP_SPANS) {
		trace__free(t);
		return;
	}
	strtab_reset(&empty.strings);
	*t = empty;
}

const char *trace_flaw_name(int flaw)
{
	static const char *const names[TRACE_FLAW_MAX] = { "span without id", "span without time",
							   "field of the wrong type",
							   "span without a process" };

	return flaw >= 0 && flaw < TRACE_FLAW_MAX ? names[flaw] : "?";
}

static const char *const kind_names[SPAN_KIND_MAX] = { "",	 "internal", "server",
						       "client", "producer", "consumer" };

const char *span_kind_name(int kind)
{
	return kind >= 0 && kind < SPAN_KIND_MAX ? kind_names[kind] : "?";
}

int span_kind_parse(const char *text, size_t len_bytes)
{
	for (int k = SPAN_INTERNAL; k < SPAN_KIND_MAX; k++)
		if (strlen(kind_names[k]) == len_bytes &&
		    !strncasecmp(text, kind_names[k], len_bytes))
			return k;
	return SPAN_UNSPECIFIED;
}
