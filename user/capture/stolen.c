/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/stolen.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

uint64_t stolen__ns(void)
{
	FILE *f = fopen("/proc/stat", "re");
	uint64_t ticks = 0;
	long ticks_per_s = sysconf(_SC_CLK_TCK);

	if (!f)
		return 0;
	/* user nice system idle iowait irq softirq steal */
	if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1 || ticks_per_s <= 0)
		ticks = 0;
	fclose(f);
	return ticks ? ticks * (1000000000 / (uint64_t)ticks_per_s) : 0;
}
