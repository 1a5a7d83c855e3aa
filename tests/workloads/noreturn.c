/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that do not return stand at the very end of their functions, so that their return addresses belong to
 * whatever function comes next: a walker that looks up the return address itself goes wrong here. */
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int depth;

NOINLINE __attribute__((noreturn)) static void never_returns(void)
{
	for (;;) {
		struct timespec ts = { 0, 5000000 };

		nanosleep(&ts, NULL);
		for (volatile int i = 0; i < 2000000; i++)
			;
	}
}

NOINLINE __attribute__((noreturn)) static void calls_at_its_end(int *numbers)
{
	depth = numbers[3];
	never_returns();
}

/* Same frame size on purpose unlike the function before it. */
NOINLINE __attribute__((noreturn)) static void calls_that_at_its_end(void)
{
	int numbers[40];

	for (int i = 0; i < 40; i++)
		numbers[i] = i * depth;
	calls_at_its_end(numbers);
}

int main(void)
{
	depth = 3;
	calls_that_at_its_end();
}
