/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How "causeprof paths" finds out what caused what: a table of methods. One that works on calls sets their
 * parents and shares trees, statistics and outputs with the others; one whose result is no forest of calls
 * reports by itself. */
#ifndef CP_USER_CMD_PATHS_METHOD_H
#define CP_USER_CMD_PATHS_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "user/analysis/callpairs.h"
#include "user/analysis/nesting.h"
#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/json.h"
#include "user/base/opt.h"
#include "user/base/progress.h"
#include "user/model/msgtrace.h"

struct paths_opts {
	int method; /* index into paths_method_names */
	bool ports, paper, json, links, compare, unordered, skip_bad;
	uint64_t top_cnt, window_ns, skew_ns, dedup_ns;
	int order; /* 0 by count, 1 by total latency */
	double overlap_power, same_power, child_power, smooth_bins; /* < 0: the method's default */
	bool return_order;
	const char *output, *truth, *node_map;
	struct opt_list network_nodes;
	/* convolution */
	uint64_t quantum_ns, max_lag_ns, max_hops, min_messages;
	bool no_echo;
	int anchor; /* 0 the hop before, 1 the root */
	struct opt_list roots;
};

struct paths_run {
	const struct paths_opts *opts;
	struct msgtrace *t;
	struct callpairs_stats pairs; /* of traces of messages */
	const struct progress *progress;
	struct buf notes; /* for people, a line each */
};

struct paths_method {
	const char *name;
	bool wants_messages; /* keep the messages: it does not work on calls (alone) */
	/* Sets the parents of run->t's calls. Adds what is worth knowing to run->notes, and to j (inside an
	 * object) if it is not NULL. NULL for methods with a report of their own. */
	int (*infer)(struct paths_run *run, struct json *j, struct err *err);
	/* The whole result as text, or as JSON if opts->json. */
	int (*report)(struct paths_run *run, struct buf *out, struct err *err);
};

extern const struct paths_method paths_methods[]; /* ends with a NULL name */
extern const char *const paths_method_names[];	  /* the same names, for the option table */

#endif
