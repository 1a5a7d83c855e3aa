// SPDX-License-Identifier: GPL-2.0-or-later
/* Many short processes, a few at a time: short_processes CNT [AT_A_TIME]. Every second one executes this program
 * anew, the others end where they were forked. Each sleeps a moment, so that it has a stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) void short_wait(void)
{
	const struct timespec ts = {
		.tv_nsec = 200000
	}; /* not over before the thread is off its CPU */

	nanosleep(&ts, NULL);
	__asm__ volatile("" : : : "memory");
}

static void child(char *self, long i)
{
	char leaf[] = "leaf", *const args[] = { self, leaf, NULL };

	if (i & 1)
		execv("/proc/self/exe", args);
	short_wait();
	_exit(0);
}

int main(int argc, char **argv)
{
	long cnt, most, living = 0;

	if (argc > 1 && !strcmp(argv[1], "leaf")) {
		short_wait();
		return 0;
	}
	cnt = argc > 1 ? atol(argv[1]) : 1000;
	most = argc > 2 ? atol(argv[2]) : 1;
	for (long i = 0; i < cnt; i++) {
		pid_t pid;

		if (living == most && wait(NULL) > 0)
			living--;
		pid = fork();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			child(argv[0], i);
		living++;
	}
	while (wait(NULL) > 0)
		;
	printf("%ld processes\n", cnt);
	return 0;
}
