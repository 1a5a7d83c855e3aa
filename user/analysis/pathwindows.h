/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns over time: what is frequent in one window only drowns in the whole trace (open in SOSP 2003). */
#ifndef CP_USER_ANALYSIS_PATHWINDOWS_H
#define CP_USER_ANALYSIS_PATHWINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/paths.h"

/* A pattern within a window; windows begin at the first root's start. */
struct pathwindow_entry {
	uint64_t window; /* number from 0 */
	uint32_t pattern;
	uint32_t cnt;
	uint64_t total_ns;
};

/* Entries ordered by window, then by count (most first); owned by the caller. O(n log n). window_ns > 0. */
struct pathwindow_entry *pathwindows_count(const struct paths *p, int64_t window_ns,
					   size_t *ret_cnt, int64_t *ret_start_ns);

/* How many times more frequent the pattern is in the window than in the whole trace, by shares. */
double pathwindow_burst(const struct paths *p, const struct pathwindow_entry *e,
			uint64_t window_cnt);

#endif
