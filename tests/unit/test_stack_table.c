/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks come out of the table as they went in, equal ones have one number, and shared callers cost nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/base/prng.h"
#include "user/capture/stack_table.h"

enum {
	STACKS = 3000,
	PYTHON_WORDS = 3,
};

static size_t size_of(const struct cp_event_stack *e)
{
	return sizeof(*e) +
	       8 * (e->kernel_cnt + e->user_cnt + (size_t)PYTHON_WORDS * e->python_cnt);
}

/* Few different frames and ends, so that chains and whole stacks come again; always the same for one seed. */
static const struct cp_event_stack *make(uint64_t seed, union stack_room *room)
{
	struct prng r;
	struct cp_event_stack *e = &room->stack;
	size_t words;

	prng_init(&r, seed, 0);
	memset(room, 0, sizeof(*room));
	e->event = CP_EVENT_STACK;
	e->id = (uint32_t)seed + 1;
	e->stop = (uint8_t)prng_below(&r, 3);
	e->kernel_cnt = (uint8_t)prng_below(&r, 3);
	e->user_cnt = (uint8_t)(prng_below(&r, 50) ? prng_below(&r, 4) : UINT8_MAX);
	if (!prng_below(&r, 3)) {
		e->python_cnt = (uint8_t)prng_below(&r, 3);
		e->python_stop = (uint8_t)prng_below(&r, 2);
		e->process = (uint32_t)prng_below(&r, 2) * UINT32_MAX;
	}
	for (size_t i = 0; i < 2; i++) {
		e->fp_mask[i] = prng_below(&r, 2) << 63;
		e->signal_mask[i] = prng_below(&r, 2);
	}
	words = (size_of(e) - sizeof(*e)) / 8;
	for (size_t i = 0; i < words; i++)
		e->frames[i] =
			prng_below(&r, 2) ? UINT64_MAX - prng_below(&r, 2) : prng_below(&r, 3);
	return e;
}

static bool same_but_id(const struct cp_event_stack *a, const struct cp_event_stack *b)
{
	struct cp_event_stack head = *a;

	head.id = b->id;
	return !memcmp(&head, b, sizeof(head)) &&
	       !memcmp(a->frames, b->frames, size_of(a) - sizeof(*a));
}

static void come_out_as_they_went_in(void **state)
{
	uint32_t *numbers = calloc(STACKS, sizeof(*numbers));
	struct stack_table t = { 0 };
	union stack_room in, out;
	size_t new_cnt = 0;
	bool is_new;

	(void)state;
	for (uint64_t i = 0; i < STACKS; i++) {
		numbers[i] = stack_table_add(&t, make(i, &in), &is_new);
		new_cnt += is_new;
		assert_int_not_equal(numbers[i], 0);
	}
	assert_in_range(new_cnt, STACKS / 10, STACKS - 100); /* some came again, some did not */
	for (uint64_t i = 0; i < STACKS; i++) {
		const struct cp_event_stack *e = make(i, &in);

		assert_true(same_but_id(e, stack_table_get(&t, numbers[i], &out)));
		assert_int_equal(out.stack.id, numbers[i]);
		assert_int_equal(stack_table_stop(&t, numbers[i]), e->stop);
		assert_int_equal(stack_table_add(&t, e, &is_new), numbers[i]);
		assert_false(is_new);
	}
	stack_table_free(&t);
	free(numbers);
}

/* One that differs in its leaf takes one cell for it and one for itself. */
static void share_their_callers(void **state)
{
	struct stack_table t = { 0 };
	union stack_room room = { .stack = { .user_cnt = UINT8_MAX, .kernel_cnt = 2 } };
	uint32_t first, second;
	bool is_new;
	size_t cnt;

	(void)state;
	for (size_t i = 0; i < UINT8_MAX + 2U; i++)
		room.stack.frames[i] = 1000 + i;
	first = stack_table_add(&t, &room.stack, &is_new);
	assert_true(is_new);
	cnt = t.cnt;
	room.stack.frames[2] = 7; /* the user leaf, below the kernel's frames */
	second = stack_table_add(&t, &room.stack, &is_new);
	assert_true(is_new);
	assert_int_not_equal(first, second);
	assert_int_equal(t.cnt, cnt + 2);
	stack_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(come_out_as_they_went_in),
		cmocka_unit_test(share_their_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
