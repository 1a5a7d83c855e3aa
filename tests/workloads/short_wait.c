/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeps some times for 10 ms in a function of its own, and ends. usage: short_wait TIMES */
#include <stdlib.h>
#include <time.h>

static __attribute__((noinline)) void waits(void)
{
	const struct timespec ts = { .tv_nsec = 10000000 };

	nanosleep(&ts, NULL);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	for (int left = argc > 1 ? atoi(argv[1]) : 30; left > 0; left--)
		waits();
	return 0;
}
