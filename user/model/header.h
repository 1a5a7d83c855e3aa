/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one-of-a-kind facts of a profile. */
#ifndef CP_USER_MODEL_HEADER_H
#define CP_USER_MODEL_HEADER_H

#include <stdint.h>

/* Facts about the capture. Costs are measured while it ran. */
struct header {
	uint64_t window_start_ns, window_end_ns; /* 0, 0 for imported profiles */
	uint64_t realtime_ns;			 /* CLOCK_REALTIME at window_start_ns */
	uint64_t sample_period_ns;		 /* 0 = not sampled */
	uint64_t slice_ns;			 /* 0 = no slices */
	uint64_t switch_cnt;	    /* all switches seen on this machine in the window */
	uint64_t target_switch_cnt; /* of target threads */
	uint64_t bpf_ns;	    /* estimated time in our kernel programs, on all CPUs */
	uint64_t bpf_sampled_cnt;   /* calls that were timed to estimate it */
	uint64_t user_cpu_ns;	    /* CPU time of causeprof itself, start to end */
	uint64_t attach_ns;	    /* from start to the open window */
	uint64_t map_bytes;	    /* kernel memory of all maps */
	uint64_t peak_rss_bytes;
	uint32_t cpu_cnt;
	uint32_t kernel_sid, machine_sid, command_sid, version_sid; /* uname -r, -m, argv, ours */
	uint32_t hook_sid, filter_sid, sampling_sid; /* "switch"; filters in words; "cpu-clock" */
	uint32_t unit_sid;     /* "ns", or the unit of an imported profile: "samples", "bytes" */
	uint32_t flags;	       /* enum header_flag */
	uint64_t recalled_cnt; /* kernel stacks of switches that were remembered, not unwound */
	/* What the host of a virtual machine took of all CPUs in the window, in whole ticks: it is in running times, and
	 * most kernels do not have it in their own count of them. */
	uint64_t stolen_ns;
};

enum header_flag {
	HEADER_HAS_INTERVALS = 1 << 0,
	HEADER_INTERRUPTED = 1 << 1, /* ended by a signal before its time */
	HEADER_IMPORTED = 1 << 2,
};

#endif
