/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/grace.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

bool grace_period(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}
