/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The perf map of one process: /tmp/perf-NSPID.map inside the target's root, NSPID being its PID in its own
 * namespace. /tmp belongs to everybody, so the file is believed only if it is a regular file, no symbolic
 * link, owned by the process's user or root, and not older than the process (a leftover of an earlier owner
 * of the PID). */
#ifndef CP_SYMBOLIZE_PERFMAP_FILE_H
#define CP_SYMBOLIZE_PERFMAP_FILE_H

#include <stdint.h>

#include "user/base/buf.h"

struct addrspace;
struct perfmap_file;

/* Never fails; without a map there are no names. */
struct perfmap_file *perfmap_file__open(const struct addrspace *a);
void perfmap_file__free(struct perfmap_file *p);
/* Reads the file again when it has grown and the address is not in it. The name is borrowed until the next
 * call. */
const char *perfmap_file__find(struct perfmap_file *p, uint64_t addr);
void perfmap_file__why(const struct perfmap_file *p, struct buf *out);

#endif
