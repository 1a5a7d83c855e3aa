/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over rows against libunwind at every single instruction of code that is hard to unwind: a child
 * runs it and is stepped. Prologues, epilogues, PLT stubs, lazy binding, signal frames, realigned stacks,
 * vdso, vfork, exceptions' slow paths in libgcc, hand-written string functions are all on the way. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbolize/unwind.h"
#include "tests/tools/target.h"
#include "tests/tools/works.h"

/* ---- the comparison ---- */

struct tally {
	uint64_t step_cnt, same_cnt, diff_cnt, early_cnt;
	struct walk_stack last;
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

	walk_rows(&t->space, regs, &ours);
	if (rbp_is_wrong(
		    t, regs)) { /* no oracle, but the callers are those of the instruction before */
		ours.frames[0] = tally->last.frames[0];
		tally->diff_cnt +=
			ours.frame_cnt != tally->last.frame_cnt || !agree(&ours, &tally->last);
		tally->early_cnt++;
		return;
	}
	tally->last = ours;
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
		pid_t pid;

#ifdef __SANITIZE_ADDRESS__
		/* the sanitizer's own vfork keeps the return address where libunwind cannot find it */
		if (!strcmp(works[i].name, "vfork"))
			continue;
#endif
		pid = fork();

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
