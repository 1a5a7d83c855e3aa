/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/mem.h"

int process_memory_open(struct process_memory *m, uint32_t process, uint32_t pid)
{
	struct process_memory_file *f;
	char *path;
	int fd;

	for (uint32_t i = 0; i < m->cnt; i++)
		if (m->files[i].process == process)
			return m->files[i].fd;
	path = xasprintf("/proc/%u/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (m->cnt < PROCESS_MEMORY_OPEN_MAX) {
		f = &m->files[m->cnt++];
	} else {
		f = &m->files[m->next++ % PROCESS_MEMORY_OPEN_MAX];
		close(f->fd);
	}
	*f = (struct process_memory_file){ .process = process, .fd = fd };
	return fd;
}

int process_memory_read(int fd, uint64_t addr, void *to, size_t len_bytes)
{
	size_t done = 0;

	if (addr > INT64_MAX - len_bytes)
		return -EFAULT;
	while (done < len_bytes) {
		ssize_t n = pread(fd, (char *)to + done, len_bytes - done, (off_t)(addr + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ESRCH;
		done += (size_t)n;
	}
	return 0;
}

void process_memory_close(struct process_memory *m)
{
	for (uint32_t i = 0; i < m->cnt; i++)
		close(m->files[i].fd);
	memset(m, 0, sizeof(*m));
}
