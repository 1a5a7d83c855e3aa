/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a ccct beside the paths: findings and counts, all plain sums, so that they merge. */
#ifndef CP_USER_ANALYSIS_CCCT_FACTS_H
#define CP_USER_ANALYSIS_CCCT_FACTS_H

#include <stdint.h>

#include "user/analysis/spantree.h"

/* Findings about spans off and on the path, added up; what the members mean depends on the kind. */
enum ccct_fact_kind {
	FACT_ROOM = 0, /* of a call path. cnt: spans, ns: drag, more_ns: slack */
	FACT_REPEATED, /* cnt: parents that made many calls of this path one after the other, more_cnt: the
			   calls, ns: their time */
	FACT_SERIAL, /* path, then other, one after the other on the critical path under one parent. cnt:
			   times, ns: the time of the shorter one; more_cnt: times they overlapped */
	FACT_TRANSPORT, /* a client on the path. cnt: calls, ns: its time, more_ns: that of its server */
	FACT_STORE, /* a client on the path without a server span. cnt: calls, ns: exclusive time */
	FACT_CLOCK, /* path and other: frames (client host, server host; bucket of the offset). cnt: calls,
			   more_cnt: shifted ones, ns: sum of offsets */
	FACT_KIND_MAX,
};

struct ccct_fact {
	uint32_t kind, path, other;
	uint32_t bucket;
	uint64_t cnt, more_cnt;
	int64_t ns, more_ns;
};

/* What was read and set aside; plain sums. */
struct ccct_totals {
	uint64_t file_cnt, trace_cnt, span_cnt;
	uint64_t rootless_cnt; /* traces without an analysed root */
	uint64_t
		incomplete_cnt; /* traces with an orphan, or with a parent id that a collector warned of */
	uint64_t split_cnt, bad_file_cnt;
	uint64_t cut_ns, root_ns; /* of analysed roots */
	uint64_t notes[TREE_NOTE_MAX], flaws[TRACE_FLAW_MAX];
};

#endif
