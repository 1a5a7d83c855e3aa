/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the walker knows of the machine. Rows, signal frames and uprobes are read as x86-64 has them. For arm64 all of it
 * compiles, and walks by frame pointers alone: a frame record (x29, x30) lies as rbp and the return address do. */
#ifndef CP_BPF_MACHINE_BPF_H
#define CP_BPF_MACHINE_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_helpers.h>

#ifdef __TARGET_ARCH_arm64

#define WALK_X86   0
#define PSR_MODE32 0x10 /* of pstate: a 32-bit task */

/* False: a 32-bit task. */
static __always_inline bool arm64_registers(const struct pt_regs *regs, u64 *ip, u64 *sp, u64 *fp)
{
	*ip = regs->pc;
	*sp = regs->sp;
	*fp = regs->regs[29];
	return !(regs->pstate & PSR_MODE32);
}

#else
#define WALK_X86 1
#endif

#endif
