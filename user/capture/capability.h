/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Root's rights in parts (capabilities(7)), as far as a capture needs them: CAP_BPF loads programs,
 * CAP_PERFMON lets them trace and sample, CAP_SYS_PTRACE opens the mappings and files of other users'
 * processes, CAP_SYSLOG shows kernel addresses. */
#ifndef CP_USER_CAPTURE_CAPABILITY_H
#define CP_USER_CAPTURE_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

enum capability {
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_SYSLOG = 34,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};

/* The effective set. */
bool capability_held(enum capability c);
/* ... or, as the kernel has it for CAP_BPF and CAP_PERFMON, CAP_SYS_ADMIN. */
bool capability_granted(enum capability c);

/* What loading needs and does not have: "CAP_BPF", "CAP_BPF and CAP_PERFMON", ...; NULL if nothing. */
const char *capability_lacking(void);

/* Whether the files of a process (its number in decimal) can be opened. The lists of its mappings are no sign:
 * newer kernels open them to CAP_PERFMON. One that is gone counts as open. */
bool capability_may_look_into(const char *pid);

/* Whether /proc/kallsyms tells addresses or zeros. */
bool capability_kernel_addresses(void);

/* One line for each capability whose absence takes a part of the result: of kernel frames, of processes
 * whose mappings may not be read. */
void capability_put_notes(const uint32_t *pids, size_t cnt, bool kernel_frames, struct buf *out);

#endif
