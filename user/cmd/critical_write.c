/* SPDX-License-Identifier: GPL-2.0-or-later */
/* critical in each of its formats, and all of them at once into a folder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "user/analysis/ccct_encode.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/critical.h"

static int print_graph(const struct critical_run *run, const struct critical_options *o,
		       const struct percent_range *ranges, size_t cnt, struct buf *out,
		       struct err *err)
{
	switch (o->format) {
	case CRITICAL_FOLDED:
	case CRITICAL_FREQ:
		critical_print_folded(&run->ccct, o, ranges, out);
		return 0;
	case CRITICAL_DIFF:
		critical_print_diff(&run->ccct, o, ranges, out);
		return 0;
	case CRITICAL_PPROF:
		return critical_print_pprof(&run->ccct, ranges, out, err);
	default:
		return critical_print_svg(&run->ccct, o, ranges, cnt, out, err);
	}
}

/* Formats that show a part of the traces; a difference two of them. */
static int print_ranges(const struct critical_run *run, const struct critical_options *o,
			struct buf *out, struct err *err)
{
	bool two = o->format == CRITICAL_DIFF;
	const char *percentile = o->percentile ? o->percentile : two ? "50,95" : "100";
	struct percent_range ranges[2];
	size_t cnt;
	int rc = critical_ranges(percentile, ranges, 2, &cnt, err);

	if (rc)
		return rc;
	if (cnt != (two ? 2 : 1) && o->format != CRITICAL_SVG)
		return err_set(
			err, -EINVAL,
			"--percentile %s: folded, freq and pprof want one range, diff two, svg "
			"one or two",
			percentile);
	return print_graph(run, o, ranges, cnt, out, err);
}

int critical_print(const struct critical_run *run, const struct critical_options *o,
		   struct buf *out, struct err *err)
{
	switch (o->format) {
	case CRITICAL_JSON:
		critical_print_json(run, o, out);
		return 0;
	case CRITICAL_OPERATIONS:
		critical_print_operations(&run->ccct, out);
		return 0;
	case CRITICAL_CSV:
		critical_print_csv(&run->ccct, out);
		return 0;
	case CRITICAL_HEATMAP:
		critical_print_heatmap(&run->ccct, o, out);
		return 0;
	case CRITICAL_HTML:
		critical_print_html(&run->ccct, o, out);
		return 0;
	case CRITICAL_DRAG:
		critical_print_drag(&run->ccct, out);
		return 0;
	case CRITICAL_TEXT:
		critical_print_text(run, o, out);
		return 0;
	default:
		return print_ranges(run, o, out, err);
	}
}

int critical_write_all(const struct critical_run *run, const struct critical_options *o,
		       const char *folder, struct err *err)
{
	static const struct {
		const char *name, *percentile;
		int format;
	} files[] = {
		{ "report.txt", NULL, CRITICAL_TEXT },
		{ "report.json", NULL, CRITICAL_JSON },
		{ "callpaths.csv", NULL, CRITICAL_CSV },
		{ "drag.csv", NULL, CRITICAL_DRAG },
		{ "heatmap.tsv", NULL, CRITICAL_HEATMAP },
		{ "heatmap.html", NULL, CRITICAL_HTML },
		{ "P50.folded", "50", CRITICAL_FOLDED },
		{ "P95.folded", "95", CRITICAL_FOLDED },
		{ "P99.folded", "99", CRITICAL_FOLDED },
		{ "P100.folded", "100", CRITICAL_FOLDED },
		{ "P50.freq", "50", CRITICAL_FREQ },
		{ "P95.freq", "95", CRITICAL_FREQ },
		{ "P99.freq", "99", CRITICAL_FREQ },
		{ "P50-P95.folded", "50,95", CRITICAL_DIFF },
		{ "P50-P99.folded", "50,99", CRITICAL_DIFF },
		{ "P95-P99.folded", "95,99", CRITICAL_DIFF },
		{ "P50.svg", "50", CRITICAL_SVG },
		{ "P95.svg", "95", CRITICAL_SVG },
		{ "P99.svg", "99", CRITICAL_SVG },
		{ "P50-P95.svg", "50,95", CRITICAL_SVG },
		{ "P50-P99.svg", "50,99", CRITICAL_SVG },
		{ "P50-tail.svg", "50,95-100", CRITICAL_SVG },
		{ "P100.pprof", "100", CRITICAL_PPROF },
	};
	int rc = mkdir(folder, 0777) && errno != EEXIST ? err_errno(err, "%s", folder) : 0;

	for (size_t i = 0; i < ARRAY_CNT(files) && !rc; i++) {
		struct critical_options one = *o;
		char *path = xasprintf("%s/%s", folder, files[i].name);
		struct buf out = { 0 };

		one.format = files[i].format;
		one.percentile = files[i].percentile;
		rc = critical_print(run, &one, &out, err);
		if (rc == -ENODATA) { /* no trace lies within these percentiles */
			err->code = rc = 0;
			*err->msg = 0;
		} else if (!rc) {
			rc = outfile_put(path, OUTFILE_REPLACE, buf_str(&out), out.len_bytes, err);
		}
		buf_free(&out);
		free(path);
	}
	return rc;
}
