/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening by path from inside the sandbox. libdw opens split units itself, by the names in the file that it
 * reads. seccomp turns that system call into a signal; its handler asks the parent for the file, as
 * sandbox_ask does, and lets the call return the descriptor that came. The signal is synchronous (it strikes
 * at the call itself), so the handler may do what it likes with the channel. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbolize/sandbox_wire.h"

/* The worker has one job in its life, and a signal handler has no other way to learn of it. */
static struct sandbox_job *the_job;

#if defined(__x86_64__)
#define REG_RESULT(c) ((c)->uc_mcontext.gregs[REG_RAX])
#define REG_PATH(c)   ((c)->uc_mcontext.gregs[REG_RSI])
#define REG_FLAGS(c)  ((c)->uc_mcontext.gregs[REG_RDX])
#elif defined(__aarch64__)
#define REG_RESULT(c) ((c)->uc_mcontext.regs[0])
#define REG_PATH(c)   ((c)->uc_mcontext.regs[1])
#define REG_FLAGS(c)  ((c)->uc_mcontext.regs[2])
#endif

static void on_forbidden_call(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	const char *path = (const char *)(uintptr_t)REG_PATH(c);
	long flags = (long)REG_FLAGS(c), rc = -EACCES;

	(void)sig;
	if (info->si_syscall != SYS_openat)
		_exit(1);
	if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY)
		rc = sandbox_ask(the_job, path, strnlen(path, SANDBOX_QUESTION_MAX_BYTES));
	REG_RESULT(c) = rc;
}

int sandbox_ask_for_opens(struct sandbox_job *job)
{
	struct sigaction action = { .sa_sigaction = on_forbidden_call, .sa_flags = SA_SIGINFO };

	the_job = job;
	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}
