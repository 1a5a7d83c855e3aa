/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one-line facts of a profile: time by class, threads, whether the books balance, what the kernel's own
 * accounts say about the same threads, what was lost, what the capture cost. */
#ifndef CP_USER_ANALYSIS_TOTALS_H
#define CP_USER_ANALYSIS_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/model/profile.h"

/* Classes that a person reads: states by name where it helps, the rest together. */
struct totals {
	/* From the sums. Threads that never ran in the window are in asleep_ns and in nothing else. */
	uint64_t kind_ns[KIND_MAX], kind_cnt[KIND_MAX];
	uint64_t running_ns, runnable_ns, blocked_ns, asleep_ns;
	uint64_t other_ns;   /* kinds that are not told or not known */
	uint64_t all_ns;     /* of all sums: thread-seconds */
	uint64_t asleep_cnt; /* threads that never ran */
	uint64_t filtered_ns, not_sampled_ns;
	uint64_t cut_ns; /* in intervals that were open at an end of the window */
	uint64_t sample_cnt;
	/* From the threads; idle tasks of CPUs are not counted. */
	uint64_t thread_cnt, born_cnt, died_cnt, kernel_thread_cnt;
	uint64_t wall_ns;     /* sum of their lifetimes in the window */
	uint64_t residue_ns;  /* sum of |running + runnable + blocked - lifetime| */
	uint64_t residue_cnt; /* threads with any */
	/* Threads whose accounts the kernel told: theirs beside ours. */
	uint64_t witness_cnt;
	uint64_t witness_running_ns, witness_runnable_ns;
	uint64_t witnessed_running_ns, witnessed_runnable_ns;
	uint64_t voluntary_cnt, involuntary_cnt;
	uint64_t window_ns;
	uint64_t lost_cnt, lost_ns; /* lost_ns: of the causes that know it */
	bool lost_unknown;	    /* some cause cannot tell its time */
};

void totals_init(struct totals *t, const struct profile *p); /* O(sums + threads) */

/* Half the width of the interval that holds the true value 19 times in 20, for time estimated from cnt of
 * sample_cnt samples (normal approximation of the binomial; 1.96 standard errors). ns when cnt is 0. */
uint64_t totals_uncertainty_ns(uint64_t ns, uint64_t cnt, uint64_t sample_cnt);

/* The process with the most time, all generations of its pid together (0 = there is none), and how many
 * pids have any time. */
uint32_t totals_main_process(const struct profile *p, size_t *pid_cnt);

#endif
