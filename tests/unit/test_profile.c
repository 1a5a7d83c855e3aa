/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/profile.h"

static uint32_t named_frame(struct profile *p, const char *name)
{
	const struct frame f = { .name_sid = profile__string(p, name) };

	return profile__add_frame(p, &f);
}

static void test_entry_0_exists(void **state)
{
	struct profile *p = profile__new();

	(void)state;
	assert_int_equal(p->strings.cnt, 1);
	assert_int_equal(p->mappings.cnt, 1);
	assert_int_equal(p->frames.cnt, 1);
	assert_int_equal(p->stacks.cnt, 1);
	assert_int_equal(p->processes.cnt, 1);
	assert_int_equal(p->threads.cnt, 1);
	assert_int_equal(p->sums.cnt, 0);
	assert_string_equal(profile__str(p, 0), "");
	assert_int_equal(profile__check(p, NULL), 0);
	profile__free(p);
	profile__free(NULL);
}

static void test_equal_callers_are_stored_once(void **state)
{
	struct profile *p = profile__new();
	uint32_t main_frame = named_frame(p, "main"), read_frame = named_frame(p, "read");
	uint32_t root, leaf, *frames = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(named_frame(p, "main"), main_frame);
	root = profile__add_stack(p, 0, main_frame);
	leaf = profile__add_stack(p, root, read_frame);
	assert_int_equal(profile__add_stack(p, 0, main_frame), root);
	assert_int_equal(profile__add_stack(p, root, read_frame), leaf);
	assert_int_not_equal(profile__add_stack(p, 0, read_frame), leaf);
	assert_int_equal(profile__frames(p, leaf, &frames, &cap), 2);
	assert_int_equal(frames[0], main_frame);
	assert_int_equal(frames[1], read_frame);
	assert_int_equal(profile__frames(p, 0, &frames, &cap), 0);
	free(frames);
	profile__free(p);
}

static void test_equal_sums_add_up_and_saturate(void **state)
{
	struct profile *p = profile__new();
	struct sum s = { .kind = KIND_SLEEP, .ns = 5, .cnt = 1 };

	(void)state;
	assert_int_equal(profile__add_sum(p, &s), 0);
	s.ns = 7;
	assert_int_equal(profile__add_sum(p, &s), 0);
	assert_int_equal(p->sums.items[0].ns, 12);
	assert_int_equal(p->sums.items[0].cnt, 2);
	s.flags = PART_CUT_END;
	assert_int_equal(profile__add_sum(p, &s), 1);
	s.ns = UINT64_MAX - 3;
	profile__add_sum(p, &s);
	assert_true(p->sums.items[1].ns == UINT64_MAX);
	profile__free(p);
}

static void test_unknown_loss_stays_unknown(void **state)
{
	struct profile *p = profile__new();

	(void)state;
	profile__add_loss(p, LOSS_WALK_STOPPED, 2, 100);
	profile__add_loss(p, LOSS_WALK_STOPPED, 3, 50);
	assert_int_equal(p->losses[LOSS_WALK_STOPPED].events, 5);
	assert_int_equal(p->losses[LOSS_WALK_STOPPED].ns, 150);
	profile__add_loss(p, LOSS_WALK_STOPPED, 1, UINT64_MAX);
	profile__add_loss(p, LOSS_WALK_STOPPED, 1, 1);
	assert_true(p->losses[LOSS_WALK_STOPPED].ns == UINT64_MAX);
	profile__free(p);
}

static void expect_bad(struct profile *p, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(profile__check(p, &err), -22);
	assert_string_equal(err.msg, message);
}

static void test_check_names_what_is_wrong(void **state)
{
	struct profile *p = profile__new();
	struct interval iv = { .start_ns = 9, .end_ns = 8 };
	struct request r = { .start_ns = 1, .end_ns = 2 };

	(void)state;
	profile__add_stack(p, 0, named_frame(p, "main"));
	assert_int_equal(profile__check(p, NULL), 0);
	p->stacks.items[1].parent = 1;
	expect_bad(p, "stack 1: parent 1 does not exist");
	p->stacks.items[1].parent = 0;
	p->stacks.items[1].frame = 0;
	expect_bad(p, "stack 1: it has no frame");
	p->stacks.items[1].frame = 1;
	p->frames.items[1].file_sid = 77;
	expect_bad(p, "frame 1: file 77 does not exist");
	p->frames.items[1].file_sid = 0;
	profile__add_interval(p, &iv);
	expect_bad(p, "interval 0: its start 9 lies behind its end 8");
	p->intervals.items[0].end_ns = 9;
	p->intervals.items[0].request = 1;
	expect_bad(p, "interval 0: request 1 does not exist");
	assert_int_equal(profile__add_request(p, &r), 1);
	assert_int_equal(profile__check(p, NULL), 0);
	p->header.window_start_ns = 1;
	expect_bad(p, "window 0: its start 1 lies behind its end 0");
	profile__free(p);
}

static void test_each_enum_value_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < KIND_MAX; i++) {
		assert_string_not_equal(model_kind_name(i), "?");
		assert_int_not_equal(model_kind_letter(i), '?');
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(model_kind_name(i), model_kind_name(j));
			assert_int_not_equal(model_kind_letter(i), model_kind_letter(j));
		}
	}
	for (int i = NAME_OK + 1; i < NAME_REASON_MAX; i++)
		assert_int_equal(model_name_reason(i)[0], '[');
	for (int i = STOP_ROOT + 1; i < STOP_REASON_MAX; i++)
		assert_int_equal(model_stop_reason(i)[0], '[');
	for (int i = 0; i < LOSS_CAUSE_MAX; i++)
		assert_string_not_equal(model_loss_cause(i), "?");
	assert_string_equal(model_kind_name(KIND_MAX), "?");
	assert_string_equal(model_kind_name(-1), "?");
	assert_int_equal(model_kind_letter(99), '?');
	assert_string_equal(model_loss_cause(LOSS_SLOTS_CNT), "?");
}

static void test_each_kind_of_time_is_in_one_class(void **state)
{
	(void)state;
	for (int i = KIND_RUNNING; i < KIND_MAX; i++)
		assert_int_equal((i == KIND_RUNNING) + !!model_kind_is_blocked(i) +
					 !!model_kind_is_runnable(i),
				 1);
	assert_false(model_kind_is_blocked(KIND_NONE));
	assert_false(model_kind_is_blocked(KIND_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry_0_exists),
		cmocka_unit_test(test_equal_callers_are_stored_once),
		cmocka_unit_test(test_equal_sums_add_up_and_saturate),
		cmocka_unit_test(test_unknown_loss_stays_unknown),
		cmocka_unit_test(test_check_names_what_is_wrong),
		cmocka_unit_test(test_each_enum_value_has_a_name),
		cmocka_unit_test(test_each_kind_of_time_is_in_one_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
