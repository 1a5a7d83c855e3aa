/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that knows where its time goes: every wait and every burst of work is bracketed with stamps of
 * CLOCK_MONOTONIC and of the thread's CPU clock, written out at the end for the test to compare with.
 *
 * usage: truth SCENARIO FILE; runs until SIGTERM (at most ten minutes), then writes FILE
 * Lines of FILE: "wait TID FUNCTION START END CPU", "cpu TID TIME CPU_TIME", "asleep TID START END NS" (blocked
 * for at most NS of this time), "thread TID BORN DIED", times in ns, DIED 0 while it lives, END of a wait that is still
 * open is the time of writing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

struct stamp {
	const char *function; /* NULL: a reading of the CPU clock */
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns; /* that the thread used between them */
};

enum {
	STAMPS_MAX = 1 << 18
};

struct log {
	pid_t tid;
	uint64_t born_ns, died_ns;
	struct stamp *stamps; /* never moves: it is read while its thread goes on */
	_Atomic size_t cnt;
	struct log *next;
};

static const char asleep[] = "asleep"; /* instead of a function, with how long instead of cpu_ns */
static _Atomic(struct log *) logs;
static _Thread_local struct log *mine;
static uint64_t end_ns;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Begins a stamp; an end of 0 says that it is open. */
static struct stamp *add_stamp(const char *function, uint64_t start, uint64_t end)
{
	size_t at = atomic_load(&mine->cnt);

	if (at == STAMPS_MAX)
		abort();
	mine->stamps[at] = (struct stamp){ function, start, end, 0 };
	atomic_store(&mine->cnt, at + 1);
	return &mine->stamps[at];
}

/* At most ns of the time from start to end was the thread blocked. */
static void add_asleep(uint64_t start, uint64_t end, uint64_t ns)
{
	add_stamp(asleep, start, end)->cpu_ns = ns;
}

static void stamp_cpu(void)
{
	uint64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);

	add_stamp(NULL, now_ns(), cpu);
}

static void begin_log(void)
{
	mine = calloc(1, sizeof(*mine));
	mine->tid = (pid_t)syscall(SYS_gettid);
	mine->stamps = calloc(STAMPS_MAX, sizeof(*mine->stamps));
	mine->born_ns = now_ns();
	mine->next = atomic_load(&logs);
	while (!atomic_compare_exchange_weak(&logs, &mine->next, mine))
		;
	stamp_cpu();
}

static bool over(void)
{
	return now_ns() >= end_ns;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&ts, NULL);
}

#define WAIT(function, ...)                                                  \
	do {                                                                 \
		struct stamp *open = add_stamp(#function, 0, 0);             \
		uint64_t cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);       \
                                                                             \
		open->start_ns = now_ns();                                   \
		function(__VA_ARGS__);                                       \
		open->end_ns = now_ns();                                     \
		open->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_ns; \
		stamp_cpu();                                                 \
	} while (0)

/* The functions that wait. "asm" keeps the call from becoming a tail call, so that they stay on the stack. */
#define SLEEPER(name)                          \
	NOINLINE static void name(uint64_t ns) \
	{                                      \
		sleep_ns(ns);                  \
		asm volatile("");              \
	}
SLEEPER(sleep_short)
SLEEPER(sleep_middle)
SLEEPER(sleep_long)
SLEEPER(sleep_throughout)
SLEEPER(sleep_interrupted)

NOINLINE static void burn(uint64_t ns)
{
	uint64_t until_ns = now_ns() + ns;
	volatile unsigned long x = 1;

	while (now_ns() < until_ns)
		for (int i = 0; i < 1000; i++)
			x = x * 3 + 1;
}

