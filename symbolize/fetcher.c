/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/fetcher.h"
#include "symbolize/stop.h"
#include "user/base/mem.h"
#include "user/base/num.h"

#define NOBODY		   65534
#define FILE_MAX_BYTES	   ((rlim_t)8 << 30)
#define MEMORY_MAX_BYTES   ((rlim_t)4 << 30)
#define FAILURES_MAX	   3 /* then the servers are not asked again */
#define SERVER_TIMEOUT_S   "15"
#define CACHE_DIR_TEMPLATE "/tmp/causeprof-debuginfod-XXXXXX"
#define LIBRARY		   "libdebuginfod.so.1"

struct fetcher {
	int socket;  /* -1 = not started, or over */
	pid_t pid;   /* 0 = not started, or over */
	int stop_fd; /* readable: wait no longer; 0 = none */
	bool tried;
	int failure_cnt; /* in a row, other than "no such file" */
	uid_t uid;
	gid_t gid;
	char cache_dir[sizeof(CACHE_DIR_TEMPLATE)]; /* "" = the user's own */
};

struct fetcher *fetcher__new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct fetcher *f;

	if (!urls || !*urls)
		return NULL;
	f = xzalloc(sizeof(*f));
	f->socket = -1;
	f->uid = (uid_t)-1;
	return f;
}

static void end_child(struct fetcher *f)
{
	if (f->socket >= 0)
		close(f->socket);
	f->socket = -1;
	if (!f->pid)
		return;
	kill(f->pid, SIGKILL);
	while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
		;
	f->pid = 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path); /* whatever stays is the user's own affair */
	return 0;
}

/* The cache's files belong to the unprivileged user, who might put links there: whoever removes them must
 * be that user too. */
static void remove_cache(const struct fetcher *f)
{
	pid_t pid = *f->cache_dir ? fork() : -1;

	if (!pid) {
		if (setgroups(0, NULL) || setresgid(f->gid, f->gid, f->gid) ||
		    setresuid(f->uid, f->uid, f->uid))
			_exit(1);
		nftw(f->cache_dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
		_exit(0);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (*f->cache_dir)
		rmdir(f->cache_dir);
}

void fetcher__free(struct fetcher *f)
{
	if (!f)
		return;
	end_child(f);
	remove_cache(f);
	free(f);
}

uid_t fetcher__uid(const struct fetcher *f)
{
	return f->uid;
}

static bool id_from_environment(const char *name, uint32_t *ret)
{
	const char *text = getenv(name);
	uint64_t v;

	if (!text || parse_u64(text, &v, NULL) || !v || v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* Root becomes who called sudo, or nobody with a cache of its own; everybody else stays who he is. */
static int choose_user(struct fetcher *f)
{
	f->uid = geteuid();
	f->gid = getegid();
	if (f->uid)
		return 0;
	if (id_from_environment("SUDO_UID", &f->uid) && id_from_environment("SUDO_GID", &f->gid))
		return 0;
	f->uid = f->gid = NOBODY;
	if (getenv("DEBUGINFOD_CACHE_PATH"))
		return 0;
	memcpy(f->cache_dir, CACHE_DIR_TEMPLATE, sizeof(f->cache_dir));
	if (!mkdtemp(f->cache_dir)) {
		f->cache_dir[0] = '\0';
		return -errno;
	}
	return chown(f->cache_dir, f->uid, f->gid) ? -errno : 0;
}

static int limit(int resource, rlim_t max)
{
	const struct rlimit l = { max, max };

	return setrlimit(resource, &l);
}

/* The sanitizer reserves terabytes: no limit makes sense there. */
static int limit_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 0;
#else
	return limit(RLIMIT_AS, MEMORY_MAX_BYTES);
#endif
}

static int drop_privileges(const struct fetcher *f)
{
	const struct passwd *user = getpwuid(f->uid);

	if (*f->cache_dir)
		setenv("DEBUGINFOD_CACHE_PATH", f->cache_dir, 1);
	else if (user && !getuid())
		setenv("HOME", user->pw_dir, 1);
	setenv("DEBUGINFOD_TIMEOUT", SERVER_TIMEOUT_S, 0);
	unsetenv("DEBUGINFOD_VERBOSE");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || limit(RLIMIT_CORE, 0) ||
	    limit(RLIMIT_FSIZE, FILE_MAX_BYTES) || limit_memory())
		return -1;
	if (geteuid())
		return 0;
	return setgroups(0, NULL) || setresgid(f->gid, f->gid, f->gid) ||
			       setresuid(f->uid, f->uid, f->uid) ?
		       -1 :
		       0;
}

/* The child keeps the socket and three descriptors of /dev/null. */
static int keep_only(int socket)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -1;
	for (int fd = 0; fd < 3; fd++)
		if (fd != socket && dup2(null, fd) < 0)
			return -1;
	if (socket != 3 && dup2(socket, 3) < 0)
		return -1;
	return close_range(4, ~0u, 0);
}

static int send_reply(int socket, int rc, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &rc, sizeof(rc) };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* The library brings thirty others with it, which would make up most of every command's start. */
struct library {
	debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(debuginfod_client *, const unsigned char *, int, char **);
};

static bool load_library(struct library *l)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	*(void **)&l->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&l->find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	return l->begin && l->find_debuginfo;
}

