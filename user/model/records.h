/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a profile's tables; profile.h tells how they refer to each other. Times are nanoseconds of
 * CLOCK_MONOTONIC unless said otherwise; *_sid are string ids. Padding is always zero. */
#ifndef CP_USER_MODEL_RECORDS_H
#define CP_USER_MODEL_RECORDS_H

#include <stdint.h>

#include "user/model/kinds.h"

enum {
	BUILD_ID_MAX_BYTES = 20
};

struct mapping {
	uint64_t start, end; /* addresses in the process */
	uint64_t off_bytes;  /* of start in the file */
	uint32_t path_sid;
	uint32_t build_id_bytes; /* 0 = none known */
	uint8_t build_id[BUILD_ID_MAX_BYTES];
	uint32_t process; /* 0 = the kernel's */
	uint32_t
		tried_sid; /* where names were looked for, a line each; "" if all frames have one */
	uint32_t pad;
};

struct frame {
	uint64_t addr; /* in the process, or of the kernel; 0 for marks and inlined frames */
	uint32_t mapping;
	uint32_t name_sid;   /* demangled; "" when reason is not NAME_OK */
	uint32_t module_sid; /* file name or kernel module */
	uint32_t file_sid;   /* source file, "" if unknown */
	uint32_t line;	     /* 0 = unknown */
	uint8_t kind;	     /* enum frame_kind */
	uint8_t flags;	     /* enum frame_flag */
	uint8_t reason;	     /* enum name_reason */
	uint8_t pad;
	uint64_t
		function; /* without a name: where its function starts, as its file counts; 0 = not known */
};

struct stack {
	uint32_t parent; /* 0 = this frame is the root */
	uint32_t frame;
};

/* A process as long as equal addresses mean equal code: a new entry after exec and when its executable
 * mappings change. */
struct process {
	uint32_t pid;	 /* as seen from causeprof's PID namespace */
	uint32_t ns_pid; /* inside its own; equal to pid outside of containers */
	uint32_t parent_pid;
	uint32_t generation; /* 0, 1, ... for one pid and start time */
	uint64_t start_ns;   /* CLOCK_BOOTTIME, as /proc/PID/stat field 22 */
	uint32_t comm_sid;
	uint32_t exe_sid;
	uint32_t cgroup_sid;
	uint32_t pad;
};

struct thread {
	uint32_t tid;
	uint32_t ns_tid;
	uint32_t process; /* its last one in the window */
	uint32_t comm_sid;
	uint64_t first_ns, last_ns;		      /* the part of the window in which it lived */
	uint64_t running_ns, runnable_ns, blocked_ns; /* ours; their sum = last_ns - first_ns */
	uint64_t kernel_running_ns,
		kernel_runnable_ns;		 /* schedstat fields 1 and 2 over the same time */
	uint64_t voluntary_cnt, involuntary_cnt; /* switches away from the CPU in the window */
	uint64_t sample_cnt;
	uint32_t flags; /* enum thread_flag */
	uint32_t pad;
};

enum thread_flag {
	THREAD_KERNEL = 1 << 0,
	THREAD_BORN = 1 << 1, /* inside the window */
	THREAD_DIED = 1 << 2, /* inside the window */
	THREAD_ASLEEP_THROUGHOUT = 1 << 3,
	THREAD_IDLE = 1 << 4,	    /* a CPU's idle task */
	THREAD_NO_WITNESS = 1 << 5, /* kernel_* could not be read */
};

struct sum {
	uint32_t stack;
	uint32_t process;
	uint32_t thread;	/* 0 unless asked for per thread */
	uint32_t slice;		/* 0 unless time slices were asked for; else 1 + index */
	uint32_t gate;		/* string id that describes the request gate; 0 = none */
	uint8_t kind;		/* enum kind */
	uint8_t flags;		/* enum part_flag */
	uint16_t latency_class; /* 0 unless asked for */
	uint64_t ns;
	uint64_t cnt; /* waits, or samples for running time */
};

struct interval {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t stack;
	uint32_t waker; /* thread that ended the wait, 0 = unknown */
	uint32_t waker_stack;
	uint32_t request; /* 1 + its index; 0 = none */
	uint8_t kind;
	uint8_t flags;
	uint16_t pad;
};

struct request {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t gate; /* string id, as in sums */
	uint32_t label_sid;
	uint32_t pad;
};

struct message {
	uint64_t time_ns;    /* when the call returned */
	uint64_t call_ns;    /* when it was entered, 0 = unknown */
	uint64_t stream_pos; /* bytes before it in its direction */
	uint32_t thread;
	uint32_t endpoint; /* string id of the socket's description */
	uint32_t bytes;
	uint8_t direction; /* 0 sent, 1 received */
	uint8_t pad[3];
};

struct loss {
	uint64_t events;
	uint64_t ns; /* UINT64_MAX = cannot be known */
};

struct label {
	uint32_t key_sid, value_sid;
};

#endif
