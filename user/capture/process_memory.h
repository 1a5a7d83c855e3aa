/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of watched processes, through /proc/PID/mem. An open file there belongs to one address space: when the
 * process has ended or executed another program it reads nothing more, and a process that gets the same PID later is
 * never taken for it. */
#ifndef CP_USER_CAPTURE_PROCESS_MEMORY_H
#define CP_USER_CAPTURE_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
	PROCESS_MEMORY_OPEN_MAX = 256, /* files; beyond that those of longest standing are closed */
};

struct process_memory_file {
	uint32_t process;
	int fd;
};

/* Zero-initialised is empty. */
struct process_memory {
	struct process_memory_file files[PROCESS_MEMORY_OPEN_MAX];
	uint32_t cnt, next;
};

/* A file of the process by its number in the capture, opened if it was not; borrowed. Or a negative errno. */
int process_memory_open(struct process_memory *m, uint32_t process, uint32_t pid);
/* All of it or nothing: 0, -ESRCH when the address space is gone, or another negative errno. */
int process_memory_read(int fd, uint64_t addr, void *to, size_t len_bytes);
void process_memory_close(struct process_memory *m);

#endif
