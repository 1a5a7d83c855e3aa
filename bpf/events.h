/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What crosses from the kernel programs to user space: records of the ring buffer, keys and values of maps.
 * Included by both sides; the includer provides __u8 .. __u64. Sizes are asserted at the end. */
#ifndef CP_BPF_EVENTS_H
#define CP_BPF_EVENTS_H

#include <linux/types.h>

#include "bpf/python.h"

enum {
	CP_FRAMES_MAX = 127, /* of each half of a stack */
	CP_COMM_BYTES = 16,
	CP_CGROUP_PATH_BYTES = 512,
	CP_COPY_MAX_BYTES = 16 << 10, /* of a user stack */
	CP_REG_CNT = 17,
	CP_VMAS_MAX = 32, /* executable mappings in an announcement */
	CP_EXE_BYTES = 192,
	CP_STACKS_MAX = 1 << 26, /* numbers of stacks are smaller */
};

/* Numbers of stacks that have no frames: not known, of a thread that has not run yet, and of one that left its CPU
 * without our program seeing it. */
#define CP_STACK_NONE	0
#define CP_STACK_NEW	0xffffffffu
#define CP_STACK_UNSEEN 0xfffffffeu

enum cp_event_kind {
	CP_EVENT_STACK = 1,    /* a stack seen for the first time */
	CP_EVENT_THREAD = 2,   /* a thread's books, when it died or the window closed */
	CP_EVENT_INTERVAL = 3, /* one piece of time (--intervals) */
	CP_EVENT_PROCESS = 4,  /* a process, or a new generation of its code */
	CP_EVENT_RAW = 5,      /* what bpf/account.h is told, to replay it elsewhere */
	CP_EVENT_CGROUP = 6,   /* a cgroup was made */
	CP_EVENT_MOVED = 7,    /* a process came into a watched cgroup: its threads want a census */
	CP_EVENT_END = 8,      /* the last of a process */
	CP_EVENT_COPY = 9,     /* a stack to be walked in user space */
};

/* Leaf first; kernel_cnt kernel frames, then user_cnt user frames, then python_cnt struct cp_python_frame. */
struct cp_event_stack {
	__u8 event;
	__u8 stop; /* enum walk_stop, or one of cp_stop */
	__u8 kernel_cnt;
	__u8 user_cnt;
	__u32 id;
	__u64 fp_mask[2];     /* bit i: the caller of user frame i was found by the frame pointer */
	__u64 signal_mask[2]; /* bit i: user frame i is a signal trampoline */
	__u32 process;	      /* whose Python frames these are; 0 if there are none */
	__u8 python_cnt;
	__u8 python_stop; /* enum cp_python_stop */
	__u16 pad;
	__u64 frames[];
};

/* Ends of a stack beside those of enum walk_stop; equal to enum stop_reason. */
enum cp_stop {
	CP_STOP_COMPAT = 9,
	CP_STOP_MAPS_CHANGED = 10,
	CP_STOP_NO_ROWS = 11,
	CP_STOP_RUNNING = 12,
	CP_STOP_IO_WORKER = 13,
	CP_STOP_COPY_SHORT = 17,
	CP_STOP_EXITING = 18,
	CP_STOP_EXEC = 19,
};

/* A stack whose process has no unwind rows in the kernel yet. kernel_cnt kernel frames follow, leaf first, then
 * stack_bytes of the user stack from rsp on. */
struct cp_event_copy {
	__u8 event;
	__u8 stop; /* why it was not walked: how it ends if user space cannot walk it either */
	__u8 kernel_cnt;
	__u8 cut; /* 1: there may be more of the stack in memory than was copied */
	__u32 id;
	__u32 process;
	__u32 stack_bytes;
	__u64 regs[CP_REG_CNT]; /* by DWARF number; the last one is rip */
	__u64 words[];
};

struct cp_event_thread {
	__u8 event;
	__u8 flags; /* enum cp_thread_flag */
	__u16 pad;
	__u32 tid;
	__u32 tgid;
	__u32 process;
	__u64 first_ns, last_ns;
	__u64 running_ns, runnable_ns, blocked_ns;
	__u64 exec_ns, delay_ns; /* the kernel's own: sum_exec_runtime, run_delay */
	__u64 voluntary_cnt, involuntary_cnt, sample_cnt;
	__u64 unsampled_ns; /* running time after the last sample */
	__u32 ns_tid;
	__u32 ns_tgid;
	char comm[CP_COMM_BYTES];
};

/* Equal to enum thread_flag. */
enum cp_thread_flag {
	CP_THREAD_KERNEL = 1,
	CP_THREAD_BORN = 2,
	CP_THREAD_DIED = 4,
	CP_THREAD_ASLEEP = 8,
	/* these two stay in the kernel */
	CP_WANTED = 64,
	CP_THREAD_ALONE = 128, /* named by -t: its children are not followed */
};

