/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two programs in one source, built to have different functions at the same addresses: executed with
 * "setarch -R", each turns into the other by exec, again and again, so that one process has two meanings for
 * equal addresses. usage: exec_pair OTHER ROUNDS (WHO comes from the program's own name) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

#ifdef SECOND
#define WAITS second_waits
#define BURNS second_burns
#else
#define WAITS first_waits
#define BURNS first_burns
#endif

NOINLINE static void WAITS(void)
{
	struct timespec ts = { 0, 4000000 };

	nanosleep(&ts, NULL);
	asm volatile("");
}

NOINLINE static void BURNS(void)
{
	volatile unsigned long x = 1;

	for (int i = 0; i < 1000000; i++)
		x = x * 3 + 1;
}

int main(int argc, char **argv)
{
	char rounds[16];
	int left = argc == 3 ? atoi(argv[2]) : 0;

	if (left <= 0)
		return argc == 3 ? 0 : 2;
	for (int i = 0; i < 5; i++) {
		WAITS();
		BURNS();
	}
	snprintf(rounds, sizeof(rounds), "%d", left - 1);
	execl(argv[1], argv[1], argv[0], rounds, (char *)NULL);
	return 1;
}
