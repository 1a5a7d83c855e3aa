/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program for containers and cgroups: it knows its own numbers, and what the kernel says that its children
 * used. MARK, given to the compiler, is a prefix of its functions' names, so that two programs at one path in two
 * roots can be told apart.
 *
 * usage: contained CHILDREN FILE [ROUNDS]; each child computes for some milliseconds. SIGTERM ends it with the round.
 * Lines of FILE, written at the end: "self PID CPU", "child PID BORN DIED CPU", "wait START END"; CPU by rusage, in
 * ns; times of CLOCK_MONOTONIC. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MARK
#define MARK plain
#endif
#define PASTE_(a, b) a##_##b
#define PASTE(a, b)  PASTE_(a, b)
#define NOINLINE     __attribute__((noinline, noclone))

static volatile uint64_t sink;
static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t used_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static NOINLINE void PASTE(MARK, work)(uint64_t n)
{
	uint64_t x = 1;

	while (n--)
		x = x * 6364136223846793005u + 1;
	sink = x;
}

static NOINLINE void PASTE(MARK, nap)(FILE *f)
{
	struct timespec ts = { 0, 20000000 };
	uint64_t start_ns = now_ns();

	nanosleep(&ts, NULL);
	fprintf(f, "wait %llu %llu\n", (unsigned long long)start_ns, (unsigned long long)now_ns());
}

static void one_child(FILE *f)
{
	struct rusage u;
	uint64_t born_ns = now_ns();
	int status;
	pid_t pid;

	fflush(f);
	pid = fork();
	if (!pid) {
		PASTE(MARK, work)(8000000);
		_exit(0);
	}
	wait4(pid, &status, 0, &u);
	fprintf(f, "child %d %llu %llu %llu\n", (int)pid, (unsigned long long)born_ns,
		(unsigned long long)now_ns(), (unsigned long long)used_ns(&u));
}

int main(int argc, char **argv)
{
	long rounds = argc > 3 ? atol(argv[3]) : 1;
	struct rusage u;
	FILE *f;

	if (argc < 3 || !(f = fopen(argv[2], "w")))
		return 2;
	signal(SIGTERM, end);
	for (long r = 0; r < rounds && !ended; r++) {
		for (long i = atol(argv[1]); i-- > 0;)
			one_child(f);
		PASTE(MARK, work)(8000000);
		PASTE(MARK, nap)(f);
	}
	getrusage(RUSAGE_SELF, &u);
	fprintf(f, "self %d %llu\n", (int)getpid(), (unsigned long long)used_ns(&u));
	fclose(f);
	return 0;
}
