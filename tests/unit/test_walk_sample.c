/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over rows against libunwind on samples: a timer's signal hits this program wherever it is; its
 * handler copies the registers and 16 KiB of stack, and both unwind the copy. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "tests/tools/works.h"
#include <cmocka.h>

#include "symbolize/unwind.h"
#include "tests/tools/target.h"

enum {
	STACK_BYTES = 16384,
	BATCH = 1000,
	WANT_SAMPLES = 16000,
	INTERVAL_NS = 60000,
};

struct sample {
	struct walk_regs regs;
	uint64_t stack_bytes;
	uint8_t stack[STACK_BYTES];
};

static struct sample *samples; /* of the batch */
static volatile unsigned sample_cnt;

/* The kernel's order in struct ucontext: r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
static void on_timer(int sig, siginfo_t *info, void *context)
{
	static const int places[WALK_REG_CNT] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
						  REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
						  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
						  REG_R15, REG_RIP };
	const ucontext_t *uc = context;
	int saved = errno;
	struct sample *s = &samples[sample_cnt];
	struct iovec to = { s->stack, STACK_BYTES }, from = { 0, STACK_BYTES };
	ssize_t n;

	(void)sig;
	(void)info;
	if (sample_cnt == BATCH)
		return;
	for (int i = 0; i < WALK_REG_CNT; i++)
		s->regs.r[i] = (uint64_t)uc->uc_mcontext.gregs[places[i]];
	from.iov_base = (void *)s->regs.r[WALK_RSP];
	n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	s->stack_bytes = n > 0 ? (uint64_t)n : 0;
	sample_cnt++;
	errno = saved;
}

struct copy {
	struct target *files; /* for what never changes: .eh_frame */
	const struct sample *sample;
};

static int read_copy(void *ctx, uint64_t addr, uint64_t *word)
{
	const struct copy *c = ctx;
	uint64_t off = addr - c->sample->regs.r[WALK_RSP];

	if (off < c->sample->stack_bytes && c->sample->stack_bytes - off >= 8) {
		memcpy(word, c->sample->stack + off, 8);
		return 0;
	}
	return target_is_file(c->files, addr) ? target_read(c->files, addr, word) : -1;
}

struct counts {
	unsigned sample_cnt, same_cnt, diff_cnt;
	unsigned stop_cnt[16];
	unsigned misled_cnt, coroutine_cnt; /* skipped, see below */
	uint64_t frame_cnt;
};

/* The two cases of test_walk.c in which libunwind is known to be wrong. */
static bool is_skipped(const struct copy *c, const struct walk_stack *ours,
		       const struct walk_stack *theirs, struct counts *n)
{
	const struct target *t = c->files;
	const struct walk_regs *regs = &c->sample->regs;

	for (size_t i = 0; i < t->space.mapping_cnt; i++) {
		const struct walk_mapping *m = &t->mappings[i];
		uint64_t pc = regs->r[WALK_RIP], row;

		if (pc < m->start || pc >= m->end || !m->table)
			continue;
		row = rows_find(m->table, pc - m->bias);
		if (row_rbp(row) == ROW_RBP_AT_RBP && row_kind(row) != ROW_DEREF_RBP) {
			n->misled_cnt++;
			return true;
		}
	}
	if (ours->stop == WALK_ROOT && ours->frame_cnt != theirs->frame_cnt) {
		for (uint32_t i = 0; i < ours->frame_cnt; i++) {
			if (ours->frames[i].addr >= (uint64_t)in_coroutine &&
			    ours->frames[i].addr < (uint64_t)in_coroutine + 256) {
				n->coroutine_cnt++;
				return true;
			}
		}
	}
	return false;
}

