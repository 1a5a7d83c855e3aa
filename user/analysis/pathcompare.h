/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two traces of one system: which node of which pattern got slower? Patterns are matched by their names. At each
 * position the difference of the mean own delays (and of the delays to the calls) comes with its standard error
 * from both variances (Welch), and with the time that it makes over B's instances, by which it is ranked. */
#ifndef CP_USER_ANALYSIS_PATHCOMPARE_H
#define CP_USER_ANALYSIS_PATHCOMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/paths.h"
#include "user/base/buf.h"
#include "user/base/json.h"

struct pathcompare_row {
	uint32_t pattern_a, pattern_b; /* numbers in A and B */
	uint32_t pos;
	bool is_delay; /* of the delay from the caller's entry to this call; else the node's own delay */
	double mean_a_ns, mean_b_ns;
	double error_ns;  /* standard error of mean_b - mean_a */
	double effect_ns; /* difference times B's instances */
};

struct pathcompare {
	struct pathcompare_row *rows; /* largest |effect| first */
	size_t row_cnt;
	uint64_t both_cnt, only_a_cnt, only_b_cnt; /* patterns */
};

/* Own delays are compared; the delays to calls are there too (they contain own delays, so they are listed but do
 * not add up). Patterns with fewer than min_cnt instances on a side are left out. */
void pathcompare(const struct paths *a, const struct paths *b, uint32_t min_cnt,
		 struct pathcompare *ret);
void pathcompare_free(struct pathcompare *c);
void pathcompare_text(const struct paths *a, const struct paths *b, const struct pathcompare *c,
		      size_t top_cnt, struct buf *out);
void pathcompare_json(const struct paths *a, const struct paths *b, const struct pathcompare *c,
		      struct json *j);

#endif
