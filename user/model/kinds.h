/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The enums of a profile. They go to disk unchanged: append only, never renumber, retire by leaving a hole.
 * Each has its names in kinds.c (model_*_name), used by text output and by the reader's checks. */
#ifndef CP_USER_MODEL_KINDS_H
#define CP_USER_MODEL_KINDS_H

/* What a thread was doing in an interval of time. */
enum kind {
	KIND_NONE = 0,
	KIND_RUNNING = 1,   /* on a CPU */
	KIND_PREEMPTED = 2, /* runnable: lost its CPU while it wanted to run */
	KIND_WOKEN = 3,	    /* runnable: woken, waiting for a CPU */
	KIND_SLEEP = 4,	    /* blocked, interruptible (S) */
	KIND_DISK = 5,	    /* blocked, uninterruptible (D) */
	KIND_STOPPED = 6,   /* blocked by a stop signal (T) */
	KIND_TRACED = 7,    /* blocked by a debugger (t) */
	KIND_PARKED = 8,    /* a parked kernel thread (P) */
	KIND_IDLE = 9,	    /* a kernel thread waiting for work without adding to the load (I) */
	KIND_MAX = 10,
};

/* Whose code a frame is. */
enum frame_kind {
	FRAME_USER = 0,
	FRAME_KERNEL = 1,
	FRAME_MARK = 2, /* no code: "[walk stopped: ...]", "[asleep throughout]", a delimiter */
	FRAME_JIT = 3,	/* named by a perf map */
	FRAME_INTERPRETED = 4, /* a function of an interpreted language */
	FRAME_KIND_MAX = 5,
};

/* Properties of a frame; a bit mask. */
enum frame_flag {
	FRAME_INLINED =
		1 << 0, /* has no return address of its own: inlined into its parent in the stack */
	FRAME_BY_FP = 1 << 1,  /* its caller was found by the frame pointer, not by unwind rows */
	FRAME_SIGNAL = 1 << 2, /* the signal trampoline */
	FRAME_EXACT_PC =
		1 << 3, /* addr is a pc, not a return address: look up addr, not addr - 1 */
};

/* Why a frame has no name (NAME_OK: it has one). */
enum name_reason {
	NAME_OK = 0,
	NAME_PENDING = 1,    /* not looked up yet: "symbolize" can */
	NAME_NO_MAPPING = 2, /* [no map] no mapping covered the address */
	NAME_STRIPPED = 3,   /* [stripped] the file has no symbol that covers it */
	NAME_DELETED =
		4, /* [deleted] the mapped file is gone and could not be read through /proc */
	NAME_REPLACED = 5,   /* [replaced] the file at the path is not the one that was mapped */
	NAME_ANONYMOUS = 6,  /* [anon] code in memory without a file and without a perf map entry */
	NAME_UNREADABLE = 7, /* [unreadable] no permission, or not an ELF file */
	NAME_KPTR = 8,	     /* [kernel addresses hidden] kptr_restrict */
	NAME_KERNEL = 9,     /* [no kernel symbol] */
	NAME_EXITED = 10,    /* [exited] the process was gone before its mappings could be read */
	NAME_HOSTILE = 11,   /* [bad file] reading the file failed its limits */
	NAME_REASON_MAX = 12,
};

