/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output files that are whole or absent; see outfile.h. The temporary file has no name at all (O_TMPFILE)
 * where the filesystem can do that, so that even SIGKILL leaves nothing behind; elsewhere it is named
 * .NAME.XXXXXX. */
#include "user/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	OUTFILE_BUF_BYTES = 256 * 1024,
	LINK_TRIES = 16
};

struct outfile {
	char *path;
	char *temp_path; /* NULL while the file has no name of its own */
	enum outfile_mode mode;
	int fd;
	int rc;	     /* first error */
	bool direct; /* standard output, a device or a pipe */
	bool committed;
	uint64_t size_bytes;
	size_t buf_bytes;
	char buf[OUTFILE_BUF_BYTES];
};

static const char *shown_name(const struct outfile *f)
{
	return strcmp(f->path, "-") ? f->path : "standard output";
}

/* The other end of a pipe may never come, and whoever captures has blocked the signals that would end the wait, to take
 * them by a descriptor which nobody reads by then. Of a direct output nothing is left behind: it may end there. Gives what
 * was blocked before. */
static sigset_t let_signals_end(void)
{
	sigset_t ending, before;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	pthread_sigmask(SIG_UNBLOCK, &ending, &before);
	return before;
}

static int open_direct(const char *path)
{
	sigset_t before = let_signals_end();
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static ssize_t write_some(const struct outfile *f, const char *data, size_t len_bytes)
{
	sigset_t before;
	ssize_t n;

	if (!f->direct)
		return write(f->fd, data, len_bytes);
	before = let_signals_end();
	n = write(f->fd, data, len_bytes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

static char *parent_dir(const char *path)
{
	char *copy = xstrdup(path);
	char *dir = xstrdup(dirname(copy));

	free(copy);
	return dir;
}

/* Under sudo the result should belong to the person who asked for it. */
static void give_to_invoking_user(int fd)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	uint64_t uid, gid;

	if (geteuid() != 0 || !uid_text || !gid_text)
		return;
	if (parse_u64(uid_text, &uid, NULL) || parse_u64(gid_text, &gid, NULL) ||
	    uid >= UINT32_MAX || gid >= UINT32_MAX) /* the last number is nobody's */
		return;
	(void)!fchown(fd, (uid_t)uid, (gid_t)gid); /* root keeps it where that is not allowed */
}

static int open_named_temp(struct outfile *f, struct err *err)
{
	char *dir = parent_dir(f->path), *copy = xstrdup(f->path);

	f->temp_path = xasprintf("%s/.%s.XXXXXX", dir, basename(copy));
	free(dir);
	free(copy);
	f->fd = mkostemp(f->temp_path, O_CLOEXEC);
	if (f->fd >= 0) {
		fchmod(f->fd, 0644);
		return 0;
	}
	free(f->temp_path);
	f->temp_path = NULL;
	return err_errno(err, "cannot write %s", f->path);
}

static int open_temp(struct outfile *f, struct err *err)
{
	char *dir = parent_dir(f->path);

	f->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	free(dir);
	return f->fd >= 0 ? 0 : open_named_temp(f, err);
}

/* What would only be found when the file gets its name, after all the work. */
static int check_name(const struct outfile *f, struct err *err)
{
	char *copy = xstrdup(f->path);
	size_t name_bytes = strlen(basename(copy));
	struct stat st;

	free(copy);
	if (!f->path[0])
		return err_set(err, -ENOENT, "the name of the output is empty");
	if (name_bytes > NAME_MAX)
		return err_set(err, -ENAMETOOLONG,
			       "cannot write %s: names of files have at most %d bytes", f->path,
			       NAME_MAX);
	if (f->mode == OUTFILE_NEW && !lstat(f->path, &st) && S_ISLNK(st.st_mode) &&
	    stat(f->path, &st))
		return err_set(err, -EEXIST,
			       "%s exists already, as a symbolic link to nowhere; name another "
			       "file with -o, or remove it",
			       f->path);
	return 0;
}

static int open_target(struct outfile *f, struct err *err)
{
	struct stat st;
	int rc = check_name(f, err);

	if (rc)
		return rc;
	if (!strcmp(f->path, "-")) {
		f->direct = true;
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return f->fd < 0 ? err_errno(err, "cannot write to standard output") : 0;
	}
	if (!stat(f->path, &st)) {
		if (S_ISDIR(st.st_mode))
			return err_set(err, -EISDIR, "cannot write %s: it is a directory", f->path);
		if (!S_ISREG(st.st_mode)) {
			f->direct = true;
			f->fd = open_direct(f->path);
			return f->fd < 0 ? err_errno(err, "cannot write %s", f->path) : 0;
		}
		if (f->mode == OUTFILE_NEW)
			return err_set(err, -EEXIST,
				       "%s exists already; name another file with -o, or remove it",
				       f->path);
	}
	return open_temp(f, err);
}

int outfile_open(const char *path, enum outfile_mode mode, struct outfile **ret, struct err *err)
{
	struct outfile *f = xzalloc(sizeof(*f));
	int rc;

	f->fd = -1;
	f->path = xstrdup(path);
	f->mode = mode;
	rc = open_target(f, err);
	if (rc)
		goto out;
	if (!f->direct)
		give_to_invoking_user(f->fd);
	*ret = f;
	f = NULL;
out:
	outfile_close(f);
	return rc;
}

static int write_all(struct outfile *f, const char *data, size_t len_bytes, struct err *err)
{
	while (len_bytes && !f->rc) {
		ssize_t n = write_some(f, data, len_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			f->rc = err_errno(err, "writing %s", shown_name(f));
			break;
		}
		data += n;
		len_bytes -= (size_t)n;
	}
	return f->rc;
}

static int flush(struct outfile *f, struct err *err)
{
	size_t len_bytes = f->buf_bytes;

	f->buf_bytes = 0;
	return write_all(f, f->buf, len_bytes, err);
}

int outfile_write(struct outfile *f, const void *data, size_t len_bytes, struct err *err)
{
	f->size_bytes += len_bytes;
	if (len_bytes > sizeof(f->buf) - f->buf_bytes && flush(f, err))
		return f->rc;
	if (len_bytes >= sizeof(f->buf))
		return write_all(f, data, len_bytes, err);
	memcpy(f->buf + f->buf_bytes, data, len_bytes);
	f->buf_bytes += len_bytes;
	return f->rc ? err_set(err, f->rc, "writing %s failed", shown_name(f)) : 0;
}

int outfile_pwrite(struct outfile *f, const void *data, size_t len_bytes, uint64_t off_bytes,
		   struct err *err)
{
	const char *at = data;

	if (f->direct)
		return err_set(err, -ESPIPE, "cannot write %s: it is not a regular file", f->path);
	if (flush(f, err))
		return f->rc;
	while (len_bytes) {
		ssize_t n = pwrite(f->fd, at, len_bytes, (off_t)off_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return f->rc = err_errno(err, "writing %s", shown_name(f));
		at += n;
		off_bytes += (uint64_t)n;
		len_bytes -= (size_t)n;
	}
	return 0;
}

int outfile_fd(const struct outfile *f)
{
	return f->fd;
}

bool outfile_is_direct(const struct outfile *f)
{
	return f->direct;
}

uint64_t outfile_size_bytes(const struct outfile *f)
{
	return f->size_bytes;
}

/* Gives the nameless file a name: directly where the target is free, through a temporary name where it
 * must replace a file (linkat cannot replace). */
static int link_nameless(struct outfile *f, struct err *err)
{
	char *proc_path = xasprintf("/proc/self/fd/%d", f->fd);
	char *dir = parent_dir(f->path);
	int rc = 0;

	if (!linkat(AT_FDCWD, proc_path, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW))
		goto out;
	if (errno != EEXIST || f->mode == OUTFILE_NEW) {
		rc = err_errno(err, "cannot create %s", f->path);
		goto out;
	}
	for (int i = 0; i < LINK_TRIES && !f->temp_path; i++) {
		char *temp = xasprintf("%s/.causeprof-%d-%d", dir, (int)getpid(), i);

		rc = linkat(AT_FDCWD, proc_path, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
		if (!rc)
			f->temp_path = temp;
		else
			free(temp);
	}
	if (rc)
		rc = err_set(err, rc, "cannot create %s: %s", f->path, strerror(-rc));
out:
	free(proc_path);
	free(dir);
	return rc;
}

static int move_into_place(struct outfile *f, struct err *err)
{
	int rc = f->temp_path ? 0 : link_nameless(f, err);

	if (rc || !f->temp_path)
		return rc;
	if (f->mode == OUTFILE_NEW) {
		/* link, not rename: it must not replace what appeared meanwhile */
		if (link(f->temp_path, f->path))
			return err_errno(err, "cannot create %s", f->path);
		unlink(f->temp_path);
	} else if (rename(f->temp_path, f->path)) {
		return err_errno(err, "cannot create %s", f->path);
	}
	free(f->temp_path);
	f->temp_path = NULL;
	return 0;
}

int outfile_commit(struct outfile *f, struct err *err)
{
	int rc = flush(f, err);

	if (!rc && !f->direct)
		rc = move_into_place(f, err);
	if (!rc)
		f->committed = true;
	return f->rc = rc;
}

void outfile_close(struct outfile *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->temp_path)
		unlink(f->temp_path);
	free(f->temp_path);
	free(f->path);
	free(f);
}

int outfile_put(const char *path, enum outfile_mode mode, const void *data, size_t len_bytes,
		struct err *err)
{
	struct outfile *f = NULL;
	int rc = outfile_open(path, mode, &f, err);

	if (!rc)
		rc = outfile_write(f, data, len_bytes, err);
	if (!rc)
		rc = outfile_commit(f, err);
	outfile_close(f);
	return rc;
}
