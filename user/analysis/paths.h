/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causal paths: calls and their parents become trees, and equal trees one pattern (SOSP 2003, FindCallPaths;
 * specs B.2 step 4). A call without parent is a root. Two trees are equal when they call the same nodes in
 * the same order. A pattern's positions are its calls in preorder; each has
 *
 *	latency = server_end - server_start, what the node took, its callees included
 *	own     = latency - union of its children's client intervals
 *	delay   = child's client_start - parent's server_start, from entry to call
 *	network = (client_end - client_start) - latency, where both ends were stamped
 *
 * Any method that sets parents can stand before this. Memory: 12 bytes a call. */
#ifndef CP_USER_ANALYSIS_PATHS_H
#define CP_USER_ANALYSIS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/delaybins.h"
#include "user/base/index.h"
#include "user/model/msgtrace.h"

/* A tree's form; equal subtrees of different paths share it. */
struct path_shape {
	uint32_t node;	     /* callee */
	uint32_t first, cnt; /* its children's shapes: subs[first .. first + cnt) */
	uint32_t size;	     /* calls in it */
};

struct path_pattern {
	uint32_t caller; /* the node outside that called the root */
	uint32_t shape;
	uint32_t cnt;	     /* instances */
	uint32_t first_root; /* its instances: roots[first_root .. first_root + cnt) */
	uint64_t total_ns;   /* latencies of the roots */
};

struct paths {
	const struct msgtrace *t;	    /* borrowed */
	uint32_t *first_child, *next_child; /* by call; CALL_NONE ends */
	struct path_shape *shapes;
	size_t shape_cnt, shape_cap;
	uint32_t *subs;
	size_t sub_cnt, sub_cap;
	struct path_pattern *patterns; /* most instances first, then most time, then names */
	size_t pattern_cnt, pattern_cap;
	uint32_t *roots; /* calls, grouped by pattern, in order of time */
	size_t root_cnt;
	struct index shape_index, pattern_index;
};

enum paths_flag {
	PATHS_UNORDERED = 1 << 0, /* siblings that overlap are put in order of their forms */
};

/* Builds the patterns of t as its calls' parents stand. Parents must form a forest. O(n log n). */
struct paths *paths__new(const struct msgtrace *t, unsigned int flags); /* owned by the caller */
void paths__free(struct paths *p);					/* NULL is fine */

struct delay_stats {
	uint64_t cnt;
	double mean_ns, m2; /* m2: sum of squared deviations */
	int64_t min_ns, max_ns;
	int64_t p50_ns, p95_ns, p99_ns; /* within 5 %, from the histogram */
	uint32_t bins[DELAYBINS_MAX_CNT];
};

struct path_pos {
	uint32_t node;
	uint32_t parent; /* position, or CALL_NONE for the root */
	uint32_t depth;
	bool has_network;
	struct delay_stats latency, own, delay,
		network; /* delay and network: of the call that leads here */
};

enum {
	PATH_POS_MAX =
		4096 /* a position's statistics take 8 KB; a hostile path may have millions */
};

/* The first PATH_POS_MAX positions of a pattern over its instances, or over those with from_ns <= root start < to_ns; *ret_cnt
 * of them, owned by the caller. O(instances * positions). */
struct path_pos *paths__stats(const struct paths *p, const struct path_pattern *pattern,
			      int64_t from_ns, int64_t to_ns, size_t *ret_cnt);

/* The calls of an instance in preorder, as the positions are; cap >= the shape's size. Returns the count. */
size_t paths__instance(const struct paths *p, uint32_t root, uint32_t *calls, size_t cap);

/* The pattern as text: "C > WS1(AUTH AP1(DB1))". */
void paths__name(const struct paths *p, const struct path_pattern *pattern, struct buf *out);
/* The same with other names for nodes, by node. */
void paths__name_as(const struct paths *p, const struct path_pattern *pattern,
		    const char *const *names, struct buf *out);

double delay_stats_sd_ns(const struct delay_stats *s);

#endif
