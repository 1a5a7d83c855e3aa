/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of "causeprof critical": reading on all cores, and printing in every form. */
#ifndef CP_USER_CMD_CRITICAL_H
#define CP_USER_CMD_CRITICAL_H

#include <stdbool.h>
#include <stdint.h>

#include "user/analysis/ccct.h"
#include "user/analysis/critpath.h"
#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/json.h"
#include "user/base/opt.h"

enum critical_format {
	CRITICAL_TEXT,
	CRITICAL_JSON,
	CRITICAL_OPERATIONS,
	CRITICAL_FOLDED,
	CRITICAL_FREQ,
	CRITICAL_DIFF,
	CRITICAL_CSV,
	CRITICAL_HEATMAP,
	CRITICAL_HTML,
	CRITICAL_DRAG,
	CRITICAL_SECTIONS,
	CRITICAL_SVG,
	CRITICAL_PPROF,
};

struct critical_options {
	const char *service, *operation, *output, *percentile, *model, *write;
	bool first_root, no_shift, exact, jaeger_ties, crisp2022;
	bool json, partial, compare, average, skip_bad, strict, follow, no_normalize;
	int format, vector, detector;
	uint64_t max_shift_ns, threads, top, columns, window_spans;
	struct opt_list what_if;
};

/* One thing said about one span of one trace. */
struct critical_note {
	uint32_t file;
	uint64_t trace;
	uint32_t seq;
	char *text; /* owned */
};

struct critical_notes {
	struct critical_note *items; /* the first of the input, in its order */
	size_t cnt, cap;
};

struct critical_run {
	struct ccct ccct;
	struct critical_notes notes;
};

enum critpath_rule critical_rule(const struct critical_options *o);
void critical_tree_options(const struct critical_options *o, struct spantree_options *ret);

/* Reads trace files, folders and partial results into *run (zero-initialised), finished. */
int critical_read(char **paths, int cnt, const struct critical_options *o, struct critical_run *run,
		  struct err *err);
void critical_run__free(struct critical_run *run);

/* "50" -> 0, 50; "20-40" -> 20, 40. Fills up to max ranges of a comma-separated list. */
struct percent_range {
	double from, to;
};
int critical_ranges(const char *text, struct percent_range *ret, size_t max, size_t *cnt,
		    struct err *err);
/* For struct opt: of a --percentile and of a --what-if. */
int critical_check_ranges(const char *text, struct err *err);
int critical_check_change(const char *text, struct err *err);

/* Whole sub-commands: their result is appended to out. */
int critical_compare(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		     struct err *err);
int critical_what_if(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		     struct err *err);
int critical_sections(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		      struct err *err);

/* Learns a model from normal traces; gives a verdict on each trace. */
int critical_train(char **paths, int cnt, const struct critical_options *o, struct err *err);
int critical_score(char **paths, int cnt, const struct critical_options *o, struct err *err);

/* In the format that the options name; and in all of them, into a folder. */
int critical_print(const struct critical_run *run, const struct critical_options *o,
		   struct buf *out, struct err *err);
int critical_write_all(const struct critical_run *run, const struct critical_options *o,
		       const char *folder, struct err *err);

/* Printers: append to out. */
int critical_print_svg(const struct ccct *c, const struct critical_options *o,
		       const struct percent_range *r, size_t cnt, struct buf *out, struct err *err);
int critical_print_pprof(const struct ccct *c, const struct percent_range *r, struct buf *out,
			 struct err *err);
void critical_print_text(const struct critical_run *run, const struct critical_options *o,
			 struct buf *out);
void critical_print_json(const struct critical_run *run, const struct critical_options *o,
			 struct buf *out);
void critical_print_operations(const struct ccct *c, struct buf *out);
void critical_print_folded(const struct ccct *c, const struct critical_options *o,
			   const struct percent_range *r, struct buf *out);
void critical_print_diff(const struct ccct *c, const struct critical_options *o,
			 const struct percent_range *r, struct buf *out);
void critical_print_csv(const struct ccct *c, struct buf *out);
void critical_print_heatmap(const struct ccct *c, const struct critical_options *o,
			    struct buf *out);
void critical_print_drag(const struct ccct *c, struct buf *out);
void critical_print_hints(const struct ccct *c, uint64_t top, struct buf *out);
void critical_json_hints(const struct ccct *c, struct json *j);
void critical_print_html(const struct ccct *c, const struct critical_options *o, struct buf *out);

#endif