/* How a user stack ended; each value but STOP_ROOT becomes a FRAME_MARK at the root of the stack. */
enum stop_reason {
	STOP_NONE = 0,	      /* there is no user stack (kernel thread), or it was not asked for */
	STOP_ROOT = 1,	      /* a row with undefined return address: the real root */
	STOP_ZERO = 2,	      /* return address 0 reached by frame pointer: a probable root */
	STOP_NO_MAPPING = 3,  /* a return address outside of executable mappings */
	STOP_NO_ROW = 4,      /* code without unwind information, and no usable frame pointer */
	STOP_UNSUPPORTED = 5, /* unwind rule that the walker cannot follow */
	STOP_UNREADABLE = 6,  /* stack memory that is not resident */
	STOP_BAD_CFA = 7,     /* the stack pointer would not have grown */
	STOP_DEPTH = 8,	      /* deeper than the walker's limit */
	STOP_COMPAT = 9,      /* a 32-bit task */
	STOP_MAPS_CHANGED = 10, /* mappings changed and the new rows were not ready */
	STOP_NO_ROWS = 11,	/* the process has no rows (yet) */
	STOP_RUNNING = 12,	/* on a CPU when the census looked: state, no stack */
	STOP_IO_WORKER = 13,	/* an io_uring worker has no user stack */
	STOP_LOST = 14,		/* no frames: the ring was full */
	STOP_NEW = 15,		/* a thread that has not run yet */
	STOP_UNSEEN = 16,	/* the kernel skipped the program when the thread left its CPU */
	STOP_COPY_SHORT =
		17, /* the stack was copied to be walked later, and goes on beyond the copy */
	STOP_EXITING = 18, /* the thread is exiting and has given its memory back */
	STOP_EXEC = 19, /* in execve: the old program's memory is gone, the new one has not begun */
	STOP_REASON_MAX = 20,
};

/* Data that were lost, by cause. */
enum loss_cause {
	LOSS_SUM_MAP_FULL = 0,
	LOSS_STACK_MAP_FULL = 1,
	LOSS_UPDATE_BUSY = 2,
	LOSS_NO_STORAGE = 3,	  /* task storage could not be had */
	LOSS_RECURSION = 4,	  /* the kernel skipped a program that was already running */
	LOSS_RING_FULL_STACK = 5, /* a stack's frames did not fit into the ring */
	LOSS_RING_FULL_INTERVAL = 6,
	LOSS_RING_FULL_THREAD = 7,
	LOSS_WALK_STOPPED = 8, /* user stacks that did not reach a root */
	LOSS_PAGE_NOT_RESIDENT = 9,
	LOSS_THROTTLED = 10, /* perf throttled the sampling */
	LOSS_SAMPLE_SKIPPED = 11,
	LOSS_KPROBE_MISSED = 12,
	LOSS_RETURN_PROBE = 13,
	LOSS_WAKEUP_UNSEEN =
		14,		/* a sleep without a wake-up: its runnable part counts as blocked */
	LOSS_SCRATCH_BUSY = 15, /* a program interrupted another of its family */
	LOSS_NEGATIVE_TIME = 16,
	LOSS_PROCESS_MAP_FULL = 17,
	LOSS_SWITCH_UNSEEN = 18, /* put where the kernel's run time clock says that it was */
	LOSS_RESUME_UNSEEN = 19, /* waits without a stack: the program that walks it did not run */
	LOSS_BAD_RECORD = 20,	 /* of the ring: cut, or not of a kind that is known */
	LOSS_CAUSE_MAX = 21,
	LOSS_SLOTS_CNT = 64, /* room in a profile: causes that a newer version wrote survive */
};

/* Properties of a sum or interval; a bit mask. */
enum part_flag {
	PART_CUT_START = 1 << 0,	 /* was open when the window opened */
	PART_CUT_END = 1 << 1,		 /* was open when the window closed */
	PART_ASLEEP_THROUGHOUT = 1 << 2, /* its thread never ran in the window */
	PART_FILTERED = 1 << 3,		 /* dropped by -m, -M or --state: time without a stack */
	PART_NOT_SAMPLED = 1 << 4,	 /* running time of a thread that no sample hit */
};

/* Names for text, JSON and tests; "?" for a value that is not in the enum. */
const char *model_kind_name(int kind); /* "running", "preempted", "woken", "sleep", "disk", ... */
char model_kind_letter(int kind);      /* R r w S D T t P I */
const char *model_name_reason(int reason); /* "[stripped]"; "" for NAME_OK */
const char *
model_stop_reason(int reason); /* "[walk stopped: no unwind rows]"; "" for STOP_ROOT, STOP_NONE */
const char *model_loss_cause(int cause); /* "sum map full" */
int model_kind_is_blocked(int kind);
int model_kind_is_runnable(int kind);

#endif
