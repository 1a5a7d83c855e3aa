/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Trace Event format, as an output: the intervals of each thread as nested complete events, so that a
 * timeline shows the stack in which a thread ran or waited. Times are microseconds with three decimals, which
 * is exact. What was summed up in the kernel has no time line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/exchange/chrome_trace.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

struct writer {
	const struct profile *p;
	const struct export_options *opts;
	struct sink out;
	struct buf text;
	uint32_t *frames;
	size_t frames_cap;
	bool has_event;
};

static void begin_event(struct writer *w, const char *phase, uint32_t thread)
{
	const struct thread *t = &w->p->threads.items[thread];

	buf_puts(&w->out.buf, w->has_event ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	w->has_event = true;
	buf_printf(&w->out.buf, "%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, phase,
		   w->p->processes.items[t->process].pid, t->tid);
}

static void put_name(struct writer *w, const char *key, const char *name)
{
	buf_printf(&w->out.buf, "\"%s\":", key);
	escape_json(&w->out.buf, name, strlen(name));
}

static void put_metadata(struct writer *w, const char *what, uint32_t thread, uint32_t name_sid)
{
	const char *name = profile__str(w->p, name_sid);

	if (!*name)
		return;
	begin_event(w, "M", thread);
	buf_printf(&w->out.buf, ",\"name\":\"%s\",\"args\":{", what);
	put_name(w, "name", name);
	buf_puts(&w->out.buf, "}}");
}

static void put_us(struct writer *w, const char *key, uint64_t ns)
{
	buf_printf(&w->out.buf, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000,
		   (unsigned int)(ns % 1000));
}

static void put_span(struct writer *w, const struct interval *iv, const char *name)
{
	begin_event(w, "X", iv->thread);
	buf_putc(&w->out.buf, ',');
	put_name(w, "name", name);
	put_us(w, "ts", iv->start_ns);
	put_us(w, "dur", iv->end_ns - iv->start_ns);
	buf_putc(&w->out.buf, '}');
}

static void put_interval(struct writer *w, const struct interval *iv)
{
	size_t cnt = profile__frames(w->p, iv->stack, &w->frames, &w->frames_cap);

	for (size_t i = 0; i < cnt; i++) {
		buf_reset(&w->text);
		frame_label(w->p, w->frames[i], w->opts->suffixes ? NAMETREE_SUFFIXES : 0,
			    &w->text);
		put_span(w, iv, buf_str(&w->text));
	}
	if (w->opts->kinds && iv->kind) {
		buf_reset(&w->text);
		buf_printf(&w->text, "[%s]", model_kind_name(iv->kind));
		put_span(w, iv, buf_str(&w->text));
	}
	sink_flush_if_full(&w->out);
}

int chrome_trace_export(const struct profile *p, const struct export_options *opts,
			struct export_sink *to, struct err *err)
{
	struct writer w = { .p = p, .opts = opts, .out = { .to = to, .err = err } };

	if (!p->intervals.cnt)
		return err_set(
			err, -ENODATA,
			"this profile has sums but no intervals, so there is no time line to write; "
			"record --intervals keeps them");
	buf_puts(&w.out.buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	for (uint32_t i = 1; i < p->threads.cnt; i++) {
		put_metadata(&w, "thread_name", i, p->threads.items[i].comm_sid);
		put_metadata(&w, "process_name", i,
			     p->processes.items[p->threads.items[i].process].comm_sid);
	}
	for (size_t i = 0; i < p->intervals.cnt; i++)
		put_interval(&w, &p->intervals.items[i]);
	buf_puts(&w.out.buf, "\n]}\n");
	free(w.frames);
	buf_free(&w.text);
	return sink_finish(&w.out);
}
