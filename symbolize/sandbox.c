/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parent's side of the sandbox; see sandbox.h. */
#include "symbolize/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/sandbox_wire.h"
#include "symbolize/stop.h"
#include "user/base/mem.h"

const struct sandbox_limits sandbox_limits_default = {
	.memory_bytes = 1ULL << 30,
	.reply_bytes = 512ULL << 20,
	.cpu_s = 5,
	.wall_ms = 10000,
};

enum {
	GRACE_MS = 2000, /* the worker's own limits strike first */
};

struct sandbox {
	pid_t keeper;
	int sock;			    /* -1: there is no keeper */
	uint32_t keeper_no;		    /* how many there have been */
	uint32_t started_cnt, finished_cnt; /* requests to this one */
	uint64_t cpu_ns;		    /* of all workers so far */
	int stop_fd;			    /* readable: wait no longer; 0 = none */
	bool is_broken; /* an answer is missing: what comes next cannot be told apart */
	const sandbox_handler *handlers;
};

int sandbox_send(int sock, const void *data, size_t len_bytes, const int *fds, size_t fd_cnt)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * (SANDBOX_FD_MAX + 2))];
	} control = { 0 };
	struct iovec iov = { (void *)data, len_bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (fd_cnt > SANDBOX_FD_MAX + 2)
		return -EINVAL;
	if (fd_cnt) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_cnt);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_cnt);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_cnt);
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t sandbox_recv(int sock, void *data, size_t cap_bytes, int *fds, size_t *fd_cnt)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * (SANDBOX_FD_MAX + 2))];
	} control;
	struct iovec iov = { data, cap_bytes };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	size_t room = *fd_cnt;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*fd_cnt = 0;
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t cnt = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; c->cmsg_type == SCM_RIGHTS && i < cnt; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (*fd_cnt < room)
				fds[(*fd_cnt)++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

static int start_keeper(struct sandbox *s, struct err *err)
{
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return err_errno(err, "cannot make a socket for the sandbox");
	s->keeper = fork();
	if (s->keeper < 0) {
		int rc = err_errno(err, "cannot start the sandbox");

		close(socks[0]);
		close(socks[1]);
		return rc;
	}
	if (!s->keeper) {
		close(socks[0]);
		sandbox_keep(socks[1], s->handlers);
		_exit(0);
	}
	close(socks[1]);
	s->sock = socks[0];
	s->is_broken = false;
	s->keeper_no++;
	s->started_cnt = s->finished_cnt = 0;
	return 0;
}

static void end_keeper(struct sandbox *s)
{
	if (s->sock < 0)
		return;
	close(s->sock);
	s->sock = -1;
	if (s->is_broken || s->started_cnt != s->finished_cnt)
		kill(s->keeper, SIGKILL);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
}

int sandbox_open(const sandbox_handler handlers[SANDBOX_KIND_MAX], struct sandbox **ret,
		 struct err *err)
{
	struct sandbox *s = xzalloc(sizeof(*s));
	int rc;

	s->handlers = handlers;
	s->sock = -1;
	rc = start_keeper(s, err);
	if (rc)
		free(s);
	else
		*ret = s;
	return rc;
}

void sandbox_close(struct sandbox *s)
{
	if (!s)
		return;
	end_keeper(s);
	free(s);
}

void sandbox_stop_at(struct sandbox *s, int stop_fd)
{
	s->stop_fd = stop_fd;
}

static void answer(const struct sandbox_ticket *t, const struct sandbox_word *word)
{
	struct sandbox_word reply = { .kind = SANDBOX_GIVE, .code = -ENOENT };
	int fd = -ENOENT;

	if (t->answer)
		fd = t->answer(t->ctx, word->text, word->text_bytes);
	reply.code = fd < 0 ? fd : 0;
	(void)sandbox_send(t->channel, &reply, offsetof(struct sandbox_word, text), &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

/* Talks with the worker until it is done (1) or gone (0); a negative errno if neither happens. */
static int converse(const struct sandbox *s, const struct sandbox_ticket *t, int timeout_ms,
		    struct sandbox_word *word)
{
	const size_t head_bytes = offsetof(struct sandbox_word, text);

	for (;;) {
		size_t none = 0;
		ssize_t n = stop_wait(s->stop_fd, t->channel, timeout_ms);

		if (n < 0)
			return (int)n;
		n = sandbox_recv(t->channel, word, sizeof(*word), NULL, &none);
		if (n < (ssize_t)head_bytes || word->text_bytes > (size_t)n - head_bytes)
			return 0;
		if (word->kind == SANDBOX_DONE)
			return 1;
		if (word->kind == SANDBOX_ASK)
			answer(t, word);
	}
}

static const char *death_of(int status, const struct sandbox_limits *limits)
{
	if (WIFEXITED(status))
		return "ended without an answer";
	switch (WTERMSIG(status)) {
	case SIGALRM:
		return "took too long";
	case SIGXCPU:
	case SIGKILL:
		return limits->cpu_s ? "used too much CPU time" : "was killed";
	case SIGSYS:
		return "tried what it may not do";
	case SIGABRT:
		return "ran out of memory";
	case SIGXFSZ:
		return "had too much to say";
	default:
		return "crashed";
	}
}

/* A worker that was never there, or not given the CPU, says nothing about the file. */
static bool is_own_fault(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
}

/* The worker's own words, as text that can be printed. */
static int failure_of(const struct sandbox_word *word, struct err *err)
{
	char text[256];
	size_t len_bytes =
		word->text_bytes < sizeof(text) - 1 ? word->text_bytes : sizeof(text) - 1;

	memcpy(text, word->text, len_bytes);
	text[len_bytes] = '\0';
	for (size_t i = 0; i < len_bytes; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	return err_set(err, word->code < 0 && word->code >= -4095 ? word->code : -EPROTO, "%s",
		       text);
}

static int map_reply(int memory, const struct sandbox_limits *limits, struct sandbox_reply *ret,
		     struct err *err)
{
	struct stat st;
	void *p;

	if (fstat(memory, &st))
		return err_errno(err, "cannot look at the sandbox's answer");
	if (st.st_size < 0 || (uint64_t)st.st_size > limits->reply_bytes)
		return err_set(err, -E2BIG, "the sandbox's answer is too large");
	if (!st.st_size)
		return 0;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, memory, 0);
	if (p == MAP_FAILED)
		return err_errno(err, "cannot map the sandbox's answer");
	*ret = (struct sandbox_reply){ .data = p, .len_bytes = (size_t)st.st_size };
	return 0;
}

/* The request is under way: what comes of it? */
static int finish(struct sandbox *s, const struct sandbox_ticket *t, struct sandbox_reply *ret,
		  struct err *err)
{
	const struct sandbox_limits *limits = t->limits ? t->limits : &sandbox_limits_default;
	int timeout_ms = (int)limits->wall_ms + GRACE_MS, said, rc;
	struct sandbox_word word = { 0 };
	struct sandbox_end end = { 0 };
	size_t none = 0;

	said = converse(s, t, timeout_ms, &word);
	rc = said < 0 ? said : stop_wait(s->stop_fd, s->sock, timeout_ms);
	if (rc || sandbox_recv(s->sock, &end, sizeof(end), NULL, &none) != sizeof(end)) {
		s->is_broken = true;
		return rc == -ECANCELED ? err_set(err, rc, "given up") :
					  err_set(err, -EPIPE, "the sandbox does not answer");
	}
	s->cpu_ns += end.cpu_ns;
	if (end.status || !said)
		return err_set(err, is_own_fault(end.status) ? -EPROTO : -EAGAIN,
			       "the process that read it %s", death_of(end.status, limits));
	if (word.code)
		return failure_of(&word, err);
	return map_reply(t->memory, limits, ret, err);
}

static int send_order(struct sandbox *s, const struct sandbox_request *req, const int ends[2],
		      struct err *err)
{
	struct sandbox_order order = { .kind = req->kind,
				       .fd_cnt = (uint32_t)req->fd_cnt,
				       .args_bytes = (uint32_t)req->args_bytes,
				       .limits = req->limits ? *req->limits :
							       sandbox_limits_default };
	int fds[SANDBOX_FD_MAX + 2] = { ends[0], ends[1] };
	int rc;

	if (req->args_bytes)
		memcpy(order.args, req->args, req->args_bytes);
	for (size_t i = 0; i < req->fd_cnt; i++)
		fds[i + 2] = req->fds[i];
	rc = sandbox_send(s->sock, &order, offsetof(struct sandbox_order, args) + req->args_bytes,
			  fds, req->fd_cnt + 2);
	return rc ? err_set(err, -EPIPE, "the sandbox is gone") : 0;
}

int sandbox_start(struct sandbox *s, const struct sandbox_request *req, struct sandbox_ticket *ret,
		  struct err *err)
{
	int channel[2], memory, rc;

	if (stop_asked(s->stop_fd))
		return err_set(err, -ECANCELED, "given up");
	if (s->is_broken)
		end_keeper(s);
	if (s->sock < 0) {
		rc = start_keeper(s, err);
		if (rc)
			return rc;
	}
	if (req->kind >= SANDBOX_KIND_MAX || req->fd_cnt > SANDBOX_FD_MAX ||
	    req->args_bytes > SANDBOX_ARGS_MAX_BYTES)
		return err_set(err, -EINVAL, "a request that the sandbox does not take");
	memory = memfd_create("causeprof-reply", MFD_CLOEXEC);
	if (memory < 0)
		return err_errno(err, "cannot make memory for the sandbox");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		rc = err_errno(err, "cannot make a socket for the sandbox");
		close(memory);
		return rc;
	}
	*ret = (struct sandbox_ticket){ .channel = channel[0],
					.memory = memory,
					.keeper_no = s->keeper_no,
					.number = s->started_cnt,
					.limits = req->limits,
					.answer = req->answer,
					.ctx = req->ctx };
	rc = send_order(s, req, (const int[]){ channel[1], memory }, err);
	close(channel[1]);
	if (rc) {
		sandbox_give_up(s, ret);
		return rc;
	}
	s->started_cnt++;
	return 0;
}

int sandbox_finish(struct sandbox *s, const struct sandbox_ticket *t, struct sandbox_reply *ret,
		   struct err *err)
{
	bool gone = s->is_broken || t->keeper_no != s->keeper_no;
	int rc;

	*ret = (struct sandbox_reply){ 0 };
	if (!gone && t->number != s->finished_cnt)
		return err_set(err, -EINVAL, "a sandbox's requests are finished in order");
	s->finished_cnt += !gone;
	rc = gone ? err_set(err, -EPIPE, "the sandbox is gone") : finish(s, t, ret, err);
	close(t->channel);
	close(t->memory);
	return rc;
}

void sandbox_give_up(struct sandbox *s, const struct sandbox_ticket *t)
{
	if (t->keeper_no == s->keeper_no)
		s->is_broken = true;
	close(t->channel);
	close(t->memory);
}

static int run_once(struct sandbox *s, const struct sandbox_request *req, struct sandbox_reply *ret,
		    struct err *err)
{
	struct sandbox_ticket t;
	int rc = sandbox_start(s, req, &t, err);

	*ret = (struct sandbox_reply){ 0 };
	return rc ? rc : sandbox_finish(s, &t, ret, err);
}

int sandbox_run(struct sandbox *s, const struct sandbox_request *req, struct sandbox_reply *ret,
		struct err *err)
{
	int rc = run_once(s, req, ret, err);

	return rc == -EPIPE || rc == -EAGAIN ? run_once(s, req, ret, err) : rc;
}

bool sandbox_blames_file(int rc)
{
	switch (rc) {
	case 0:
	case -EAGAIN:
	case -EPIPE:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -ENOBUFS:
	case -EPERM:
		return false;
	default:
		return true;
	}
}

void sandbox_reply_free(struct sandbox_reply *r)
{
	if (r->data)
		munmap((void *)r->data, r->len_bytes);
	*r = (struct sandbox_reply){ 0 };
}

uint64_t sandbox_cpu_ns(const struct sandbox *s)
{
	return s ? s->cpu_ns : 0;
}
