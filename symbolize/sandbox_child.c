/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keeper and its workers; see sandbox.h. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/sandbox_wire.h"

enum {
	NOBODY = 65534,
	KEEPER_SOCK = 3,
};

int sandbox_ask(struct sandbox_job *job, const void *question, size_t len_bytes)
{
	struct sandbox_word word = { .kind = SANDBOX_ASK };
	int fd = -1;
	size_t fd_cnt = 1;
	int rc;

	if (len_bytes > sizeof(word.text))
		return -ENAMETOOLONG;
	memcpy(word.text, question, len_bytes);
	word.text_bytes = (uint32_t)len_bytes;
	rc = sandbox_send(job->channel, &word, sizeof(word), NULL, 0);
	if (rc)
		return rc;
	if (sandbox_recv(job->channel, &word, sizeof(word), &fd, &fd_cnt) <= 0)
		return -EPIPE;
	if (word.code)
		return word.code;
	return fd_cnt ? fd : -EBADF;
}

static void limit(int resource, rlim_t value)
{
	struct rlimit r = { .rlim_cur = value, .rlim_max = value };

	(void)setrlimit(resource, &r);
}

/* The sanitizer reserves terabytes: no limit makes sense there. */
static void limit_memory(uint64_t memory_bytes)
{
#ifdef __SANITIZE_ADDRESS__
	(void)memory_bytes;
#else
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%lu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + memory_bytes);
#endif
}

static void set_limits(const struct sandbox_limits *l)
{
	struct itimerval wall = { .it_value = { .tv_sec = l->wall_ms / 1000,
						.tv_usec = l->wall_ms % 1000 * 1000L } };

	limit_memory(l->memory_bytes);
	limit(RLIMIT_CPU, l->cpu_s);
	limit(RLIMIT_FSIZE, l->reply_bytes);
	limit(RLIMIT_CORE, 0);
	(void)setitimer(ITIMER_REAL, &wall, NULL); /* its signal ends the process */
}

static int write_reply(int memory, const struct buf *reply)
{
	size_t done = 0;

	while (done < reply->len_bytes) {
		ssize_t n = write(memory, reply->data + done, reply->len_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* fds: channel, memory, files. Does not return. */
static void work(const struct sandbox_order *order, const int *fds, size_t fd_cnt,
		 sandbox_handler handler)
{
	struct sandbox_word word = { .kind = SANDBOX_DONE };
	struct sandbox_job job = { .kind = order->kind, .fd_cnt = fd_cnt - 2, .channel = fds[0] };
	enum sandbox_opens opens =
		order->kind == SANDBOX_LINES ? SANDBOX_OPENS_ASK : SANDBOX_OPENS_END;
	struct err err = { 0 };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	job.args_bytes = order->args_bytes;
	memcpy(job.args, order->args, order->args_bytes);
	memcpy(job.fds, fds + 2, job.fd_cnt * sizeof(int));
	set_limits(&order->limits);
	if (opens == SANDBOX_OPENS_ASK && sandbox_ask_for_opens(&job))
		_exit(1);
	if (sandbox_lock_up(opens))
		_exit(1);
	word.code = handler(&job, &err);
	if (!word.code)
		word.code = write_reply(fds[1], &job.reply);
	word.text_bytes = (uint32_t)strnlen(err.msg, sizeof(err.msg));
	memcpy(word.text, err.msg, word.text_bytes);
	(void)sandbox_send(fds[0], &word, offsetof(struct sandbox_word, text) + word.text_bytes,
			   NULL, 0);
	_exit(0);
}

/* The keeper needs no right that it had: files come as open descriptors. */
static void drop_rights(void)
{
	if (geteuid() == 0) {
		(void)setgroups(0, NULL);
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(1);
	}
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of identity, which clears it */
}

/* A copy of another sandbox's socket would keep that one from ending. Older profiles of containers do not know
 * close_range. */
static void close_rest(int first)
{
	struct rlimit r = { .rlim_cur = 1024 };

	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	(void)getrlimit(RLIMIT_NOFILE, &r);
	for (int fd = first; fd < (int)(r.rlim_cur < 1 << 20 ? r.rlim_cur : 1 << 20); fd++)
		(void)close(fd);
}

/* No descriptor of the parent stays open, no signal of its terminal or handler of its own. */
static void cut_off(int sock)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	(void)setsid();
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* the limits work by signals */
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd);
	if (sock != KEEPER_SOCK)
		(void)dup2(sock, KEEPER_SOCK);
	close_rest(KEEPER_SOCK + 1);
}

static uint64_t cpu_ns_of(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static struct sandbox_end start(const struct sandbox_order *order, const int *fds, size_t fd_cnt,
				sandbox_handler handler)
{
	struct sandbox_end end = { .status = 1 << 8 }; /* as exit(1) */
	struct rusage usage = { 0 };
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return end;
	if (!pid) {
		close(KEEPER_SOCK);
		work(order, fds, fd_cnt, handler);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	end.status = status;
	end.cpu_ns = cpu_ns_of(&usage);
	return end;
}

static bool order_is_whole(const struct sandbox_order *order, ssize_t len_bytes)
{
	const ssize_t head_bytes = offsetof(struct sandbox_order, args);

	return len_bytes >= head_bytes && order->args_bytes == (size_t)(len_bytes - head_bytes);
}

void sandbox_keep(int sock, const sandbox_handler *handlers)
{
	struct sandbox_order order = { 0 };

	cut_off(sock);
	drop_rights();
	for (;;) {
		struct sandbox_end end = { .status = 1 << 8 };
		int fds[SANDBOX_FD_MAX + 2];
		size_t fd_cnt = SANDBOX_FD_MAX + 2;

		if (!order_is_whole(&order,
				    sandbox_recv(KEEPER_SOCK, &order, sizeof(order), fds, &fd_cnt)))
			return;
		if (fd_cnt == order.fd_cnt + 2 && order.kind < SANDBOX_KIND_MAX &&
		    handlers[order.kind])
			end = start(&order, fds, fd_cnt, handlers[order.kind]);
		for (size_t i = 0; i < fd_cnt; i++)
			close(fds[i]);
		if (sandbox_send(KEEPER_SOCK, &end, sizeof(end), NULL, 0))
			return;
	}
}
