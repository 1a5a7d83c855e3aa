/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces for tests out of lines: "ID PARENT START_US DURATION_US SERVICE OPERATION [KIND [HOST [WAKER]]]";
 * "-" is an empty field; a parent "~ID" is a FOLLOWS_FROM link. */
#ifndef CP_TESTS_UNIT_TRACE_TEXT_H
#define CP_TESTS_UNIT_TRACE_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/model/trace.h"

static inline uint32_t trace_text_sid(struct trace *t, const char *s)
{
	return strcmp(s, "-") ? strtab_add(&t->strings, s) : 0;
}

static inline void trace_from_text(struct trace *t, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	trace__reset(t);
	t->id_sid = strtab_add(&t->strings, "trace");
	while ((line = strsep(&rest, "\n"))) {
		char f[9][32] = { "-", "-", "0", "0", "-", "-", "-", "-", "-" };
		const char *parent;
		struct span *s;

		if (sscanf(line, "%31s %31s %31s %31s %31s %31s %31s %31s %31s", f[0], f[1], f[2],
			   f[3], f[4], f[5], f[6], f[7], f[8]) < 6)
			continue;
		s = trace__add_span(t);
		parent = f[1][0] == '~' ? f[1] + 1 : f[1];
		s->flags = f[1][0] == '~' ? SPAN_FOLLOWS : 0;
		s->id_sid = trace_text_sid(t, f[0]);
		s->parent_sid = trace_text_sid(t, parent);
		s->start_ns = atoll(f[2]) * 1000;
		s->end_ns = s->start_ns + atoll(f[3]) * 1000;
		s->service_sid = trace_text_sid(t, f[4]);
		s->operation_sid = trace_text_sid(t, f[5]);
		s->kind = (uint8_t)span_kind_parse(f[6], strlen(f[6]));
		s->host_sid = trace_text_sid(t, f[7]);
		s->waker_sid = trace_text_sid(t, f[8]);
	}
	free(copy);
}

#endif