static pthread_t spawn(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	if (pthread_create(&t, &attr, fn, arg)) {
		perror("pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&attr);
	return t;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void end_thread(void)
{
	stamp_cpu();
	mine->died_ns = now_ns();
}

/* sleep ladder */
static void *ladder(void *arg)
{
	begin_log();
	for (int i = 0; !over(); i++) {
		WAIT(sleep_short, 1000000);
		WAIT(sleep_middle, 5000000);
		WAIT(sleep_long, 20000000);
		burn((uintptr_t)arg * 100000);
		stamp_cpu();
	}
	end_thread();
	return NULL;
}

static void run_ladder(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		t[i] = spawn(ladder, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* lock chain: each holds the lock before it while it waits for the next */
static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void wait_for_a(void)
{
	pthread_mutex_lock(&lock_a);
	asm volatile("");
}

NOINLINE static void wait_for_b(void)
{
	pthread_mutex_lock(&lock_b);
	asm volatile("");
}

static void *holder(void *arg)
{
	(void)arg;
	begin_log();
	while (!over()) {
		pthread_mutex_lock(&lock_a);
		WAIT(sleep_middle, 4000000);
		pthread_mutex_unlock(&lock_a);
		WAIT(sleep_short, 1000000);
	}
	end_thread();
	return NULL;
}

static void *middle(void *arg)
{
	(void)arg;
	begin_log();
	while (!over()) {
		pthread_mutex_lock(&lock_b);
		WAIT(wait_for_a);
		pthread_mutex_unlock(&lock_a);
		pthread_mutex_unlock(&lock_b);
		WAIT(sleep_short, 1000000);
	}
	end_thread();
	return NULL;
}

static void *last(void *arg)
{
	(void)arg;
	begin_log();
	while (!over()) {
		WAIT(wait_for_b);
		pthread_mutex_unlock(&lock_b);
		WAIT(sleep_short, 2000000);
	}
	end_thread();
	return NULL;
}

static void run_locks(void)
{
	pthread_t t[3] = { spawn(holder, NULL), spawn(middle, NULL), spawn(last, NULL) };

	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* uninterruptible: a vfork parent sleeps in D as long as its child likes */
NOINLINE static void wait_for_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		struct timespec ts = { 0, 8000000 };

		syscall(SYS_nanosleep, &ts, NULL);
		_exit(0);
	}
	asm volatile("");
}

static void run_disk(void)
{
	begin_log();
	while (!over()) {
		WAIT(wait_for_vfork);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		burn(500000);
	}
	end_thread();
}

/* two spinners on one CPU */
static void *spinner(void *arg)
{
	pin((int)(intptr_t)arg);
	begin_log();
	while (!over()) {
		burn(1000000);
		stamp_cpu();
	}
	end_thread();
	return NULL;
}

static void run_spinners(void)
{
	pthread_t t[2] = { spawn(spinner, (void *)0), spawn(spinner, (void *)0) };

	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

/* a spinner against a sleeper on the same CPU */
static void *pinned_sleeper(void *arg)
{
	pin((int)(intptr_t)arg);
	begin_log();
	while (!over()) {
		WAIT(sleep_short, 2000000);
		burn(200000);
	}
	end_thread();
	return NULL;
}

static void run_spinner_sleeper(void)
{
	pthread_t t[2] = { spawn(spinner, (void *)0), spawn(pinned_sleeper, (void *)0) };

	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

/* two threads on one CPU that pass a byte: whenever the window opens or closes, one is about to switch. Without stamps. */
struct player {
	int in, out;
};

static void *player(void *arg)
{
	const struct player *p = arg;
	char byte;

	pin(0);
	begin_log();
	while (!over())
		if (read(p->in, &byte, 1) != 1 || write(p->out, &byte, 1) != 1)
			exit(1);
	end_thread();
	return NULL;
}

static void run_pingpong(void)
{
	int there[2], back[2];
	struct player a, b;
	pthread_t t[2];

	if (pipe(there) || pipe(back) || write(there[1], "x", 1) != 1)
		exit(1);
	a = (struct player){ there[0], back[1] };
	b = (struct player){ back[0], there[1] };
	t[0] = spawn(player, &a);
	t[1] = spawn(player, &b);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

/* threads that are born and die inside the window */
static void *short_life(void *arg)
{
	(void)arg;
	begin_log();
	WAIT(sleep_short, 3000000);
	burn(1000000);
	WAIT(sleep_middle, 6000000);
	end_thread();
	return NULL;
}

static void run_dying(void)
{
	begin_log();
	while (!over()) {
		pthread_t t[3];

		for (int i = 0; i < 3; i++)
			t[i] = spawn(short_life, NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
	}
	end_thread();
}

/* waits longer than any window, in many threads */
static void *long_sleeper(void *arg)
{
	(void)arg;
	begin_log();
	WAIT(sleep_throughout, end_ns - now_ns());
	end_thread();
	return NULL;
}

static void run_sleepers(int cnt)
{
	pthread_t *t = calloc((size_t)cnt, sizeof(*t));

	for (int i = 0; i < cnt; i++)
		t[i] = spawn(long_sleeper, NULL);
	for (int i = 0; i < cnt; i++)
		pthread_join(t[i], NULL);
	free(t);
}

static void run_throughout(void)
{
	run_sleepers(3);
}

static void run_many(void)
{
	run_sleepers(2000);
}

/* waits about as long as the window, so that both ends cut them */
static void *straddler(void *arg)
{
	begin_log();
	sleep_ns((uintptr_t)arg * 7000000);
	while (!over()) {
		WAIT(sleep_long, 70000000);
		burn(1000000);
	}
	end_thread();
	return NULL;
}

static void run_straddle(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		t[i] = spawn(straddler, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* a thread that changes its CPU between waits */
static void *migrator(void *arg)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	(void)arg;
	begin_log();
	for (int i = 0; !over(); i++) {
		pin((int)(i % cpus));
		WAIT(sleep_short, 2000000);
		burn(500000);
		stamp_cpu();
	}
	end_thread();
	return NULL;
}

static void run_migrating(void)
{
	pthread_join(spawn(migrator, NULL), NULL);
}

/* sleeps that signals interrupt */
static _Atomic pid_t signal_target;

static void on_signal(int sig)
{
	(void)sig;
}

static void *interrupted(void *arg)
{
	(void)arg;
	begin_log();
	atomic_store(&signal_target, mine->tid);
	while (!over())
		WAIT(sleep_interrupted, 50000000);
	end_thread();
	return NULL;
}

static void run_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	t = spawn(interrupted, NULL);
	while (!over()) {
		sleep_ns(3000000);
		if (atomic_load(&signal_target))
			syscall(SYS_tgkill, getpid(), signal_target, SIGUSR1);
	}
	pthread_join(t, NULL);
}

/* Sleeps that find a signal pending: it comes between the call and the sleep, where nanosleep does not look for one. At
 * the same time a thread wakes that must have the CPU. The sleeper leaves it in state S then, but is runnable: it does
 * not sleep while the other works. Both come from timers that expire at the same moment, known beforehand; the sleeper
 * calls a little earlier, and learns how much: a signal that came before the call interrupts nothing. */
enum {
	ROUND_NS = 4000000,
	RIVAL_NS = 2000000,
	LEAD_STEP_NS = 500,
};
static uint64_t rounds_begin_ns;

static uint64_t next_round_ns(void)
{
	return rounds_begin_ns + ((now_ns() - rounds_begin_ns) / ROUND_NS + 1) * ROUND_NS;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

NOINLINE static void sleep_pending(uint64_t due_ns, uint64_t *lead_ns)
{
	struct timespec ts = timespec_of(2 * ROUND_NS); /* the other's work must not outlast it */
	uint64_t called_ns;

	while (now_ns() + *lead_ns < due_ns)
		;
	called_ns = now_ns();
	if (nanosleep(&ts, NULL)) {
		add_asleep(called_ns, due_ns, due_ns - called_ns);
		*lead_ns -= *lead_ns ? LEAD_STEP_NS : 0;
	} else {
		add_asleep(called_ns, now_ns(), 2 * ROUND_NS);
		*lead_ns += LEAD_STEP_NS;
	}
}

static void *pending(void *arg)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	uint64_t lead_ns = 10 * LEAD_STEP_NS;
	timer_t timer;

	(void)arg;
	pin(0);
	begin_log();
	event._sigev_un._tid = mine->tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		exit(1);
	while (!over()) {
		uint64_t due_ns = next_round_ns();
		struct itimerspec at = { .it_value = timespec_of(due_ns) };

		timer_settime(timer, TIMER_ABSTIME, &at, NULL);
		WAIT(sleep_pending, due_ns, &lead_ns);
	}
	end_thread();
	return NULL;
}

static void *rival(void *arg)
{
	struct sched_param first = { .sched_priority = 1 };

	(void)arg;
	pin(0);
	if (sched_setscheduler(0, SCHED_FIFO, &first)) {
		perror("sched_setscheduler");
		exit(1);
	}
	begin_log();
	while (!over()) {
		struct timespec due = timespec_of(next_round_ns());

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		burn(RIVAL_NS);
		stamp_cpu();
	}
	end_thread();
	return NULL;
}

static void run_pending(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	pthread_t t[2];

	sigaction(SIGUSR1, &sa, NULL);
	rounds_begin_ns = now_ns();
	t[0] = spawn(pending, NULL);
	t[1] = spawn(rival, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

/* A thread that takes the lock of its address space all the time, in the shortest system call that does: each release
 * runs a kernel program that looks for the thread's state. Timers wake others on the same CPU meanwhile, and some of
 * their interrupts come while it looks. */
static void *locker(void *arg)
{
	pin((int)(intptr_t)arg);
	begin_log();
	while (!over()) {
		for (int i = 0; i < 1000; i++)
			syscall(SYS_brk, 0);
		stamp_cpu();
	}
	end_thread();
	return NULL;
}

static void run_locker(void)
{
	pthread_t t[3] = { spawn(locker, NULL), spawn(pinned_sleeper, NULL),
			   spawn(pinned_sleeper, NULL) };

	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* a stopped process: the parent stops and continues it, and stamps for it */
static void run_stopped(void)
{
	pid_t child = fork();
	uint64_t started_ns;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			burn(1000000);
	}
	begin_log();
	mine->tid = child;
	atomic_store(&mine->cnt, 0); /* the CPU clock of the child is not ours to read */
	while (!over()) {
		sleep_ns(10000000);
		kill(child, SIGSTOP);
		waitpid(child, NULL, WUNTRACED);
		started_ns = now_ns();
		sleep_ns(15000000);
		add_stamp("stopped", started_ns, now_ns());
		kill(child, SIGCONT);
		waitpid(child, NULL, WCONTINUED);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* processes that live for some milliseconds */
static void run_storm(void)
{
	begin_log();
	while (!over()) {
		pid_t pid = fork();

		if (!pid) {
			burn(1000000);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	end_thread();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "ladder", run_ladder },
	{ "locks", run_locks },
	{ "disk", run_disk },
	{ "spinners", run_spinners },
	{ "spinner_sleeper", run_spinner_sleeper },
	{ "pingpong", run_pingpong },
	{ "dying", run_dying },
	{ "throughout", run_throughout },
	{ "many", run_many },
	{ "straddle", run_straddle },
	{ "migrating", run_migrating },
	{ "signals", run_signals },
	{ "pending", run_pending },
	{ "locker", run_locker },
	{ "stopped", run_stopped },
	{ "storm", run_storm },
};

static void write_log(FILE *f, const struct log *log)
{
	size_t cnt = atomic_load(&log->cnt);

	fprintf(f, "thread %d %llu %llu\n", (int)log->tid, (unsigned long long)log->born_ns,
		(unsigned long long)log->died_ns);
	for (size_t i = 0; i < cnt; i++) {
		struct stamp s = log->stamps[i];

		if (s.function == asleep)
			fprintf(f, "asleep %d %llu %llu %llu\n", (int)log->tid,
				(unsigned long long)s.start_ns, (unsigned long long)s.end_ns,
				(unsigned long long)s.cpu_ns);
		else if (!s.function)
			fprintf(f, "cpu %d %llu %llu\n", (int)log->tid,
				(unsigned long long)s.start_ns, (unsigned long long)s.end_ns);
		else if (s.start_ns)
			fprintf(f, "wait %d %s %llu %llu %llu\n", (int)log->tid, s.function,
				(unsigned long long)s.start_ns,
				(unsigned long long)(s.end_ns ? s.end_ns : now_ns()),
				(unsigned long long)s.cpu_ns);
	}
}

/* Waits for SIGTERM, writes what all threads have stamped, and ends the program. */
static void *writer(void *path)
{
	sigset_t set;
	FILE *f;
	int sig;

	begin_log();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigwait(&set, &sig);
	f = fopen(path, "w");
	if (!f)
		_exit(2);
	for (const struct log *log = atomic_load(&logs); log; log = log->next)
		write_log(f, log);
	_exit(fclose(f) ? 2 : 0);
}

int main(int argc, char **argv)
{
	size_t i = 0;
	sigset_t set;

	if (argc != 3)
		return 2;
	end_ns = now_ns() + 600000000000ULL;
	while (i < sizeof(scenarios) / sizeof(scenarios[0]) && strcmp(scenarios[i].name, argv[1]))
		i++;
	if (i == sizeof(scenarios) / sizeof(scenarios[0]))
		return 2;
	/* whoever clears a huge page holds the lock of the address space for long: others would wait without a stamp */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	spawn(writer, argv[2]);
	scenarios[i].run();
	return 1; /* nobody ended us */
}
