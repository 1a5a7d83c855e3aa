/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames without a name: how much time they cover, why, and where their names were looked for; see report.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/unnamed.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/cmd/columns_text.h"
#include "user/cmd/report.h"

enum {
	TIME_COLS = 9,
	INDENT_COLS = 29, /* of what was tried: two more than the reasons */
};

/* What a reason without a file means, and what helps. */
static const char *explanation(int reason)
{
	static const char *const texts[NAME_REASON_MAX] = {
		[NAME_PENDING] = "not looked up yet: causeprof symbolize",
		[NAME_NO_MAPPING] = "no executable mapping of the process covers the address",
		[NAME_KPTR] = "/proc/kallsyms: every address is hidden: be root, or lower "
			      "/proc/sys/kernel/kptr_restrict",
		[NAME_KERNEL] = "/proc/kallsyms: no function there",
		[NAME_EXITED] = "the process was gone before its mappings could be read",
	};

	return reason >= 0 && reason < NAME_REASON_MAX && texts[reason] ? texts[reason] : "";
}

static void put_lines(struct buf *out, const char *text)
{
	for (const char *line = text; *line;) {
		size_t len_bytes = strcspn(line, "\n");

		buf_printf(out, "%*s", INDENT_COLS, "");
		escape_terminal(out, line, len_bytes);
		buf_putc(out, '\n');
		line += len_bytes + (line[len_bytes] == '\n');
	}
}

static void put_group(const struct profile *p, const struct unnamed *u, size_t width_cols,
		      struct buf *out)
{
	const char *reason = model_name_reason(u->reason);
	struct buf text = { 0 };

	if (u->mark_sid)
		buf_puts(&text, profile__str(p, u->mark_sid));
	else
		buf_printf(&text, "%s %s 0x%" PRIx64, *reason ? reason : "[unknown]",
			   u->file_sid ? profile__str(p, u->file_sid) : "-", u->first_addr);
	put_cut(out, buf_str(&text), width_cols > 47 ? width_cols - 27 : 20);
	buf_putc(out, '\n');
	buf_free(&text);
	if (!u->mark_sid)
		put_lines(out,
			  u->tried_sid ? profile__str(p, u->tried_sid) : explanation(u->reason));
}

void report__put_unknown(const struct profile *p, const struct report_opts *o, struct buf *out)
{
	struct unnamed *items;
	size_t cnt = unnamed_list(p, &items);
	uint64_t all_ns = 0;

	for (size_t i = 0; i < p->sums.cnt; i++)
		all_ns += p->sums.items[i].ns;
	if (!cnt)
		buf_puts(out, "every frame has a name and every stack its root\n");
	else
		buf_printf(out, "%9s%8s%8s  %s\n", "time", "share", "frames",
			   "reason, file, lowest address; what was tried");
	for (size_t i = 0; i < cnt; i++) {
		put_duration_right(out, items[i].ns, TIME_COLS);
		put_share(out, items[i].ns, all_ns, 8);
		buf_printf(out, "%8" PRIu64 "  ", items[i].frame_cnt);
		put_group(p, &items[i], o->width_cols, out);
	}
	free(items);
}

/* Text of one line each as an array of strings. */
static void json_lines(struct json *j, const char *key, const char *text)
{
	json_begin_array(j, key);
	for (const char *line = text; *line;) {
		size_t len_bytes = strcspn(line, "\n");
		char *copy = xstrndup(line, len_bytes);

		json_str(j, NULL, copy);
		free(copy);
		line += len_bytes + (line[len_bytes] == '\n');
	}
	json_end_array(j);
}

void report__json_unnamed(const struct profile *p, struct json *j)
{
	struct unnamed *items;
	size_t cnt = unnamed_list(p, &items);

	json_begin_array(j, "unnamed");
	for (size_t i = 0; i < cnt; i++) {
		const struct unnamed *u = &items[i];

		json_begin_object(j, NULL);
		json_str(j, "reason",
			 u->mark_sid ? profile__str(p, u->mark_sid) : model_name_reason(u->reason));
		if (u->file_sid)
			json_str(j, "file", profile__str(p, u->file_sid));
		json_u64(j, "frame_cnt", u->frame_cnt);
		json_u64(j, "lowest_addr", u->first_addr);
		json_u64(j, "ns", u->ns);
		if (!u->mark_sid)
			json_lines(j, "tried",
				   u->tried_sid ? profile__str(p, u->tried_sid) :
						  explanation(u->reason));
		json_end_object(j);
	}
	json_end_array(j);
	free(items);
}
