/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causal paths of messages of any kind, by correlation in time (Aguilera et al., SOSP 2003, section 5;
 * specs C). Needs only when, from whom and to whom; finds what happens often with steady delays.
 *
 * From each root, along each of its edges: the messages that came over the edge are a signal, as are those
 * that leave the node it leads to. Where the correlation of the two has a spike at delay d, messages leave d
 * after others arrived; those that did are followed further, and so on. A path is a list of nodes with a
 * delay at each but the ends. A request and its reply are messages like any others, so a path of calls
 * comes back to where it began.
 *
 * Anchored at the root (S. Agarwala et al., E2EProf, DSN 2007) each edge is correlated with the first
 * messages of the path instead of with those of the hop before.
 *
 * Time O(e m + e S log S) at most for e edges of the result, m messages and S = duration / quantum; usually
 * much less, because signals are sparse (xcorr.h). Memory O(m + lags), whatever S is. Tests:
 * tests/unit/test_convolution.c. */
#ifndef CP_USER_ANALYSIS_CONVOLUTION_H
#define CP_USER_ANALYSIS_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/xcorr.h"
#include "user/base/err.h"
#include "user/base/progress.h"
#include "user/model/msgtrace.h"

enum {
	CONV_HOPS_MAX = 16, /* messages of a path */
	CONV_SPREAD_MAX = 3,
};

struct conv_opts {
	int64_t quantum_ns; /* mu; 0: a thousandth of max_lag_ns */
	int64_t max_lag_ns; /* longest delay looked for; 0: 2 s */
	int64_t skew_ns;    /* W: delays down to -W are looked for */
	double n_sigma; /* N; 0: max(4, what noise exceeds with a chance of 1 % per correlation) */
	double s_sigma; /* S; 0: 3 */
	uint32_t max_hops;     /* 0: 12 messages */
	uint32_t max_repeat;   /* how often a path may use one edge; 0: 2 */
	uint32_t min_messages; /* 0: 20; a path needs as many, and 2 % of its last edge's */
	bool paper;	       /* N = 4 whatever the number of lags */
	bool no_echo;	       /* drop paths that are others without a loop in them */
	bool anchor_root;
	enum xcorr_engine engine;
	const uint32_t *roots; /* nodes; NULL: those that only call */
	size_t roots_cnt;
	const struct progress *progress; /* may be NULL */
};

struct conv_path {
	uint32_t nodes[CONV_HOPS_MAX + 1];
	uint32_t hops_cnt; /* messages; nodes has one more */
	/* At node k + 1, between message k and message k + 1: mean over the messages, finer than the
	 * quantum, and standard deviation. */
	int64_t delay_ns[CONV_HOPS_MAX];
	int64_t deviation_ns[CONV_HOPS_MAX];
	uint64_t messages; /* that go all this way: the least of its hops */
	uint64_t hop_messages[CONV_HOPS_MAX];
	double chance; /* as many could come over the last hop by chance: mean + 4 sigma */
};

struct conv_stats {
	uint64_t messages_cnt, edges_cnt, quanta_cnt;
	uint64_t correlations_cnt;
	uint64_t echo_cnt; /* paths dropped by no_echo */
	uint64_t cut_cnt;  /* extensions not followed because there were CONV_PATHS_MAX paths */
	uint32_t roots_cnt;
};

enum {
	CONV_PATHS_MAX = 4096
};

struct conv_result {
	struct conv_path *paths; /* most messages first, then by nodes and delays */
	size_t cnt, cap;
	int64_t quantum_ns; /* as used */
	struct conv_stats stats;
};

/* -EINVAL with a message for a quantum or lag that makes no sense. The messages of t (of traces of spans: the
 * ends of their calls) need be in no order. */
int conv_run(const struct msgtrace *t, const struct conv_opts *opts, struct conv_result *ret,
	     struct err *err);
void conv_free(struct conv_result *r);

#endif
