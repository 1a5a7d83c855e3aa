/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is hard to unwind, for programs that are stepped through or sampled: recursion, prologues and
 * epilogues, PLT stubs, lazy binding, signal frames, realigned stacks, alloca, vdso, coroutines, longjmp. */
#ifndef CP_TESTS_TOOLS_WORKS_H
#define CP_TESTS_TOOLS_WORKS_H

#include <alloca.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

static volatile long sink;

__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int int_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void run_sort(void)
{
	int v[40];

	for (int i = 0; i < 40; i++)
		v[i] = (i * 7919) % 41;
	qsort(v, 40, sizeof(v[0]), int_cmp);
	sink += v[3] + fib(8);
}

static void run_strings(void)
{
	char text[200];

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%d %s %g %p", i, "abc", sqrt(i + 2.0), (void *)text);
		sink += (long)strlen(text) + strcmp(text, "1 abc") + (strchr(text, 'z') != NULL);
		free(malloc((size_t)i * 7 + 30000));
		sink += strtol(text, NULL, 10);
	}
}

/* More alignment than the ABI gives, and a size only known at run time: gcc reaches the arguments through a
 * copy of the CFA (DRAP). */
__attribute__((noinline)) static void drap(int n, ...)
{
	double v[8] __attribute__((aligned(64)));
	va_list ap;
	char *p = alloca((size_t)n);

	va_start(ap, n);
	for (int i = 0; i < 8; i++)
		v[i] = n * i + va_arg(ap, int);
	va_end(ap);
	memset(p, n, (size_t)n);
	sink += (long)v[n & 7] + p[0] + fib(3);
}

/* Its CFA counts from rbp, which drap restores before it returns. */
__attribute__((noinline)) static int around_drap(int n)
{
	volatile char *p = alloca((size_t)n);

	p[0] = (char)n;
	drap(n, 1, 2, 3, 4, 5, 6, 7, 8);
	return p[0];
}

static void run_realigned(void)
{
	for (int i = 1; i < 4; i++)
		sink += around_drap(i * 33);
}

__attribute__((noinline)) static int vla(int n)
{
	char *text = alloca((size_t)n + 1);

	memset(text, n, (size_t)n + 1);
	if (n > 1)
		sink += vla(n - 1);
	return text[n / 2];
}

/* A frame of half a MiB. */
__attribute__((noinline)) static int large_frame(int n)
{
	volatile char text[1 << 19];

	text[n] = (char)n;
	return fib(n) + text[n];
}

static void run_vla(void)
{
	sink += vla(12) + large_frame(4);
}

static void run_vdso(void)
{
	struct timespec t;

	for (int i = 0; i < 5; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sink += t.tv_nsec + time(NULL);
	}
}

static void on_signal(int sig)
{
	sink += sig + fib(4);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
}

static void run_signals(void)
{
	static char alt[32768];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGUSR2, &sa, NULL);
	sigaltstack(&ss, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
}

/* The first call of a function goes through the lazy binding of ld.so. */
static void run_lazy(void)
{
	static const char *const libs[] = { "libm.so.6", "libz.so.1", "libbz2.so.1.0",
					    "libexpat.so.1" };

	for (size_t i = 0; i < sizeof(libs) / sizeof(libs[0]); i++) {
		void *lib = dlopen(libs[i], RTLD_LAZY);

		if (lib)
			sink += dlsym(lib, "compress") != NULL;
	}
	sink += (long)lgamma(3.5) + (long)j0(1.0) + (long)erf(0.3);
}

static ucontext_t contexts[2];

static void in_coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		sink += fib(3);
		swapcontext(&contexts[1], &contexts[0]);
	}
}

static void run_coroutine(void)
{
	static char stack[65536];

	getcontext(&contexts[1]);
	contexts[1].uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	contexts[1].uc_link = &contexts[0];
	makecontext(&contexts[1], in_coroutine, 0);
	for (int i = 0; i < 3; i++)
		swapcontext(&contexts[0], &contexts[1]);
}

/* While the child runs its parent's return address is in a register only. */
static void run_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static jmp_buf jump;

__attribute__((noinline)) static void jump_from(int depth)
{
	if (depth > 0)
		jump_from(depth - 1);
	else if (sink != -1)
		longjmp(jump, 1);
	sink++;
}

static void run_longjmp(void)
{
	if (!setjmp(jump))
		jump_from(5);
}

/* A call that does not return, as the last instruction of a function: its return address is the start of the
 * next function, which has other rules. */
void ends_in_call(void (*f)(void));
__asm__(".text\n"
	".type ends_in_call, @function\n"
	"ends_in_call:\n"
	".cfi_startproc\n"
	"sub $24, %rsp\n"
	".cfi_adjust_cfa_offset 24\n"
	"call *%rdi\n"
	".cfi_endproc\n"
	".type comes_after, @function\n"
	"comes_after:\n"
	".cfi_startproc\n"
	"nop\n"
	"ret\n"
	".cfi_endproc\n");

static void does_not_return(void)
{
	sink += fib(3);
	longjmp(jump, 1);
}

static void run_noreturn(void)
{
	if (!setjmp(jump))
		ends_in_call(does_not_return);
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *ctx, void *arg)
{
	(void)arg;
	sink += (long)_Unwind_GetIP(ctx);
	return _URC_NO_REASON;
}

static void run_backtrace(void)
{
	_Unwind_Backtrace(on_frame, NULL);
}

struct work {
	const char *name;
	void (*run)(void);
	unsigned max_steps;
	bool roots_differ; /* see compare() */
};

static const struct work works[] = {
	{ "sort", run_sort, 30000, false },	     { "strings", run_strings, 30000, false },
	{ "realigned", run_realigned, 5000, false }, { "vla", run_vla, 5000, false },
	{ "vdso", run_vdso, 3000, false },	     { "signals", run_signals, 5000, false },
	{ "lazy", run_lazy, 25000, false },	     { "coroutine", run_coroutine, 5000, true },
	{ "longjmp", run_longjmp, 3000, false },     { "vfork", run_vfork, 1000, false },
	{ "noreturn", run_noreturn, 3000, false },   { "backtrace", run_backtrace, 8000, false },
};

#endif
