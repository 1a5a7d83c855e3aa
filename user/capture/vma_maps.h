/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process maps: from /proc/PID/maps while it tells, and as the kernel told in the announcement when the process is
 * gone or has gone on to another program. Files then have the paths that earlier processes gave to the same files. */
#ifndef CP_USER_CAPTURE_VMA_MAPS_H
#define CP_USER_CAPTURE_VMA_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "symbolize/maps.h"
#include "user/base/err.h"

struct vma_maps;

struct vma_maps *vma_maps__new(void);	 /* owned by the caller */
void vma_maps__free(struct vma_maps *v); /* NULL is fine */

/* told may be NULL; then, and for memory that is no file's, only /proc tells. cnt mappings are told. 0 and maps to be released with maps_free
 * before the next call, or as maps_read. O(n log n). */
int vma_maps__read(struct vma_maps *v, pid_t pid, const struct cp_told *told, size_t cnt,
		   struct maps *ret, struct err *err);

#endif
