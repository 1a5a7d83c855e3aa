/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows: what a stack walker must know about an instruction, in 8 bytes.
 *
 * The compiler of a program describes in .eh_frame (DWARF 5, section 6.4), for each instruction, where the
 * caller's registers are: the CFA (canonical frame address: rsp before the call pushed the return address)
 * and relative to it the saved registers. A general interpreter of that is too much for the kernel, but
 * nearly all of it is of a few forms. symbolize/rows.c compiles a file into an array of rows, sorted by
 * pc; a row holds from its pc to the next row's; docs/unwind.md explains them.
 *
 *   bits  0-31  pc, as an offset from the table's base (a virtual address of the file, 256-aligned)
 *   bits 32-36  enum row_kind
 *   bits 37-39  x: a small number whose meaning depends on the kind; where not said otherwise, where the
 *               caller's rbx is: 0 = lost (only files with ROW_RBX rows track it), 1 = unchanged,
 *               2..7 = saved at CFA - 8 x
 *   bits 40-47  s8: where the caller's rbp is: saved at CFA + 8 n; 0 = unchanged; 127 = saved at [rbp + 0]
 *               if rsp <= rbp < CFA, else unchanged. If it cannot be read it is 0.
 *   bits 48-63  s16: "off" below, in units of 8 bytes
 *
 * These are the registers of x86-64; for arm64 see enum row_a64.
 *
 * Beside the rows an index with a u32 per 256 bytes of text: the number of the row that covers the first
 * byte of that block, with one entry more than there are blocks: the row for a pc in block b is one of
 * index[b] .. index[b + 1], both included.
 *
 * One step of a walk: find the row of pc (frame 0 and the frame under a signal frame) or of pc - 1 (return
 * addresses); CFA by kind; stop if it does not lie above rsp; return address at CFA - 8; rbp and rbx;
 * rsp = CFA. symbolize/walk.c is the reference.
 *
 * The includer provides __u8 .. __u64 (vmlinux.h or <linux/types.h>). */
#ifndef CP_BPF_ROW_H
#define CP_BPF_ROW_H

/* Append only; a walker takes a kind it does not know as ROW_UNSUPPORTED. */
enum row_kind {
	ROW_GAP = 0,	     /* no unwind information here: frame pointer, or stop */
	ROW_RSP = 1,	     /* CFA = rsp + off */
	ROW_RBP = 2,	     /* CFA = rbp + off */
	ROW_PLT = 3,	     /* lazy PLT stub: CFA = rsp + 8 + ((rip & 15) >= off / 8 ? 8 : 0) */
	ROW_END = 4,	     /* the return address is undefined: the root of a stack */
	ROW_SIGNAL = 5,	     /* trampoline: rbp, rbx, rsp, rip from the ucontext at rsp */
	ROW_DEREF_RBP = 6,   /* CFA = *(rbp + off) + 8 x; rbx is lost (stack-realigned functions) */
	ROW_DEREF_RSP = 7,   /* CFA = *(rsp + off) + 8 x; rbx is lost (OpenSSL's assembly) */
	ROW_UNSUPPORTED = 8, /* a rule that is none of these: stop; off / 8 is an enum row_why */
	/* The next two need registers that are known in frame 0 (and, from the ucontext, in the frame under
	 * a signal frame); in other frames they end the walk as unsupported. */
	ROW_RA_RDI = 9, /* CFA = rsp + off, may equal rsp; return address in rdi (vfork) */
	ROW_REG = 10,	/* CFA = register + off, x is an enum row_reg; rbx is lost */
	/* Lazy binding in ld.so; works below frame 0 as long as the rows on the way track rbx. */
	ROW_RBX = 11, /* CFA = rbx + off */
	/* Frames of 256 KiB to 4 MiB: off is unsigned and goes on in x (row_far_off); rbx is lost. */
	ROW_RSP_FAR = 12, /* CFA = rsp + off */
};

/* Registers of ROW_REG: prologues of realigned functions (r10, r13) and hand-written assembly. */
enum row_reg {
	ROW_REG_RAX = 0,
	ROW_REG_R8 = 1,
	ROW_REG_R9 = 2,
	ROW_REG_R10 = 3,
	ROW_REG_R11 = 4,
	ROW_REG_RSI = 5,
	ROW_REG_R13 = 6,
	ROW_REG_R15 = 7,
};

