/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack filters as options; see filter_options.h. */
#include "user/cmd/filter_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

int filter_profile(struct profile *p, const struct filter_options *f, struct err *err)
{
	const struct stackfilter filter = { .only = f->only.items,
					    .only_cnt = f->only.cnt,
					    .without = f->without.items,
					    .without_cnt = f->without.cnt,
					    .base = f->base,
					    .max_depth = (uint32_t)f->max_depth };
	struct stackfilter_report report;
	struct buf line = { 0 };
	int rc = stackfilter_apply(p, &filter, &report, err);

	if (rc || (!report.dropped && !report.dropped_interval_cnt))
		return rc;
	if (!p->sums.cnt && !p->intervals.cnt)
		return err_set(err, -ENODATA, "the filters dropped every stack");
	buf_puts(&line, "filters dropped ");
	put_amount(p, report.dropped, &line);
	buf_puts(&line, " and kept ");
	put_amount(p, report.kept, &line);
	fprintf(stderr, "causeprof: %s\n", buf_str(&line));
	buf_free(&line);
	return 0;
}

void filter_options_free(struct filter_options *f)
{
	opt_list_free(&f->only);
	opt_list_free(&f->without);
}