static void compare(struct copy *c, void *oracle, const struct walk_space *space, struct counts *n)
{
	struct walk_stack ours, theirs;
	uint32_t cnt;

	walk_rows(space, &c->sample->regs, &ours);
	unwinder_libunwind.walk(oracle, &c->sample->regs, &theirs);
	n->sample_cnt++;
	n->stop_cnt[ours.stop]++;
	n->frame_cnt += ours.frame_cnt;
	if (is_skipped(c, &ours, &theirs, n))
		return;
	cnt = ours.frame_cnt < theirs.frame_cnt ? ours.frame_cnt : theirs.frame_cnt;
	for (uint32_t i = 0; i < cnt; i++)
		if (ours.frames[i].addr != theirs.frames[i].addr)
			goto different;
	if (ours.stop == WALK_ROOT && ours.frame_cnt != theirs.frame_cnt)
		goto different;
	n->same_cnt++;
	return;
different:
	if (n->diff_cnt++ > 2)
		return;
	for (uint32_t i = 0; i < ours.frame_cnt || i < theirs.frame_cnt; i++)
		print_message("  %2u %016llx %016llx\n", i,
			      i < ours.frame_cnt ? (unsigned long long)ours.frames[i].addr : 0,
			      i < theirs.frame_cnt ? (unsigned long long)theirs.frames[i].addr : 0);
	print_message("  %s, %s\n", target_stop_name(ours.stop), target_stop_name(theirs.stop));
}

static void compare_batch(struct target *t, struct counts *n)
{
	struct copy c = { .files = t };
	struct walk_space space;
	struct err err = { 0 };
	void *oracle;

	if (target_maps_changed(t)) /* dlopen */
		target_refresh(t);
	space = t->space;
	space.read = read_copy;
	space.ctx = &c;
	assert_int_equal(unwinder_libunwind.open(&space, &oracle, &err), 0);
	for (unsigned i = 0; i < sample_cnt; i++) {
		c.sample = &samples[i];
		compare(&c, oracle, &space, n);
	}
	unwinder_libunwind.close(oracle);
}

/* Deep enough that 16 KiB do not hold all of it. */
__attribute__((noinline)) static int deep(int n)
{
	volatile char text[200];

	text[n] = (char)n;
	return n ? deep(n - 1) + text[n] : fib(10);
}

static void run_batch(void)
{
	sample_cnt = 0;
	while (sample_cnt < BATCH) {
		for (size_t i = 0; i < sizeof(works) / sizeof(works[0]) && sample_cnt < BATCH; i++)
			works[i].run();
		sink += deep(110);
	}
}

static void test_samples(void **state)
{
	struct itimerspec every = { { 0, INTERVAL_NS }, { 0, INTERVAL_NS } },
			  never = { { 0 }, { 0 } };
	struct sigaction sa = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct target *t = target_open(getpid());
	struct counts n = { 0 };
	timer_t timer;

	(void)state;
	samples = calloc(BATCH, sizeof(*samples));
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		works[i].run(); /* libraries are loaded before the first batch looks for them */
	sigaction(SIGPROF, &sa, NULL);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	while (n.sample_cnt < WANT_SAMPLES) {
		timer_settime(timer, 0, &every, NULL);
		run_batch();
		timer_settime(timer, 0, &never, NULL);
		compare_batch(t, &n);
	}
	timer_delete(timer);
	print_message("%u samples, %.1f frames each: %u same, %u different; left out: %u in the "
		      "epilogue of a realigned function, %u at the root of a coroutine\n",
		      n.sample_cnt, (double)n.frame_cnt / n.sample_cnt, n.same_cnt, n.diff_cnt,
		      n.misled_cnt, n.coroutine_cnt);
	for (int i = 0; i < 16; i++)
		if (n.stop_cnt[i])
			print_message("  ended at: %s %u\n", target_stop_name((enum walk_stop)i),
				      n.stop_cnt[i]);
	assert_int_equal(n.diff_cnt, 0);
	assert_true(n.same_cnt >= 10000);
	assert_true(n.stop_cnt[WALK_UNREADABLE] > 0); /* deep stacks are cut, and both say where */
	free(samples);
	target_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_samples) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
