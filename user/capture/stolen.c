/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/stolen.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

bool stolen__read(uint64_t *ret_ns)
{
	FILE *f = fopen("/proc/stat", "re");
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	uint64_t ticks;
	bool good;

	if (!f)
		return false;
	/* user nice system idle iowait irq softirq steal */
	good = fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) == 1 &&
	       ticks_per_s > 0;
	fclose(f);
	if (good)
		*ret_ns = ticks * (1000000000 / (uint64_t)ticks_per_s);
	return good;
}
