/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes by name: those that live now and whose name, as /proc/PID/comm has it, matches a shell pattern
 * (glob(7)). The kernel keeps 15 bytes of a name. */
#ifndef CP_USER_CAPTURE_PROCESS_NAMES_H
#define CP_USER_CAPTURE_PROCESS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

/* Appends to *pids, which the caller owns; we ourselves are left out. -ESRCH when none matches. */
int process_names_match(const char *pattern, uint32_t **pids, size_t *cnt, struct err *err);

#endif