/* Until the parent has no more questions; the process ends after that. */
static void serve(int socket)
{
	struct library lib = { 0 };
	debuginfod_client *client = load_library(&lib) ? lib.begin() : NULL;
	uint8_t id[FETCHER_ID_MAX_BYTES];
	ssize_t id_bytes;

	while ((id_bytes = recv(socket, id, sizeof(id), 0)) > 0) {
		int fd = client ? lib.find_debuginfo(client, id, (int)id_bytes, NULL) : -ELIBACC;

		if (send_reply(socket, fd < 0 ? fd : 0, fd))
			break;
		if (fd >= 0)
			close(fd);
	}
}

static int start(struct fetcher *f)
{
	int ends[2], rc = choose_user(f);

	f->tried = true;
	if (rc)
		return rc;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	f->pid = fork();
	if (!f->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!keep_only(ends[1]) && !drop_privileges(f))
			serve(3);
		_exit(0);
	}
	rc = -errno;
	close(ends[1]);
	if (f->pid < 0) {
		f->pid = 0;
		close(ends[0]);
		return rc;
	}
	f->socket = ends[0];
	return 0;
}

/* 0 and a descriptor, or the child's error. */
static int receive_reply(int socket, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	int rc = 0;
	struct iovec data = { &rc, sizeof(rc) };
	struct msghdr m = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *c;

	*fd = -1;
	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != sizeof(rc))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return *fd >= 0 ? 0 : (rc < 0 ? rc : -EPIPE);
}

void fetcher__stop_at(struct fetcher *f, int stop_fd)
{
	f->stop_fd = stop_fd;
}

static int ask(const struct fetcher *f, const uint8_t *build_id, size_t build_id_bytes, int *fd)
{
	int rc;

	if (send(f->socket, build_id, build_id_bytes, MSG_NOSIGNAL) < 0)
		return -EPIPE;
	rc = stop_wait(f->stop_fd, f->socket, FETCHER_WAIT_MAX_MS);
	return rc ? rc : receive_reply(f->socket, fd);
}

int fetcher__debug_file(struct fetcher *f, const uint8_t *build_id, size_t build_id_bytes)
{
	int rc = f->tried ? 0 : start(f), fd = -1;

	if (!build_id_bytes || build_id_bytes > FETCHER_ID_MAX_BYTES)
		return -ENOENT;
	if (!rc)
		rc = f->socket < 0 ? -EPIPE : ask(f, build_id, build_id_bytes, &fd);
	f->failure_cnt = rc && rc != -ENOENT ? f->failure_cnt + 1 : 0;
	if (rc == -ETIMEDOUT || rc == -EPIPE || rc == -ECANCELED || f->failure_cnt >= FAILURES_MAX)
		end_child(f);
	return rc ? rc : fd;
}
