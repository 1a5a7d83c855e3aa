/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack filters as options; see filter_options.h. */
#include "user/cmd/filter_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/selection.h"
#include "user/analysis/stackfilter.h"
#include "user/base/buf.h"
#include "user/base/num.h"

static void put_amount(const struct profile *p, uint64_t v, struct buf *out)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	if (*unit && strcmp(unit, "ns")) {
		buf_put_grouped(out, v);
		buf_printf(out, " %s", unit);
	} else {
		buf_put_duration(out, v);
	}
}

static void say_dropped(const struct profile *p, const char *who, uint64_t dropped, uint64_t kept)
{
	struct buf line = { 0 };

	buf_printf(&line, "%s dropped ", who);
	put_amount(p, dropped, &line);
	buf_puts(&line, " and kept ");
	put_amount(p, kept, &line);
	fprintf(stderr, "causeprof: %s\n", buf_str(&line));
	buf_free(&line);
}

int filter_options_check_time(const char *text, struct err *err)
{
	uint64_t ns;

	return parse_duration_ns(text, 1000000000, &ns, err);
}

/* Texts that were checked. */
static bool last_time(const struct opt_list *words, uint64_t *ns)
{
	return words->cnt && !parse_duration_ns(words->items[words->cnt - 1], 1000000000, ns, NULL);
}

static void say_widened(const struct selection_report *r)
{
	struct buf line = { 0 };

	buf_puts(&line, "slices are taken whole: from ");
	buf_put_duration(&line, r->since_ns);
	buf_puts(&line, " to ");
	buf_put_duration(&line, r->until_ns);
	fprintf(stderr, "causeprof: %s\n", buf_str(&line));
	buf_free(&line);
}

static int select_part(struct profile *p, const struct filter_options *f, struct err *err)
{
	struct selection s = { .comm = f->comm, .cgroup = f->cgroup, .pid = (uint32_t)f->pid };
	struct selection_report report;
	int rc;

	s.has_since = last_time(&f->since, &s.since_ns);
	s.has_until = last_time(&f->until, &s.until_ns);
	rc = selection_apply(p, &s, &report, err);
	if (rc || selection_is_all(&s))
		return rc;
	if (!report.kept)
		return err_set(err, -ENODATA, "the selection has no time in it");
	if (report.widened)
		say_widened(&report);
	if (report.dropped)
		say_dropped(p, "the selection", report.dropped, report.kept);
	return 0;
}

bool filter_options_any(const struct filter_options *f)
{
	return f->only.cnt || f->without.cnt || f->base || f->max_depth || f->comm || f->cgroup ||
	       f->pid || f->since.cnt || f->until.cnt;
}

int filter_profile(struct profile *p, const struct filter_options *f, struct err *err)
{
	const struct stackfilter filter = { .only = f->only.items,
					    .only_cnt = f->only.cnt,
					    .without = f->without.items,
					    .without_cnt = f->without.cnt,
					    .base = f->base,
					    .max_depth = (uint32_t)f->max_depth };
	struct stackfilter_report report = { 0 };
	int rc = select_part(p, f, err);

	if (!rc)
		rc = stackfilter_apply(p, &filter, &report, err);
	if (rc || (!report.dropped && !report.dropped_interval_cnt))
		return rc;
	if (!p->sums.cnt && !p->intervals.cnt)
		return err_set(err, -ENODATA, "the filters dropped every stack");
	say_dropped(p, "filters", report.dropped, report.kept);
	return 0;
}

void filter_options_free(struct filter_options *f)
{
	opt_list_free(&f->only);
	opt_list_free(&f->without);
	opt_list_free(&f->since);
	opt_list_free(&f->until);
}
