/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with one function to call, under two names: for dlopen_pair. */
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

void library_work(void);

NOINLINE static void WAITS(void)
{
	struct timespec ts = { 0, 10000000 };

	nanosleep(&ts, NULL);
	asm volatile("");
}

NOINLINE static void BURNS(void)
{
	volatile unsigned long x = 1;

	for (int i = 0; i < 20000000; i++)
		x = x * 3 + 1;
}

void library_work(void)
{
	/* first the work: what waits right after dlopen may have to do without unwind rows */
	BURNS();
	WAITS();
	asm volatile("");
}
