/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fixed work in a few functions, so that profiles of it have a known truth. Waits for SIGUSR1, calls
 * handle() REPEATS times, prints the CPU seconds that took, waits for the end. compress() does PERCENT percent
 * of its usual iterations; all others do the same whatever PERCENT is. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

/* A chain of multiplications, which no compiler shortens. */
#define WORK(name, iterations)                                                                 \
	static __attribute__((noinline, noclone)) void name(uint64_t k)                        \
	{                                                                                      \
		uint64_t x = k | 1;                                                            \
                                                                                               \
		for (uint64_t i = 0; i < (iterations)*k; i++)                                  \
			x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); \
		sink = x;                                                                      \
	}

WORK(parse_header, 3)
WORK(parse_body, 7)
WORK(checksum, 12)
WORK(compress, 20)
WORK(encode, 5)
WORK(write_out, 4)

static __attribute__((noinline, noclone)) void parse(uint64_t k)
{
	parse_header(k);
	parse_body(k);
	sink++; /* no tail call */
}

static __attribute__((noinline, noclone)) void store(uint64_t k, uint64_t percent)
{
	checksum(k);
	compress(k * percent / 100);
	sink++;
}

static __attribute__((noinline, noclone)) void reply(uint64_t k)
{
	encode(k);
	write_out(k);
	sink++;
}

static __attribute__((noinline, noclone)) void handle(uint64_t k, uint64_t percent)
{
	parse(k);
	store(k, percent);
	reply(k);
	sink++;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	uint64_t percent, repeats;
	double start;
	sigset_t set;
	int sig;

	if (argc != 3) {
		fprintf(stderr, "usage: %s PERCENT REPEATS\n", argv[0]);
		return 2;
	}
	percent = strtoull(argv[1], NULL, 10);
	repeats = strtoull(argv[2], NULL, 10);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &sig);
	start = cpu_seconds();
	for (uint64_t i = 0; i < repeats; i++)
		handle(2000, percent);
	printf("%.6f\n", cpu_seconds() - start);
	fflush(stdout);
	pause();
	return 0;
}
