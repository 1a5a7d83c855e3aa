/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of this process's own registers and stack, walked by its own rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbolize/walk.h"
#include "user/base/mem.h"
#include "user/capture/copies.h"

enum {
	SPACE = 7,
	KERNEL_FRAMES = 2,
	ROWS = 1 << 20,
};

struct setup {
	struct spaces *spaces;
	struct symbolizer *sym;
	struct copies *copies;
	uint64_t *rows;
	uint32_t *blocks;
	struct cp_mapping *mappings;
	struct cp_event_copy *copy;
	uintptr_t callers[3]; /* of where it was taken, innermost first */
	struct cp_event_stack *stack;
};

/* The first cnt mappings of this process; 0: all. */
static void publish(struct setup *u, uint32_t space, size_t cnt)
{
	struct cp_range range;
	struct maps maps;

	assert_int_equal(maps_read(&maps, getpid(), NULL), 0);
	if (cnt)
		maps.cnt = cnt;
	assert_int_equal(spaces__publish(u->spaces, space, getpid(), &maps, u->sym, &range, NULL),
			 0);
	maps_free(&maps);
}

static void publish_self(struct setup *u)
{
	const struct spaces_sizes sizes = { ROWS, ROWS, 256 };

	u->rows = xcalloc(sizes.row_cnt, sizeof(*u->rows));
	u->blocks = xcalloc(sizes.block_cnt, sizeof(*u->blocks));
	u->mappings = xcalloc(sizes.mapping_cnt, sizeof(*u->mappings));
	spaces__use(u->spaces, &sizes, u->rows, u->blocks, u->mappings);
	publish(u, SPACE, 0);
}

static void take_registers(struct cp_event_copy *e, const ucontext_t *uc)
{
	static const int by_number[CP_REG_CNT] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
						   REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
						   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
						   REG_R15, REG_RIP };

	for (size_t i = 0; i < CP_REG_CNT; i++)
		e->regs[i] = (uint64_t)uc->uc_mcontext.gregs[by_number[i]];
}

/* What lies above the stack pointer up to the last page of the stack that there is, or the most that is copied. */
static uint32_t stack_bytes(uint64_t sp)
{
	struct maps maps;
	const struct maps_entry *e;
	uint64_t bytes;

	assert_int_equal(maps_read(&maps, getpid(), NULL), 0);
	e = maps_find(&maps, sp);
	assert_non_null(e);
	bytes = e->end - sp;
	maps_free(&maps);
	return bytes < CP_COPY_MAX_BYTES ? (uint32_t)bytes : CP_COPY_MAX_BYTES;
}

/* The sanitizers guard what lies between the variables of a frame. */
static __attribute__((no_sanitize_address)) void copy_bytes(char *to, uint64_t from, uint32_t cnt)
{
	const volatile char *bytes = (const char *)(uintptr_t)from;

	for (uint32_t i = 0; i < cnt; i++)
		to[i] = bytes[i];
}

static __attribute__((noinline)) void take_copy(struct setup *u)
{
	struct cp_event_copy *e = xzalloc(sizeof(*e) + KERNEL_FRAMES * 8 + CP_COPY_MAX_BYTES);
	ucontext_t uc;

	u->copy = e;
	e->stack_bytes = 0;
	getcontext(&uc);
	*e = (struct cp_event_copy){ .event = CP_EVENT_COPY,
				     .stop = CP_STOP_MAPS_CHANGED,
				     .kernel_cnt = KERNEL_FRAMES,
				     .id = 5 };
	take_registers(e, &uc);
	e->words[0] = 0xffffffff81000001;
	e->words[1] = 0xffffffff81000002;
	e->stack_bytes = stack_bytes(e->regs[WALK_RSP]);
	e->cut = e->stack_bytes == CP_COPY_MAX_BYTES;
	copy_bytes((char *)(e->words + KERNEL_FRAMES), e->regs[WALK_RSP], e->stack_bytes);
	u->callers[0] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void inner(struct setup *u)
{
	take_copy(u);
	u->callers[1] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void outer(struct setup *u)
{
	inner(u);
	u->callers[2] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	__asm__ volatile("" : : : "memory");
}

static int set_up(void **state)
{
	const struct sym_opts opts = { 0 };
	struct setup *u = xzalloc(sizeof(*u));

	u->spaces = spaces__new();
	u->sym = symbolizer__new(&opts);
	u->copies = copies__new();
	u->stack = xzalloc(sizeof(*u->stack) + 2 * CP_FRAMES_MAX * sizeof(u->stack->frames[0]));
	publish_self(u);
	outer(u);
	*state = u;
	return 0;
}

static int tear_down(void **state)
{
	struct setup *u = *state;

	copies__free(u->copies);
	spaces__free(u->spaces);
	symbolizer__free(u->sym);
	free(u->rows);
	free(u->blocks);
	free(u->mappings);
	free(u->copy);
	free(u->stack);
	free(u);
	return 0;
}

static void test_whole(void **state)
{
	struct setup *u = *state;

	/* twice: what is remembered of the space is as good */
	for (int i = 0; i < 2; i++) {
		copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
		assert_int_equal(u->stack->event, CP_EVENT_STACK);
		assert_int_equal(u->stack->id, 5);
		assert_int_equal(u->stack->kernel_cnt, KERNEL_FRAMES);
		assert_true(u->stack->frames[1] == u->copy->words[1]);
		assert_true(u->stack->user_cnt > 4);
		assert_true(u->stack->frames[KERNEL_FRAMES] == u->copy->regs[WALK_RIP]);
		for (size_t k = 0; k < 3; k++)
			assert_true(u->stack->frames[KERNEL_FRAMES + 1 + k] == u->callers[k]);
		/* the test driver's own frames may be large */
		assert_true(u->stack->stop == WALK_ROOT || u->stack->stop == CP_STOP_COPY_SHORT);
	}
}

static void test_cut(void **state)
{
	struct setup *u = *state;
	uint8_t whole_cnt;

	copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
	whole_cnt = u->stack->user_cnt;
	u->copy->stack_bytes = 0;
	u->copy->cut = 1;
	copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
	assert_int_equal(u->stack->stop, CP_STOP_COPY_SHORT);
	u->copy->cut = 0;
	copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
	assert_int_equal(u->stack->stop, WALK_UNREADABLE);
	assert_int_equal(u->stack->user_cnt, 1);
	for (uint32_t bytes = 0; bytes < CP_COPY_MAX_BYTES - 4096; bytes += 101) {
		u->copy->stack_bytes = bytes;
		copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
		assert_true(u->stack->user_cnt <= whole_cnt);
		assert_true(u->stack->stop == WALK_UNREADABLE || u->stack->stop == WALK_ROOT);
	}
}

static void test_unknown_space(void **state)
{
	struct setup *u = *state;

	copies__walk(u->copies, u->spaces, SPACE + 1, u->copy, u->stack);
	assert_int_equal(u->stack->stop, CP_STOP_MAPS_CHANGED);
	assert_int_equal(u->stack->user_cnt, 0);
	assert_int_equal(u->stack->kernel_cnt, KERNEL_FRAMES);
}

static void test_another_space(void **state)
{
	struct setup *u = *state;

	publish(u, SPACE + 1, 1);
	copies__walk(u->copies, u->spaces, SPACE, u->copy, u->stack);
	assert_true(u->stack->user_cnt > 1);
	copies__walk(u->copies, u->spaces, SPACE + 1, u->copy, u->stack);
	assert_int_equal(u->stack->stop, WALK_NO_MAPPING);
	assert_int_equal(u->stack->user_cnt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_space, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
