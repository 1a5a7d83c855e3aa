/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one process as it was mapped when it was looked at: regions of addresses with the modules
 * behind them, and the perf map of its JIT compiler. */
#ifndef CP_SYMBOLIZE_ADDRSPACE_H
#define CP_SYMBOLIZE_ADDRSPACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolize/maps.h"
#include "symbolize/module.h"
#include "symbolize/symbolizer.h"

/* An executable mapping. */
struct region {
	uint64_t start, end;
	uint64_t off_bytes;    /* of start in the module's file */
	struct module *module; /* NULL = no file; borrowed */
	const char *path; /* "" for anonymous memory; borrowed from the strings of the symbolizer */
	const char *trail;	/* what was tried to open it, or ""; borrowed likewise */
	enum sym_reason reason; /* why there is no module */
	bool remapped; /* anonymous copy of a file's code: off_bytes is not of the mapping itself */
};

struct addrspace {
	uint64_t key;
	pid_t pid;		/* 0 = from a stored profile */
	pid_t ns_pid;		/* inside of its own PID namespace */
	uid_t uid;		/* the process's effective user */
	uint64_t start_s;	/* when it was started, seconds since the epoch; 0 = unknown */
	int root_fd;		/* of its root directory; borrowed; -1 = unknown */
	enum sym_reason reason; /* why there are no regions */
	struct region *regions; /* by start */
	size_t cnt, cap;
	struct perfmap_file *perfmap; /* NULL = not looked for yet */
};

struct addrspace *addrspace__new(uint64_t key, pid_t pid);
void addrspace__free(struct addrspace *a);
/* The region that holds addr, or NULL; borrowed. O(log n). */
const struct region *addrspace__find(const struct addrspace *a, uint64_t addr);
/* Makes room for so many regions, and no more: captures have a space for each of many thousand processes. Once. */
void addrspace__reserve(struct addrspace *a, size_t cnt);
/* Appends a region that there is room for; they must come sorted. */
struct region *addrspace__add(struct addrspace *a, const struct region *r);
/* Fills ns_pid, uid and start_s from /proc/PID. */
void addrspace__read_status(struct addrspace *a);
/* The name that the process's perf map has for addr, or NULL; borrowed until the next call. */
const char *addrspace__jit_name(struct addrspace *a, uint64_t addr);
/* Appends what was tried to find the perf map. */
void addrspace__why_jit(const struct addrspace *a, struct buf *out);

#endif
