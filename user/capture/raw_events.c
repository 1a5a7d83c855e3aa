/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/raw_events.h"

#include <inttypes.h>

#include "bpf/account.h"
#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/capture/events.h"

void raw_events_put(const struct events *ev, const struct account_window *window, struct buf *out)
{
	static const char *const words[] = { "?",      "census", "out",	   "in",
					     "wakeup", "born",	 "sample", "close" };

	buf_printf(out, "window %" PRIu64 " %" PRIu64 "\n", (uint64_t)window->start_ns,
		   (uint64_t)window->end_ns);
	for (size_t i = 0; i < ev->raw_cnt; i++) {
		const struct cp_event_raw *e = &ev->raws[i];

		buf_printf(out, "event %u %s %" PRIu64 " %u %u %u %u %" PRIu64 "\n", e->tid,
			   words[e->raw < ARRAY_CNT(words) ? e->raw : 0], (uint64_t)e->now_ns,
			   e->value, e->preempt, e->on_rq, e->sched_delayed, (uint64_t)e->ran_ns);
	}
	for (size_t i = 0; i < ev->thread_cnt; i++) {
		const struct cp_event_thread *t = &ev->threads[i];

		buf_printf(out, "books %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->tid,
			   (uint64_t)t->running_ns, (uint64_t)t->runnable_ns,
			   (uint64_t)t->blocked_ns);
	}
}