enum cp_process_why {
	CP_PROCESS_CENSUS = 1,
	CP_PROCESS_FORK = 2,
	CP_PROCESS_EXEC = 3,
	CP_PROCESS_MAPS = 4,   /* its executable mappings changed */
	CP_PROCESS_CGROUP = 5, /* it was moved; its mappings are those of before */
};

/* An executable mapping. */
struct cp_vma {
	__u64 start, end;
	__u64 off_bytes; /* of start in the file */
	__u64 inode;	 /* 0 = no file; this and the device as /proc/PID/maps has them */
	__u32 dev_major, dev_minor;
	__u32 vdso;
	__u32 pad;
};

/* What a process mapped when it was announced. */
struct cp_told {
	struct cp_vma vmas[CP_VMAS_MAX]; /* by address */
	char exe[CP_EXE_BYTES]; /* of an exec: the path that it was given, of a script its interpreter's; may be relative, or cut */
};

struct cp_event_process {
	__u8 event;
	__u8 why; /* enum cp_process_why */
	__u8 kernel;
	__u8 pad;
	__u32 process; /* unique in a capture */
	__u32 before; /* of a fork: the parent, whose mappings it starts with; else the generation before */
	__u32 tgid;    /* as causeprof sees it */
	__u32 ns_tgid; /* in its own PID namespace */
	__u32 parent_tgid;
	__u32 generation;
	__u64 start_ns; /* CLOCK_BOOTTIME */
	__u64 time_ns;	/* when this generation began */
	__u64 cgroup;	/* the number of its cgroup (v2) */
	char comm[CP_COMM_BYTES];
	__u32 told;    /* 1: a struct cp_told follows; 0: not known, or as before */
	__u32 vma_cnt; /* in it */
};

struct cp_event_end {
	__u8 event;
	__u8 pad[3];
	__u32 process; /* its last generation */
};

struct cp_event_cgroup {
	__u8 event;
	__u8 pad[7];
	__u64 cgroup;
	char path[CP_CGROUP_PATH_BYTES]; /* from the hierarchy's root */
};

struct cp_event_moved {
	__u8 event;
	__u8 pad[7];
};

/* Running time waits for the thread's next sample, which all of it is booked on. */
enum cp_sampled {
	CP_NOT_SAMPLED = 0, /* or no running time */
	CP_SAMPLED = 1,	    /* the piece ends with a sample; stack is where */
	CP_FLUSHED = 2,	    /* no piece: time goes to this stack, since no sample will come */
};

struct cp_event_interval {
	__u8 event;
	__u8 kind;    /* enum account_kind */
	__u8 flags;   /* enum account_flag and CP_SUM_FILTERED; */
	__u8 sampled; /* enum cp_sampled */
	__u32 tid;
	__u64 start_ns, end_ns;
	__u32 stack;
	__u32 process;
	/* Running time that the sample stands for, or that is flushed: of this and of pieces before. It is told, since the
	 * order of events is not that of the books where a sample interrupts a flush. */
	__u64 charged_ns;
};

enum cp_raw {
	CP_RAW_CENSUS = 1, /* value = enum account_kind that it found */
	CP_RAW_OUT = 2,
	CP_RAW_IN = 3,
	CP_RAW_WAKEUP = 4,
	CP_RAW_BORN = 5,
	CP_RAW_SAMPLE = 6,
	CP_RAW_CLOSE = 7,
};

struct cp_event_raw {
	__u8 event;
	__u8 raw; /* enum cp_raw */
	__u8 preempt, on_rq, sched_delayed;
	__u8 pad[3];
	__u32 tid;
	__u32 value; /* prev_state, or a kind */
	__u64 now_ns;
	__u64 ran_ns;
};

/* Extra part flags, equal to enum part_flag. */
enum cp_sum_flag {
	CP_SUM_FILTERED = 8,
	CP_SUM_NOT_SAMPLED = 16,
	CP_SUM_SIDE = 128, /* stays in the kernel: cp_side when the key was made */
};

struct cp_sum_key {
	__u32 stack;
	__u32 process;
	__u32 tid; /* 0 unless --per-thread */
	__u32 slice;
	__u32 gate;
	__u16 latency_class;
	__u8 kind;
	__u8 flags;
};

struct cp_sum {
	__u64 ns;
	__u64 cnt;
};

/* A stack is known by two independent hashes over its frames, counts and end. */
struct cp_stack_key {
	__u64 a, b;
};

static inline __attribute__((always_inline)) void cp_stack_hash(struct cp_stack_key *k, __u64 word)
{
	k->a = (k->a ^ word) * 0x9ddfea08eb382d69ULL;
	k->a ^= k->a >> 29;
	k->b = (k->b + word) * 0xc2b2ae3d27d4eb4fULL;
	k->b ^= k->b >> 32;
}

