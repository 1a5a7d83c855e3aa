/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbolize/locate.h"

/* From a descriptor that can do nothing (O_PATH) to one that reads, if it is a regular file. Closes the
 * first one. */
static int reopen_regular(int path_fd)
{
	char self[64];
	struct stat st;
	int fd = -EINVAL;

	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st)) {
		fd = -errno;
	} else if (S_ISREG(st.st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(path_fd);
	return fd;
}

static int open_beneath(int root_fd, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return reopen_regular(fd < 0 ? -errno : (int)fd);
}

int locate_open_in_root(int root_fd, const char *path)
{
	return open_beneath(root_fd, path, 0);
}

int locate_open_in_root_nofollow(int root_fd, const char *path)
{
	return open_beneath(root_fd, path, O_NOFOLLOW);
}

int locate_open_named(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return reopen_regular(fd < 0 ? -errno : fd);
}

static void note(struct buf *trail, const char *what, const char *path, const char *outcome)
{
	buf_printf(trail, "%s %s: %s\n", what, path, outcome);
}

/* The trail does not name the process: it is then one string for all that map the file. */
static int open_map_files(pid_t pid, const struct maps_entry *e, struct buf *trail)
{
	char path[96];
	int fd;

	if (e->past) {
		note(trail, "mapped file", "/proc/PID/map_files",
		     "not asked: the process has ended, or runs another program by now");
		return -ENOENT;
	}
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, e->start,
		 e->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	fd = reopen_regular(fd < 0 ? -errno : fd);
	note(trail, "mapped file", "/proc/PID/map_files", fd < 0 ? strerror(-fd) : "opened");
	return fd;
}

/* The device is not compared: overlay and btrfs show another one in maps than in stat. */
static int open_path(int root_fd, const struct maps_entry *e, enum sym_reason *reason,
		     struct buf *trail)
{
	struct stat st;
	int fd = locate_open_in_root(root_fd, e->path);

	if (fd < 0) {
		note(trail, "path", e->path, strerror(-fd));
		*reason = e->deleted || fd == -ENOENT ? SYM_DELETED : SYM_UNREADABLE;
		return -1;
	}
	if (fstat(fd, &st) || st.st_ino != e->inode) {
		note(trail, "path", e->path, "another file than the one that is mapped");
		*reason = SYM_REPLACED;
		close(fd);
		return -1;
	}
	note(trail, "path", e->path, "opened; its inode is the mapped one");
	return fd;
}

int locate_open_mapped(pid_t pid, int root_fd, const struct maps_entry *entry,
		       enum sym_reason *reason, struct buf *trail)
{
	int fd = open_map_files(pid, entry, trail);

	*reason = SYM_OK;
	if (fd >= 0)
		return fd;
	if (fd == -EINVAL) { /* a device */
		*reason = SYM_UNREADABLE;
		return -1;
	}
	if (root_fd >= 0 && entry->path[0] == '/')
		return open_path(root_fd, entry, reason, trail);
	*reason = fd == -ENOENT ? SYM_EXITED : SYM_UNREADABLE;
	return -1;
}
