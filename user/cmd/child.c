/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that is started for a capture; see child.h. */
#include "user/cmd/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t read_whole(int fd, void *at, size_t len_bytes)
{
	ssize_t n;

	do
		n = read(fd, at, len_bytes);
	while (n < 0 && errno == EINTR);
	return n;
}

/* The child, between fork and exec. */
static _Noreturn void become(char **argv, int go_fd, int error_fd)
{
	const char *slash = strrchr(argv[0], '/');
	char byte;
	int code;

	prctl(PR_SET_NAME, slash && slash[1] ? slash + 1 : argv[0]);
	signal(SIGXFSZ, SIG_DFL); /* our own way with file limits is not the command's */
	if (read_whole(go_fd, &byte, 1) != 1)
		_exit(CHILD_NOT_EXECUTED);
	execvp(argv[0], argv);
	code = errno;
	if (write(error_fd, &code, sizeof(code)) != sizeof(code))
		_exit(CHILD_NOT_EXECUTED);
	_exit(CHILD_NOT_EXECUTED);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int child__start(char **argv, struct child *c, struct err *err)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 }, rc = 0;

	*c = (struct child){ .pidfd = -1, .go_fd = -1, .error_fd = -1, .argv = argv };
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC))
		rc = err_errno(err, "cannot make a pipe");
	if (!rc && (c->pid = fork()) < 0)
		rc = err_errno(err, "cannot start %s", argv[0]);
	if (!rc && !c->pid) {
		close(go[1]); /* else it would wait for itself */
		close(error[0]);
		become(argv, go[0], error[1]);
	}
	c->go_fd = go[1];
	c->error_fd = error[0];
	close_fd(&go[0]);
	close_fd(&error[1]);
	if (!rc) {
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		if (c->pidfd < 0)
			rc = err_errno(err, "cannot watch for the end of %s", argv[0]);
	}
	if (rc)
		child__close(c);
	return rc;
}

int child__go(struct child *c, struct err *err)
{
	int code = 0, rc = 0;

	if (write(c->go_fd, "", 1) != 1)
		rc = err_errno(err, "cannot start %s", c->argv[0]);
	else if (read_whole(c->error_fd, &code, sizeof(code)) == sizeof(code)) {
		c->failed = true;
		rc = err_set(err, -code, "cannot execute %s: %s", c->argv[0], strerror(code));
	}
	close_fd(&c->go_fd);
	close_fd(&c->error_fd);
	return rc;
}

/* SI_KERNEL is the terminal's Ctrl-C, which the command has got itself. */
void child__signalled(const struct child *c, int stop_fd)
{
	struct signalfd_siginfo info;

	if (read_whole(stop_fd, &info, sizeof(info)) == sizeof(info) && c->pid > 0 &&
	    info.ssi_code != SI_KERNEL)
		kill(c->pid, (int)info.ssi_signo);
}

int child__wait(struct child *c, int stop_fd)
{
	struct pollfd fds[2] = { { .fd = c->pidfd, .events = POLLIN },
				 { .fd = stop_fd, .events = POLLIN } };
	siginfo_t info = { 0 };

	while (!(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents & POLLIN)
			child__signalled(c, stop_fd);
	}
	while (waitid(P_PID, (id_t)c->pid, &info, WEXITED) && errno == EINTR)
		;
	c->pid = 0;
	return info.si_code == CLD_EXITED ? info.si_status : CHILD_SIGNALED + info.si_status;
}

void child__close(struct child *c)
{
	bool waits = c->go_fd >= 0;

	close_fd(&c->go_fd);
	close_fd(&c->error_fd);
	if (c->pid > 0 && (waits || c->failed))
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
	close_fd(&c->pidfd);
	c->pid = 0;
}
