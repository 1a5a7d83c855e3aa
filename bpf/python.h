/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel must know about a CPython to find a thread's Python frames; docs/python.md explains the walk.
 * Offsets differ from one minor version to the next; symbolize/python_layout.c knows them, or reads them from
 * the interpreter itself (3.13 and later). Included by both sides; the includer provides __u8 .. __u64. */
#ifndef CP_BPF_PYTHON_H
#define CP_BPF_PYTHON_H

enum {
	CP_PYTHON_FRAMES_MAX = 128,
	CP_PYTHON_THREAD_BYTES = 256, /* what is read of a thread state */
	CP_PYTHON_FRAME_BYTES = 80,   /* ... and of a frame: all offsets in frames lie below */
	CP_PYTHON_NONE = 0xffff,      /* an offset that this version does not have */
};

/* Ends of a walk of Python frames. */
enum cp_python_stop {
	CP_PYTHON_WHOLE = 0,
	CP_PYTHON_NO_THREAD = 1,  /* the interpreter has no state for this thread */
	CP_PYTHON_UNREADABLE = 2, /* memory that is not resident, or a pointer to nowhere */
	CP_PYTHON_DEPTH = 3,	  /* more than CP_PYTHON_FRAMES_MAX */
	CP_PYTHON_STOP_MAX = 4,
};

/* An interpreter in an address space. Offsets in bytes. */
struct cp_python {
	__u64 runtime;		    /* address of _PyRuntime */
	__u64 eval_start, eval_end; /* code of _PyEval_EvalFrameDefault */
	__u64 code_type;	    /* address of PyCode_Type */
	__u32 head;		    /* in _PyRuntime: the first interpreter */
	__u32 interp_next, interp_threads;
	__u16 thread_next, thread_id; /* the id is pthread_self(): the base of fs */
	__u16 thread_frame;	      /* the current frame, or a pointer to what holds it: */
	__u16 holder_frame;	      /* CP_PYTHON_NONE: the former */
	__u16 frame_code, frame_previous, frame_instr;
	__u16 code_qualname, code_linetable;
	__u16 frame_owner;    /* a byte; see owner_shim */
	__u16 frame_is_entry; /* a byte: the first frame of a call from C, or CP_PYTHON_NONE */
	__u16 owner_shim; /* where there is no is_entry: from this owner on it is no function but the mark of a call from C */
};

/* Leaf first. */
struct cp_python_frame {
	__u64 code; /* address of the code object, with CP_PYTHON_ENTRY; else 0: an entry without a function */
	__u64 instr; /* address of the instruction */
	__u64 mark;  /* cp_python_mark of the object that was there; 0: not looked at */
};

/* Tells one function from another that got its address later: by the places of its name and its lines. */
static inline __attribute__((always_inline)) __u64 cp_python_mark(__u64 qualname, __u64 linetable)
{
	return (qualname * 0x9ddfea08eb382d69ULL ^ linetable) | 1;
}

/* In the lowest bit: called from C, so that the next frames belong to an evaluation further out. */
#define CP_PYTHON_ENTRY 1ULL

/* A walk in the making, in the kernel. */
struct walk_python {
	__u64 fs_base;
	__u64 interp, thread, frame; /* addresses of what comes next */
	__u32 cnt;
	__u32 stop;	 /* enum cp_python_stop */
	__u32 evaluates; /* the interpreter's loop is in the native stack */
	__u32 process;
	__u32 current; /* the walk is that of the current task, which is read in place: not the census's */
	struct cp_python_frame frames[CP_PYTHON_FRAMES_MAX];
};

#ifndef __bpf__
_Static_assert(sizeof(struct cp_python) == 72, "map value");
#endif

#endif
