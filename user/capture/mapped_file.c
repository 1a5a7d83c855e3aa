/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/mapped_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/mem.h"

enum {
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
};

/* The device is not compared: overlay and btrfs show another one in maps than in stat. */
static int open_if_mapped(const char *path, const struct maps_entry *e)
{
	int fd = open(path, OPEN_FLAGS);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != e->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_map_file(pid_t pid, const struct maps_entry *e)
{
	char *path = xasprintf("/proc/%d/map_files/%lx-%lx", (int)pid, (unsigned long)e->start,
			       (unsigned long)e->end);
	int fd = open(path, OPEN_FLAGS);

	free(path);
	return fd;
}

int mapped_file_open(pid_t pid, const struct maps_entry *e)
{
	char *path;
	int fd = e->past ? -1 : open_map_file(pid, e);

	if (fd >= 0 || e->path[0] != '/')
		return fd;
	path = xasprintf("/proc/%d/root%s", (int)pid, e->path);
	fd = open_if_mapped(path, e);
	free(path);
	return fd >= 0 ? fd : open_if_mapped(e->path, e);
}
