/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/mapped_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/mem.h"

int mapped_file_open(pid_t pid, const struct maps_entry *e)
{
	char *path = xasprintf("/proc/%d/map_files/%lx-%lx", (int)pid, (unsigned long)e->start,
			       (unsigned long)e->end);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	free(path);
	if (fd >= 0)
		return fd;
	path = xasprintf("/proc/%d/root%s", (int)pid, e->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != e->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
