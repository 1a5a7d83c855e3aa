/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of causal paths for people and programs. */
#ifndef CP_USER_ANALYSIS_PATHREPORT_H
#define CP_USER_ANALYSIS_PATHREPORT_H

#include <stdint.h>

#include "user/analysis/paths.h"
#include "user/base/buf.h"
#include "user/base/json.h"

enum pathreport_order {
	PATHREPORT_BY_COUNT = 0,
	PATHREPORT_BY_LATENCY = 1, /* total */
};

struct pathreport_opts {
	size_t top_cnt; /* patterns shown; 0 = all */
	enum pathreport_order order;
	int64_t window_ns; /* 0 = the whole trace at once */
};

/* The patterns in the order asked for, as numbers into p->patterns; owned by the caller. */
uint32_t *pathreport_rank(const struct paths *p, enum pathreport_order order);

/* Trees with delays, the node with the largest mean own delay marked by "*"; rare slow patterns; windows. */
void pathreport_text(const struct paths *p, const struct pathreport_opts *o, struct buf *out);
/* The same, with histograms, as members of the object that is open in j. */
void pathreport_json(const struct paths *p, const struct pathreport_opts *o, struct json *j);
/* The position with the largest mean own delay. */
size_t pathreport_slowest(const struct path_pos *pos, size_t cnt);

/* Patterns that are rare and slow: under 1 % of the paths, and on average over twice as long as all paths are;
 * slowest first, at most max numbers into ret. Returns how many. */
size_t pathreport_rare_slow(const struct paths *p, uint32_t *ret, size_t max);

#endif
