/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over rows against libunwind at every single instruction of code that is hard to unwind: a child
 * runs it and is stepped. Prologues, epilogues, PLT stubs, lazy binding, signal frames, realigned stacks,
 * vdso, vfork, exceptions' slow paths in libgcc, hand-written string functions are all on the way. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>
#include <cmocka.h>

#include "symbolize/unwind.h"
#include "tests/tools/target.h"

static volatile long sink;

/* ---- what the child runs ---- */

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

static void run_realigned(void)
{
	for (int i = 1; i < 4; i++)
		drap(i * 33, 1, 2, 3, 4, 5, 6, 7, 8);
}

__attribute__((noinline)) static int vla(int n)
{
	char *text = alloca((size_t)n + 1);

	memset(text, n, (size_t)n + 1);
	if (n > 1)
		sink += vla(n - 1);
	return text[n / 2];
}

static void run_vla(void)
{
	sink += vla(12);
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
	{ "longjmp", run_longjmp, 3000, false },     { "backtrace", run_backtrace, 8000, false },
};

/* ---- the comparison ---- */

struct tally {
	uint64_t step_cnt, same_cnt, diff_cnt, early_cnt;
	uint64_t stop_cnt[16], why_cnt[ROW_WHY_MAX]; /* how the walks over rows ended */
	uint64_t kind_cnt[32];			     /* rows that frame 0 used */
};

static void print_stack(const char *name, const struct walk_stack *s)
{
	print_message("  %s, stop: %s\n", name, target_stop_name(s->stop));
	for (uint32_t i = 0; i < s->frame_cnt; i++)
		print_message("    %2u %016llx flags %x\n", i,
			      (unsigned long long)s->frames[i].addr, s->frames[i].flags);
}

/* The frames that both have are equal. */
static bool agree(const struct walk_stack *a, const struct walk_stack *b)
{
	for (uint32_t i = 0; i < a->frame_cnt && i < b->frame_cnt; i++)
		if (a->frames[i].addr != b->frames[i].addr)
			return false;
	return true;
}

static uint64_t row_at(const struct target *t, uint64_t pc)
{
	for (size_t i = 0; i < t->space.mapping_cnt; i++) {
		const struct walk_mapping *m = &t->mappings[i];

		if (pc >= m->start && pc < m->end && m->table)
			return rows_find(m->table, pc - m->bias);
	}
	return 0;
}

/* In the epilogue of a realigned function gcc goes on saying that rbp is saved at [rbp] when it has been
 * restored. Rows notice; libunwind loses a frame or stops. */
static bool rbp_is_wrong(const struct target *t, const struct walk_regs *regs)
{
	uint64_t row = row_at(t, regs->r[WALK_RIP]), rbp = regs->r[WALK_RBP],
		 rsp = regs->r[WALK_RSP];
	uint64_t cfa = (row_kind(row) == ROW_REG ? regs->r[WALK_R8 + 2] : rsp) +
		       (uint64_t)row_off(row) * 8;

	return row_rbp(row) == ROW_RBP_AT_RBP &&
	       (row_kind(row) == ROW_REG || row_kind(row) == ROW_RSP) && (rbp < rsp || rbp >= cfa);
}

/* Whatever rows give must be the start of what libunwind gives, and all of it if they say that it is the
 * root. One exception: the first function of a coroutine was not called; libunwind goes on from there, or
 * stops before. */
static void compare(struct target *t, void *oracle, const struct walk_regs *regs,
		    const struct work *work, struct tally *tally)
{
	struct walk_stack ours, theirs;
	bool same;

	if (rbp_is_wrong(t, regs)) {
		tally->early_cnt++;
		return;
	}
	walk_rows(&t->space, regs, &ours);
	unwinder_libunwind.walk(oracle, regs, &theirs);
	tally->step_cnt++;
	tally->stop_cnt[ours.stop]++;
	tally->kind_cnt[row_kind(row_at(t, regs->r[WALK_RIP]))]++;
	if (ours.stop == WALK_UNSUPPORTED)
		tally->why_cnt[ours.why]++;
	same = agree(&ours, &theirs);
	if (same && ours.stop == WALK_ROOT && ours.frame_cnt != theirs.frame_cnt) {
		same = work->roots_differ;
		tally->early_cnt++;
	}
	if (same) {
		tally->same_cnt++;
		return;
	}
	if (tally->diff_cnt++ > 2)
		return;
	print_stack("rows", &ours);
	print_stack("libunwind", &theirs);
}

