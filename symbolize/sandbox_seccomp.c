/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls that a worker of the sandbox may still make; see sandbox.h and seccomp(2).
 *
 * It cannot open (SANDBOX_LINES may ask its parent to, see sandbox_open.c), connect, fork, trace, change signals or timers, or map code. newfstatat stays, because
 * the C library makes fstat of it; it tells a process without rights no more than that a path exists. */
#include "symbolize/sandbox_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#define LOAD(off)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (off))
#define RET(action) BPF_STMT(BPF_RET | BPF_K, (action))
/* the low half of an argument (little-endian) */
#define ARG(n)	  (offsetof(struct seccomp_data, args) + (n) * sizeof(uint64_t))
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), RET(SECCOMP_RET_ALLOW)
/* fails with EACCES */
#define DENY(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), RET(SECCOMP_RET_ERRNO | EACCES)
/* allowed if an argument equals v */
#define ALLOW_IF(nr, n, v)                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 4), LOAD(ARG(n)),              \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), 0, 1), RET(SECCOMP_RET_ALLOW), \
		RET(SECCOMP_RET_KILL_PROCESS)
#define ALLOW_IF_EITHER(nr, n, v, w)                                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 5), LOAD(ARG(n)),              \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), 1, 0),                         \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (w), 0, 1), RET(SECCOMP_RET_ALLOW), \
		RET(SECCOMP_RET_KILL_PROCESS)
/* allowed if an argument has none of the bits */
#define ALLOW_WITHOUT(nr, n, bits)                                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 4), LOAD(ARG(n)),                  \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), RET(SECCOMP_RET_ALLOW), \
		RET(SECCOMP_RET_KILL_PROCESS)

int sandbox_lock_up(enum sandbox_opens opens)
{
	struct sock_filter code[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0),
		RET(SECCOMP_RET_KILL_PROCESS),
		LOAD(offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(write),
		ALLOW(pwrite64),
		ALLOW(lseek),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(brk),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(close),
		ALLOW(sendmsg),
		ALLOW(recvmsg),
		ALLOW(getrandom),
		ALLOW(clock_gettime),
		ALLOW(sysinfo), /* qsort(3) */
		ALLOW(exit_group),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		RET(opens == SANDBOX_OPENS_ASK ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS),
		ALLOW(rt_sigreturn),
		DENY(readlinkat), /* libdw wants to know what its file is called */
#ifdef SYS_readlink
		DENY(readlink),
#endif
		ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
		ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
		ALLOW_IF_EITHER(fcntl, 1, F_GETFL, F_GETFD),
#ifdef __SANITIZE_ADDRESS__ /* at each function that does not return */
		ALLOW(sigaltstack),
#endif
		/* abort(3), so that running out of memory looks like it */
		ALLOW(gettid),
		ALLOW(getpid),
		ALLOW_IF(rt_sigprocmask, 0, SIG_UNBLOCK),
		ALLOW_IF(tgkill, 0, (uint32_t)getpid()),
		RET(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return -errno;
	return 0;
}
