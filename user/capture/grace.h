/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for kernel programs that are on their way. */
#ifndef CP_USER_CAPTURE_GRACE_H
#define CP_USER_CAPTURE_GRACE_H

#include <stdbool.h>

/* Returns when every tracing program that had begun is over: they run inside of RCU read sections, and membarrier
 * waits for those (tens of milliseconds). False where the kernel refuses it (with nohz_full CPUs). */
bool grace_period(void);

#endif
