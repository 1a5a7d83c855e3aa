/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that all sleep, do something on command that switches a lot, and all sleep again: whoever reads their switch
 * counts from /proc while they sleep, before and after, knows exactly what happened in between.
 *
 * usage: bursts. Prints "ready" when all threads are about to sleep at the first gate. A byte on standard input opens
 * it; when all are through, prints "done" and they sleep at the second gate until standard input ends. "thread TID
 * WHAT" names each thread, those of the burst too. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t first_gate, second_gate; /* 1: open */
static _Atomic int busy_cnt;			 /* threads that have not come to the second gate */

struct job {
	const char *what;
	void (*run)(void);
	int thread_cnt;
};

static void wait_at(_Atomic uint32_t *gate)
{
	while (!atomic_load(gate))
		syscall(SYS_futex, gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void open_gate(_Atomic uint32_t *gate)
{
	atomic_store(gate, 1);
	syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_us(long us)
{
	struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

/* CPU time, so that a thread that gets little of it goes on for long enough. */
static void burn(long us)
{
	struct timespec ts;
	int64_t now_us, until_us = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now_us = (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
		if (!until_us)
			until_us = now_us + us;
	} while (now_us < until_us);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void ladder(void)
{
	for (int i = 0; i < 30; i++) {
		sleep_us(200 + i * 100);
		burn(100);
	}
}

static void lock(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&mutex);
		sleep_us(300);
		burn(50);
		pthread_mutex_unlock(&mutex);
	}
}

static void spin(void)
{
	pin(0);
	burn(150000);
}

static void yield(void)
{
	pin(0);
	for (int i = 0; i < 500; i++)
		sched_yield();
}

static void migrate(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < 40; i++) {
		pin((int)(i % cpus));
		burn(200);
		sleep_us(200);
	}
}

/* sleeps in D */
static void vforks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = vfork();

		if (!pid) {
			struct timespec ts = { 0, 1000000 };

			syscall(SYS_nanosleep, &ts, NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static _Atomic pid_t signal_target;

static void on_signal(int sig)
{
	(void)sig;
}

static void interrupted(void)
{
	atomic_store(&signal_target, (pid_t)syscall(SYS_gettid));
	for (int i = 0; i < 300; i++)
		sleep_us(2000);
	atomic_store(&signal_target, 0);
}

static void interrupter(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t tid = atomic_load(&signal_target);

		if (tid)
			syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
		if (i % 2)
			sleep_us(500);
	}
}

static void nap(void)
{
	for (int i = 0; i < 3; i++)
		sleep_us(3000);
	sched_yield();
}

static void spawner(void);

static const struct job jobs[] = {
	{ "ladder", ladder, 4 },
	{ "lock", lock, 3 },
	{ "spin", spin, 2 },
	{ "yield", yield, 2 },
	{ "migrate", migrate, 1 },
	{ "vfork", vforks, 1 },
	{ "interrupted", interrupted, 1 },
	{ "interrupter", interrupter, 1 },
	{ "spawner", spawner, 1 },
	{ "nap", nap, 200 },
};
static const struct job newcomer = { "newcomer", nap, 20 };

static void *work(void *arg)
{
	const struct job *job = arg;

	printf("thread %d %s\n", (int)syscall(SYS_gettid), job->what);
	if (job != &newcomer)
		atomic_fetch_sub(&busy_cnt, 1);
	wait_at(&first_gate);
	job->run();
	atomic_fetch_sub(&busy_cnt, 1);
	wait_at(&second_gate);
	return NULL;
}

static void start(const struct job *job)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 0; i < job->thread_cnt; i++)
		if (pthread_create(&t, &attr, work, (void *)(uintptr_t)job))
			exit(1);
	pthread_attr_destroy(&attr);
}

static void spawner(void)
{
	start(&newcomer);
}

static void wait_until_idle(const char *say)
{
	while (atomic_load(&busy_cnt))
		sleep_us(5000);
	puts(say);
	fflush(stdout);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int thread_cnt = 0;
	char byte;

	sigaction(SIGUSR1, &sa, NULL);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		thread_cnt += jobs[i].thread_cnt;
	atomic_store(&busy_cnt, thread_cnt);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		start(&jobs[i]);
	printf("thread %d main\n", (int)getpid());
	wait_until_idle("ready");
	if (read(0, &byte, 1) != 1)
		return 1;
	atomic_store(&busy_cnt, thread_cnt + newcomer.thread_cnt);
	open_gate(&first_gate);
	wait_until_idle("done");
	if (read(0, &byte, 1))
		return 1;
	open_gate(&second_gate);
	return 0;
}