/* Executable mappings of a process, sorted by address; a process has a contiguous range of them. */
struct cp_mapping {
	__u64 start, end;
	__u64 base;		/* address of the row table's pc offset 0 */
	__u32 row, row_cnt;	/* in cp_rows; row_cnt 0: no rows, frame pointers */
	__u32 block, block_cnt; /* in cp_blocks; block_cnt entries + 1 */
};

/* A process, by tgid. The mappings of a process have a number of their own, since a forked process starts
 * with its parent's; user space answers to the number with a range of mappings. */
struct cp_process {
	__u32 id;    /* unique in a capture */
	__u32 space; /* id of the process generation whose mappings these are */
	__u32 generation;
	__u32 kernel;
	__u64 exec_vm; /* pages of executable mappings when the generation began */
	__u64 start_ns;
	__u64 mm; /* the kernel address of its mm_struct: tells an exec that nobody saw */
};

struct cp_range {
	__u32 mapping, mapping_cnt; /* in cp_mappings */
	__u32 python;		    /* 1: cp_pythons knows an interpreter in this space */
};

/* Constants of a capture: the verifier removes what is off. */
struct cp_config {
	__u64 min_ns, max_ns;  /* waits outside go to [filtered]; max 0 = none */
	__u64 slice_ns;	       /* 0 = no slices */
	__u32 kind_mask;       /* bit per enum account_kind; others go to [filtered] */
	__u32 all;	       /* every thread of the machine */
	__u32 user_threads;    /* of these only threads of processes */
	__u32 kernel_threads;  /* ... or only the kernel's own */
	__u32 cgroups;	       /* threads in the cgroups of cp_cgroups, or below them */
	__u32 whole_processes; /* no -t: all threads of a watched process are watched */
	__u32 sums, intervals; /* the sinks; both to compare them */
	__u32 per_thread;
	__u32 user_stacks, kernel_stacks;
	__u32 dwarf;				  /* 0 = frame pointers only */
	__u32 row_mask, block_mask, mapping_mask; /* sizes of the big arrays, minus one */
	__u32 census_scratch;			  /* its element in cp_scratch */
	__u32 raw;				  /* send what bpf/account.h is told */
	__u32 check_recalled; /* unwind kernel stacks that are remembered all the same */
	__u32 wake_bytes;     /* unread bytes in the ring that wake the reader */
	__u32 copy_bytes;     /* ... beyond which no stacks are copied: the rest is for others */
	__u32 finish;	      /* stacks are walked by the thread that resumes (--hook finish) */
};

/* A kernel symbol; name and owner follow, each ended by a NUL that counts. */
struct cp_ksym {
	__u64 addr;
	__u16 name_bytes, owner_bytes; /* owner_bytes 0: the kernel proper */
	char type;		       /* as /proc/kallsyms has it */
	char pad[3];
};

enum {
	CP_KSYM_WANTED_MAX = 1 << 15, /* addresses */
	CP_KSYM_REACH_BYTES =
		64 << 10, /* a function reaches no further; as KALLSYMS_FUNCTION_MAX_BYTES */
	CP_KSYM_NAME_BYTES = 512,
	CP_KSYM_OWNER_BYTES = 64,
};

struct cp_loss {
	__u64 events;
	__u64 ns;
};

struct cp_cost {
	__u64 switches; /* all on this CPU inside the window */
	__u64 target_switches;
	__u64 calls;		     /* of programs that had work to do */
	__u64 timed_calls, timed_ns; /* some of them, timed */
	__u64 samples;
	__u64 recalled;	      /* kernel stacks that were remembered */
	__u64 recalled_wrong; /* of these not what the kernel unwinds, if that is checked */
	__u32 in_switch; /* a sample that interrupts the switch program must not touch the thread */
	__u32 resume_waits; /* what resumes has waits that wait for its stack */
	__u64 resume_task; /* struct task_struct *: who got this CPU at the last switch that was seen */
	__u64 resumes;	   /* of threads that had to walk their stack */
};

#ifndef __bpf__
_Static_assert(sizeof(struct cp_event_stack) == 48, "wire format");
_Static_assert(sizeof(struct cp_event_copy) == 152, "wire format");
_Static_assert(sizeof(struct cp_event_thread) == 128, "wire format");
_Static_assert(sizeof(struct cp_vma) == 48, "wire format");
_Static_assert(sizeof(struct cp_event_process) == 80, "wire format");
_Static_assert(sizeof(struct cp_event_end) == 8, "wire format");
_Static_assert(sizeof(struct cp_event_cgroup) == 528, "wire format");
_Static_assert(sizeof(struct cp_event_interval) == 40, "wire format");
_Static_assert(sizeof(struct cp_event_raw) == 32, "wire format");
_Static_assert(sizeof(struct cp_ksym) == 16, "wire format");
_Static_assert(sizeof(struct cp_sum_key) == 24, "map key");
_Static_assert(sizeof(struct cp_mapping) == 40, "map value");
#endif

#endif
