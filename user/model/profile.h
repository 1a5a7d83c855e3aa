/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile in memory: tables that refer to each other by element number. Entry 0 of strings, frames,
 * stacks, mappings, processes and threads means "none" and always exists. Times are nanoseconds of
 * CLOCK_MONOTONIC unless said otherwise. A stack is a chain of frames from leaf to root through parent:
 * stacks[id] = (parent, frame), parent nearer to the root, so that equal callers are stored once.
 *
 * The profile owns everything; pointers into tables are borrowed until the next profile__add of that kind. */
#ifndef CP_USER_MODEL_PROFILE_H
#define CP_USER_MODEL_PROFILE_H

#include <stdint.h>

#include "user/base/err.h"
#include "user/base/index.h"
#include "user/base/strtab.h"
#include "user/model/kinds.h"

enum {
	BUILD_ID_MAX_BYTES = 20,
	PROFILE_GATE_NONE = 0
};

struct mapping {
	uint64_t start, end; /* addresses in the process */
	uint64_t off_bytes;  /* of start in the file */
	uint32_t path_sid;
	uint32_t build_id_bytes; /* 0 = none known */
	uint8_t build_id[BUILD_ID_MAX_BYTES];
	uint32_t process; /* 0 = the kernel's */
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
	uint32_t gate;		/* request gate; PROFILE_GATE_NONE */
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
	uint32_t request; /* 0 = none */
	uint8_t kind;
	uint8_t flags;
	uint16_t pad;
};

struct request {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t gate;
	uint32_t label_sid;
	uint32_t pad;
};

struct message {
	uint64_t time_ns;    /* when the call returned */
	uint64_t call_ns;    /* when it was entered, 0 = unknown */
	uint64_t stream_pos; /* bytes before it in its direction */
	uint32_t thread;
	uint32_t endpoint; /* index of the socket's description in strings */
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
	uint32_t unit_sid; /* "ns", or the unit of an imported profile: "samples", "bytes" */
	uint32_t flags;	   /* enum header_flag */
};

enum header_flag {
	HEADER_HAS_INTERVALS = 1 << 0,
	HEADER_INTERRUPTED = 1 << 1, /* ended by a signal before its time */
	HEADER_IMPORTED = 1 << 2,
};

/* One table: items, cnt, cap. */
#define PROFILE_TABLE(type)      \
	struct {                 \
		type *items;     \
		size_t cnt, cap; \
	}

struct profile {
	struct header header;
	struct strtab strings;
	PROFILE_TABLE(struct mapping) mappings;
	PROFILE_TABLE(struct frame) frames;
	PROFILE_TABLE(struct stack) stacks;
	PROFILE_TABLE(struct process) processes;
	PROFILE_TABLE(struct thread) threads;
	PROFILE_TABLE(struct sum) sums;
	PROFILE_TABLE(struct interval) intervals;
	PROFILE_TABLE(struct request) requests;
	PROFILE_TABLE(struct message) messages;
	PROFILE_TABLE(struct label) labels;
	struct loss losses[LOSS_CAUSE_MAX];
	struct index frame_index, stack_index, sum_index;
};

struct profile *profile__new(void);    /* owned by the caller */
void profile__free(struct profile *p); /* NULL is fine */

/* Each returns the element's number. frame, stack and sum are found again if they exist: equal frames and
 * (parent, frame) pairs get equal numbers; equal sum keys add up (ns and cnt saturate). O(1) amortised. */
uint32_t profile__add_mapping(struct profile *p, const struct mapping *m);
uint32_t profile__add_frame(struct profile *p, const struct frame *f);
uint32_t profile__add_stack(struct profile *p, uint32_t parent, uint32_t frame);
uint32_t profile__add_process(struct profile *p, const struct process *pr);
uint32_t profile__add_thread(struct profile *p, const struct thread *t);
uint32_t profile__add_sum(struct profile *p, const struct sum *s);
void profile__add_interval(struct profile *p, const struct interval *iv);
void profile__add_request(struct profile *p, const struct request *r);
void profile__add_message(struct profile *p, const struct message *m);
void profile__add_label(struct profile *p, const char *key, const char *value);
void profile__add_loss(struct profile *p, enum loss_cause cause, uint64_t events, uint64_t ns);

uint32_t profile__string(struct profile *p, const char *s);
const char *profile__str(const struct profile *p, uint32_t sid);

/* Frames of a stack in root-to-leaf order; *ret grows as needed (owned by the caller). Returns the count. */
size_t profile__frames(const struct profile *p, uint32_t stack, uint32_t **ret, size_t *cap);

/* All references lie inside their tables, parents precede children, enums are known, starts precede ends.
 * 0, or -EINVAL with what is wrong. For the reader, for tests, and inside asserts. O(size). */
int profile__check(const struct profile *p, struct err *err);

#endif