/* One instruction further, signals delivered on the way; false at the end of the work. */
static bool step(pid_t pid)
{
	int status, sig = 0;

	do {
		ptrace(PTRACE_SINGLESTEP, pid, 0, sig);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP)
			return false;
		sig = WSTOPSIG(status);
	} while (sig != SIGTRAP);
	return true;
}

static bool at_syscall(struct target *t, const struct walk_regs *regs)
{
	uint64_t word;

	return !target_read(t, regs->r[WALK_RIP], &word) && (word & 0xffff) == 0x050f;
}

static void step_through(pid_t pid, const struct work *work, struct tally *tally)
{
	struct target *t = target_open(pid);
	struct walk_regs regs;
	struct err err = { 0 };
	bool may_map = false;
	void *oracle;

	assert_int_equal(unwinder_libunwind.open(&t->space, &oracle, &err), 0);
	for (unsigned i = 0; i < work->max_steps; i++) {
		t->moment++;
		if (may_map && target_maps_changed(t)) {
			target_refresh(t);
			unwinder_libunwind.close(oracle);
			assert_int_equal(unwinder_libunwind.open(&t->space, &oracle, &err), 0);
		}
		assert_true(target_regs(pid, &regs));
		compare(t, oracle, &regs, work, tally);
		may_map = at_syscall(t, &regs);
		if (!step(pid))
			break;
	}
	unwinder_libunwind.close(oracle);
	target_close(t);
}

static void run_child(const struct work *work)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	work->run();
	raise(SIGSTOP);
	_exit(0);
}

static void print_tally(const char *name, const struct tally *t)
{
	print_message("%s: %llu instructions, %llu same, %llu different; ends:", name,
		      (unsigned long long)t->step_cnt, (unsigned long long)t->same_cnt,
		      (unsigned long long)t->diff_cnt);
	if (t->early_cnt)
		print_message(" (%llu left out or not where libunwind ends)",
			      (unsigned long long)t->early_cnt);
	for (int i = 0; i < 16; i++)
		if (t->stop_cnt[i])
			print_message(" %s %llu", target_stop_name((enum walk_stop)i),
				      (unsigned long long)t->stop_cnt[i]);
	for (int i = 0; i < ROW_WHY_MAX; i++)
		if (t->why_cnt[i])
			print_message(" (why %d: %llu)", i, (unsigned long long)t->why_cnt[i]);
	print_message("; kinds:");
	for (int i = 0; i < 32; i++)
		if (t->kind_cnt[i])
			print_message(" %d:%llu", i, (unsigned long long)t->kind_cnt[i]);
	print_message("\n");
}

static void test_every_instruction(void **state)
{
	struct tally total = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		struct tally tally = { 0 };
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			run_child(&works[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		step_through(pid, &works[i], &tally);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		print_tally(works[i].name, &tally);
		total.step_cnt += tally.step_cnt;
		total.diff_cnt += tally.diff_cnt;
		total.early_cnt += tally.early_cnt;
		total.stop_cnt[WALK_ROOT] += tally.stop_cnt[WALK_ROOT];
	}
	assert_int_equal(total.diff_cnt, 0);
	assert_true(total.step_cnt >= 10000);
	/* missing: longjmp while it switches stacks, swapcontext likewise */
	assert_true(total.stop_cnt[WALK_ROOT] * 1000 >= total.step_cnt * 998);
	assert_true(total.early_cnt * 1000 <= total.step_cnt);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_instruction) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
