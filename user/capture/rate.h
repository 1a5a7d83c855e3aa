/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often the targets switch, before anything is attached: what a capture would cost. */
#ifndef CP_USER_CAPTURE_RATE_H
#define CP_USER_CAPTURE_RATE_H

#include <stdint.h>

#include "user/base/err.h"
#include "user/capture/options.h"

struct rate {
	uint64_t switches_per_s; /* of the targets (of the whole machine with opts->all) */
	uint32_t thread_cnt;
	double cpu_share; /* predicted cost, as a share of the CPU time of the machine: 0.02 = 2 % */
};

/* Counts switches over span_ns (which it sleeps). -ESRCH names the first target that does not exist. */
int rate_measure(const struct capture_opts *opts, uint64_t span_ns, struct rate *ret,
		 struct err *err);

#endif
