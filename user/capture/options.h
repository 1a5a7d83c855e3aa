/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture is asked for. */
#ifndef CP_USER_CAPTURE_OPTIONS_H
#define CP_USER_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/phases.h"

enum sink {
	SINK_SUMS,	/* added up in the kernel */
	SINK_INTERVALS, /* sent one by one, added up here */
	SINK_BOTH,	/* both, and compared */
};

struct capture_cgroup {
	uint64_t id;	 /* the kernel's: the inode of its directory */
	const char *dir; /* in the file system */
};

struct capture_opts {
	const uint32_t *pids; /* processes, with their children; borrowed */
	size_t pid_cnt;
	const uint32_t *tids; /* single threads */
	size_t tid_cnt;
	const struct capture_cgroup *cgroups; /* processes in these (v2) and below */
	size_t cgroup_cnt;
	bool all;		 /* every thread of the machine but our own */
	bool user_threads;	 /* of these only threads of processes */
	bool kernel_threads;	 /* ... or only the kernel's own */
	uint64_t duration_ns;	 /* 0 = until stopped */
	uint64_t sample_hz;	 /* 0 = chosen by duration */
	uint64_t min_ns, max_ns; /* waits outside are [filtered]; max_ns 0 = no limit */
	uint32_t kind_mask;	 /* bit per enum kind; others are [filtered] */
	enum sink sink;
	bool hook_finish; /* stacks are walked by the thread that resumes, not by the one that leaves */
	bool keep_intervals; /* in the profile */
	bool per_thread;
	uint64_t slice_ns; /* 0 = one sum for all of the window */
	bool user_stacks, kernel_stacks;
	bool lines;	     /* inlined functions, source files and lines from debug information */
	bool frame_pointers; /* do not use unwind rows */
	uint64_t stack_cnt_max;	  /* distinct stacks; 0 = the default */
	uint64_t process_cnt_max; /* processes at a time; 0 = the default */
	uint64_t ring_bytes;	  /* 0 = the default; rounded up to a power of two */
	bool raw_events;	  /* keep what the state machine was told, for session__put_raw */
	const char *btf_path;	  /* NULL = the running kernel's */
	struct phases *phases;	  /* what the capture itself costs; NULL = nobody asks */
};

#endif
