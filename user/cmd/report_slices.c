/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of time slices; see report.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/columns_text.h"
#include "user/cmd/report.h"

enum {
	TIME_COLS = 9,
	BAR_COLS = 30,
	SLICES_MAX = 1 << 20
};

struct slice {
	uint64_t running_ns, runnable_ns, blocked_ns, asleep_ns;
};

/* By number, those without any time included. Owned by the caller. O(sums + slices). */
static struct slice *add_up(const struct profile *p, size_t *cnt)
{
	struct slice *slices = NULL;
	size_t cap = 0;

	*cnt = 0;
	for (size_t i = 0; i < p->sums.cnt; i++) {
		const struct sum *s = &p->sums.items[i];
		struct slice *at;

		if (!s->slice || s->slice > SLICES_MAX)
			continue;
		if (s->slice > *cnt) {
			slices = xgrow(slices, &cap, s->slice, sizeof(*slices));
			while (*cnt < s->slice)
				slices[(*cnt)++] = (struct slice){ 0 };
		}
		at = &slices[s->slice - 1];
		if (s->flags & PART_ASLEEP_THROUGHOUT)
			at->asleep_ns += s->ns;
		else if (s->kind == KIND_RUNNING)
			at->running_ns += s->ns;
		else if (model_kind_is_runnable(s->kind))
			at->runnable_ns += s->ns;
		else
			at->blocked_ns += s->ns;
	}
	return slices;
}

void report__put_slices(const struct profile *p, struct buf *out)
{
	size_t cnt;
	struct slice *slices = add_up(p, &cnt);
	uint64_t most_ns = 0;

	for (size_t i = 0; i < cnt; i++)
		most_ns = slices[i].running_ns > most_ns ? slices[i].running_ns : most_ns;
	if (cnt)
		buf_printf(out, "%9s%9s%9s%9s%10s\n", "from", "running", "runnable", "blocked",
			   "never ran");
	else
		buf_puts(out, "no slices: record with --slice TIME\n");
	for (size_t i = 0; i < cnt; i++) {
		put_duration_right(out, i * p->header.slice_ns, TIME_COLS);
		put_duration_right(out, slices[i].running_ns, TIME_COLS);
		put_duration_right(out, slices[i].runnable_ns, TIME_COLS);
		put_duration_right(out, slices[i].blocked_ns, TIME_COLS);
		put_duration_right(out, slices[i].asleep_ns, TIME_COLS + 1);
		buf_puts(out, "  ");
		put_bar(out, slices[i].running_ns, most_ns, BAR_COLS);
		while (out->data[out->len_bytes - 1] == ' ')
			out->data[--out->len_bytes] = '\0';
		buf_putc(out, '\n');
	}
	free(slices);
}

void report__json_slices(const struct profile *p, struct json *j)
{
	size_t cnt;
	struct slice *slices = add_up(p, &cnt);

	json_begin_array(j, "slices");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_u64(j, "from_ns", i * p->header.slice_ns);
		json_u64(j, "running_ns", slices[i].running_ns);
		json_u64(j, "runnable_ns", slices[i].runnable_ns);
		json_u64(j, "blocked_ns", slices[i].blocked_ns);
		json_u64(j, "never_ran_ns", slices[i].asleep_ns);
		json_end_object(j);
	}
	json_end_array(j);
	free(slices);
}
