/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test behind a difference: a matrix of values by run, out come intervals and adjusted p-values. */
#ifndef CP_USER_ANALYSIS_DIFFTEST_H
#define CP_USER_ANALYSIS_DIFFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/diff.h"

enum difftest_what {
	DIFFTEST_SELF,
	DIFFTEST_SUBTREE,
	DIFFTEST_FUNCTION_SELF,
	DIFFTEST_FUNCTION_SUBTREE,
};

struct difftest_item {
	uint32_t what; /* enum difftest_what */
	uint32_t id;   /* node or name */
};

struct difftest_plan {
	struct difftest_item *items;
	size_t cnt, cap;
};

struct difftest {
	double *values;	   /* [run][measure] */
	double *variances; /* of counting, the same shape; NULL if not needed */
	size_t cnt;
	unsigned int before_cnt, after_cnt;
	double alpha;
	uint32_t permutation_cnt;
	uint64_t seed;
};

/* Permutation needs none: the runs themselves show the noise. */
bool difftest_needs_variances(const struct difftest *t);
/* Fills ret[0..cnt-1] and says which method it was. */
enum diff_method difftest_run(const struct difftest *t, struct diff_measure *ret);

#endif
