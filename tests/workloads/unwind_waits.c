/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that wait in the ways that are hard to unwind. Each does so below functions of its own, so that its
 * stack is known; prints "ready" when all of them wait, then sleeps until it is killed. Build it with any
 * compiler, -O2 -fomit-frame-pointer, static or not: tests/live/test_unwind.sh. */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static int sockets[2];

NOINLINE static void wait_nanosleep(void)
{
	struct timespec t = { 1000, 0 };

	nanosleep(&t, NULL);
	sink++;
}

NOINLINE static void wait_futex(void)
{
	static int word;

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	sink++;
}

NOINLINE static void wait_recv(void)
{
	char c;

	sink += (int)recv(sockets[0], &c, 1, 0);
}

NOINLINE static void wait_poll(void)
{
	struct pollfd p = { .fd = sockets[0], .events = POLLIN };

	sink += poll(&p, 1, 1000000);
}

NOINLINE static void wait_cond(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
}

NOINLINE static void wait_fsync(void)
{
	char name[] = "/tmp/unwind_waits.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	for (;;) {
		sink += (int)write(fd, name, sizeof(name));
		sink += fsync(fd);
	}
}

/* A page that nobody fills; without the right to make one, a sleep. */
NOINLINE static void wait_fault(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	volatile char *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = { .range = { (unsigned long)page, 4096 },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg))
		sink += page[8];
	wait_nanosleep();
}

NOINLINE static int recurse(int n, void (*f)(void))
{
	volatile char text[40];
	int r = 0;

	text[n % 40] = (char)n;
	if (n > 0)
		r = recurse(n - 1, f);
	else
		f();
	sink += text[n % 40];
	return r + 1;
}

NOINLINE static int with_alloca(int n, void (*f)(void))
{
	char *p = alloca((size_t)n * 16 + 16);

	memset(p, 1, (size_t)n * 16);
	sink += recurse(n, f);
	return p[n];
}

/* Another alignment and unknown size, with arguments on the stack. */
NOINLINE static void realigned(void (*f)(void), int n, ...)
{
	double v[8] __attribute__((aligned(64)));
	char *p = alloca((size_t)n);
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < 8; i++)
		v[i] = va_arg(ap, int);
	va_end(ap);
	memset(p, n, (size_t)n);
	f();
	sink += (int)v[n & 7] + p[0];
}

static int compare_and_wait(const void *a, const void *b)
{
	recurse(2, wait_nanosleep);
	return *(const char *)a - *(const char *)b;
}

static void on_signal(int sig)
{
	sink += sig + with_alloca(3, wait_nanosleep);
}

static ucontext_t outside, inside;

static void in_coroutine(void)
{
	with_alloca(4, wait_nanosleep);
}

static void *thread_nanosleep(void *arg)
{
	sink += with_alloca(10, wait_nanosleep);
	return arg;
}

static void *thread_futex(void *arg)
{
	sink += recurse(20, wait_futex);
	return arg;
}

static void *thread_recv(void *arg)
{
	sink += recurse(110, wait_recv);
	return arg;
}

static void *thread_poll(void *arg)
{
	sink += recurse(0, wait_poll);
	return arg;
}

static void *thread_cond(void *arg)
{
	realigned(wait_cond, 33, 1, 2, 3, 4, 5, 6, 7, 8);
	return arg;
}

static void *thread_fsync(void *arg)
{
	sink += recurse(3, wait_fsync);
	return arg;
}

static void *thread_fault(void *arg)
{
	sink += with_alloca(5, wait_fault);
	return arg;
}

static void *thread_qsort(void *arg)
{
	char text[] = "stacks";

	qsort(text, 6, 1, compare_and_wait);
	return arg;
}

static void *thread_signal(void *arg)
{
	raise(SIGUSR2);
	return arg;
}

static void *thread_altstack(void *arg)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&ss, NULL);
	raise(SIGUSR1);
	return arg;
}

static void *thread_coroutine(void *arg)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	inside.uc_link = &outside;
	makecontext(&inside, in_coroutine, 0);
	swapcontext(&outside, &inside);
	return arg;
}

int main(void)
{
	static void *(*const threads[])(
		void *) = { thread_nanosleep, thread_futex,    thread_recv,	thread_poll,
			    thread_cond,      thread_fsync,    thread_fault,	thread_qsort,
			    thread_signal,    thread_altstack, thread_coroutine };
	struct sigaction sa = { .sa_handler = on_signal };
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR2, &sa, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		if (pthread_create(&t, NULL, threads[i], NULL))
			return 1;
	usleep(200000);
	puts("ready");
	fflush(stdout);
	sink += with_alloca(7, wait_nanosleep);
	return 0;
}