/* arm64: ROW_RSP and ROW_RBP count from sp and x29, the rbp field is n, and x says where x29 and the return
 * address are. */
enum row_a64 {
	ROW_A64_LR =
		0, /* return address in x30 (frame 0, or under a signal frame), x29 unchanged */
	ROW_A64_RECORD = 1, /* x29 at CFA - off, return address in the word above it */
	ROW_A64_PAIR = 2,   /* x29 at CFA + 8 n, return address in the word above it */
	ROW_A64_RA = 3,	    /* return address at CFA + 8 n, x29 unchanged */
};

/* Why a row is ROW_UNSUPPORTED. */
enum row_why {
	ROW_WHY_RA = 1,	     /* the return address is not at CFA - 8 */
	ROW_WHY_OFFSET = 2,  /* an offset that is out of range or not a multiple of 8 */
	ROW_WHY_CFA_REG = 3, /* the CFA counts from another register */
	ROW_WHY_CFA_EXPR = 4,
	ROW_WHY_RBP = 5,    /* the caller's rbp is given by an expression or in a register */
	ROW_WHY_SIGNAL = 6, /* a signal trampoline with another layout than Linux's */
	ROW_WHY_BAD = 7,    /* the call frame instructions could not be interpreted */
	ROW_WHY_MAX = 8,
};

enum row_const {
	ROW_BLOCK_SHIFT = 8, /* text bytes per index entry, as a power of 2 */
	ROW_RBP_SAME = 0,
	ROW_RBP_AT_RBP = 127,
	ROW_RBX_LOST = 0,
	ROW_RBX_SAME = 1,
	ROW_FP_MAX_BYTES = 1 << 20, /* fallback: a frame pointer lies less than this above rsp */
	/* Offsets from rsp at a signal trampoline: struct ucontext of x86-64. General registers r8 .. r15
	 * lie from 40 on, 8 bytes each. */
	ROW_UCONTEXT_R8 = 40,
	ROW_UCONTEXT_RDI = 104,
	ROW_UCONTEXT_RSI = 112,
	ROW_UCONTEXT_RBP = 120,
	ROW_UCONTEXT_RBX = 128,
	ROW_UCONTEXT_RAX = 144,
	ROW_UCONTEXT_RSP = 160,
	ROW_UCONTEXT_RIP = 168,
};

/* How a walk ended. Values are those of enum stop_reason in user/model/kinds.h, which this file cannot
 * include; user/capture asserts that they are equal. */
enum walk_stop {
	WALK_NONE = 0,
	WALK_ROOT = 1, /* ROW_END */
	WALK_ZERO = 2, /* return address 0 */
	WALK_NO_MAPPING = 3,
	WALK_NO_ROW = 4, /* a gap, and rbp is no frame pointer */
	WALK_UNSUPPORTED = 5,
	WALK_UNREADABLE = 6,
	WALK_BAD_CFA = 7,
	WALK_DEPTH = 8,
};

/* Values of enum frame_flag there. */
enum walk_flag {
	WALK_BY_FP = 1 << 1,	/* the frame's caller was found by the frame pointer */
	WALK_SIGNAL = 1 << 2,	/* the frame is a signal trampoline */
	WALK_EXACT_PC = 1 << 3, /* the address is a pc, not a return address */
};

#define ROW_INLINE static inline __attribute__((always_inline, unused))

/* off and rbp in units of 8 bytes. */
ROW_INLINE __u64 row_make(__u32 kind, __s64 off, __s64 rbp, __u32 x)
{
	return (__u64)(kind & 31) << 32 | (__u64)(x & 7) << 37 | (__u64)(__u8)rbp << 40 |
	       (__u64)(__u16)off << 48;
}

#define row_pc(row)	 ((__u32)(row))
#define row_kind(row)	 ((__u32)((row) >> 32) & 31)
#define row_x(row)	 ((__u32)((row) >> 37) & 7)
#define row_rbp(row)	 ((__s64)((row) << 16) >> 56) /* units of 8 bytes */
#define row_off(row)	 ((__s64)(row) >> 48)	      /* units of 8 bytes */
#define row_far_off(row) ((row) >> 48 | (__u64)row_x(row) << 16)
#define row_rule(row)	 ((__u32)((row) >> 32)) /* everything but the pc */

#endif
