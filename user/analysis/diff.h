/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed between two sets of profiles. All stacks of all runs become one tree of names (the union, so
 * that code which vanished is seen), with the mean value of each side, and for each frame a judgement whether
 * the change is more than noise. docs/diff.md explains the statistics and names their sources.
 *
 * Two things are tested for each frame of the tree: its own time (self) and that of it and all it called
 * (subtree); the same two for each function over all places where it appears (recursion counted once). All
 * tests of one difference are one family. */
#ifndef CP_USER_ANALYSIS_DIFF_H
#define CP_USER_ANALYSIS_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/model/builds.h"
#include "user/model/nametree.h"
#include "user/model/profile.h"

enum diff_normalize {
	DIFF_NORMALIZE_NONE,	 /* values as they were measured */
	DIFF_NORMALIZE_WALL,	 /* per time that the window was open */
	DIFF_NORMALIZE_RUNNING,	 /* per time that threads ran */
	DIFF_NORMALIZE_REQUESTS, /* per request */
	DIFF_NORMALIZE_TOTAL,	 /* shares of the whole, as difffolded.pl -n */
	DIFF_NORMALIZE_MAX,
};

extern const char *const diff_normalize_names[]; /* "none", "wall", ...; NULL-terminated */

enum diff_method {
	DIFF_NO_TEST,	  /* one run a side without counts: nothing is known about noise */
	DIFF_COUNTS,	  /* one run a side: exact binomial on sample counts, Holm */
	DIFF_STUDENT,	  /* a few runs: Student's t, Holm */
	DIFF_PERMUTATION, /* step-down max-T by permutation of runs */
};

struct diff_options {
	enum diff_normalize normalize;
	unsigned int tree_flags; /* enum nametree_flag */
	double alpha;		 /* family-wise; 0.01 */
	double min_share;	 /* frames below this part of the whole are not tested; 1e-4 */
	uint32_t permutation_cnt;
	uint64_t seed;
	uint32_t kinds; /* bit mask of enum kind; 0 = all */
};

/* One tested quantity. Values are means over the runs of a side, after normalisation. */
struct diff_measure {
	double before, after;
	double low, high; /* 95 % interval of after - before; NaN = unknown */
	double p;	  /* adjusted for the family; NaN = not tested */
};

enum {
	DIFF_NO_MEASURE = UINT32_MAX
};

struct diff_node {
	double self[2], subtree[2];		/* before, after */
	uint32_t self_measure, subtree_measure; /* index, or DIFF_NO_MEASURE */
};

struct diff_function {
	uint32_t name; /* in tree.names */
	uint32_t self_measure, subtree_measure;
	double self[2], subtree[2];
};

struct diff {
	struct nametree tree;
	struct builds builds;
	struct diff_node *nodes;	 /* by node of the tree */
	struct diff_function *functions; /* by change: see diff_function_order */
	size_t function_cnt;
	struct diff_measure *measures;
	size_t measure_cnt;
	unsigned int run_cnt[2];
	enum diff_method method;
	enum diff_normalize normalize;
	double alpha;
	double scale_min, scale_max; /* factors that normalisation applied */
	double window_ns[2];	     /* mean; 0 = unknown */
	char unit[64];
};

/* One side after the other: all profiles before, all profiles after. They must have one unit. The profiles
 * are only read. Free with diff__fini whatever it returns. */
int diff__make(struct diff *d, const struct profile *const *before, unsigned int before_cnt,
	       const struct profile *const *after, unsigned int after_cnt,
	       const struct diff_options *opts, struct err *err);
void diff__fini(struct diff *d);

bool diff_is_significant(const struct diff *d, uint32_t measure);

/* What is to be coloured: the self or the subtree of the node changed beyond noise. */
bool diff_node_self_changed(const struct diff *d, uint32_t node);
bool diff_node_subtree_changed(const struct diff *d, uint32_t node);

/* A gate: "[total|any|NAME] regression|improvement|change > N% [of total] at p < P". Default subject any
 * (every function, self and subtree); default p: the difference's alpha. */
struct diff_gate {
	char subject[256]; /* "" = any, "total" = the whole */
	int direction;	   /* 1 regression, -1 improvement, 0 either */
	double percent;
	bool of_total;
	double p;
};

int diff_gate_parse(const char *text, double default_p, struct diff_gate *ret, struct err *err);
/* How many functions meet the gate; the first of them in *worst (UINT32_MAX: the total itself). Negative when
 * the difference has no test to judge it by. */
int diff_gate_check(const struct diff *d, const struct diff_gate *g, uint32_t *worst,
		    struct err *err);

#endif
