/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/base/buf.h"
#include "user/model/msgtrace.h"

static void test_ids_survive(void **state)
{
	static const char *const texts[] = { "0",	   "7",	  "007", "2147483647",
					     "2147483648", "abc", "-1" };
	struct msgtrace *t = msgtrace__new();
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		uint32_t id = msgtrace__id(t, texts[i], strlen(texts[i]));

		assert_int_not_equal(id, 0);
		buf_reset(&out);
		msgtrace__put_id(t, id, &out);
		assert_string_equal(buf_str(&out), texts[i]);
	}
	assert_int_equal(msgtrace__id(t, "-", 1), 0);
	assert_int_not_equal(msgtrace__id(t, "7", 1), msgtrace__id(t, "007", 3));
	buf_free(&out);
	msgtrace__free(t);
}

static struct msg make(struct msgtrace *t, int64_t time_ns, enum msg_op op, uint32_t number)
{
	struct msg m = { .time_ns = time_ns, .op = (uint8_t)op, .id = number };

	m.sender = msgtrace__node(t, "A", 1);
	m.receiver = msgtrace__node(t, "B", 1);
	return m;
}

/* Messages of one instant: calls before returns, else as they came; truth and witnesses move along. */
static void test_messages_sort(void **state)
{
	static const int64_t times[] = { 5, 3, 3, 3, 1 };
	static const enum msg_op ops[] = { MSG_CALL, MSG_RET, MSG_CALL, MSG_ONEWAY, MSG_CALL };
	static const uint32_t want[] = { 5, 3, 4, 2, 1 };
	struct msgtrace *t = msgtrace__new();
	struct msg_truth truth[] = { { 1, 4 }, { 2, CALL_NONE }, { 3, 0 }, { 4, 1 }, { 5, 2 } };
	static const uint32_t want_parent[] = { 1, 4, 3, CALL_NONE, 0 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct msg m = make(t, times[i], ops[i], i + 1);
		struct witness w = { .sender_tid = i + 1 };

		msgtrace__add_msg(t, &m, &w);
	}
	t->msg_truth = malloc(sizeof(truth));
	memcpy(t->msg_truth, truth, sizeof(truth));
	assert_int_equal(t->unsorted_cnt, 3);
	msgtrace__sort_msgs(t);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(msgtrace__msg(t, i)->id, want[i]);
		assert_int_equal(t->msg_witness[i].sender_tid, want[i]);
		assert_int_equal(t->msg_truth[i].instance, want[i]);
		assert_int_equal(t->msg_truth[i].parent, want_parent[i]);
	}
	assert_int_equal(msgtrace__check(t, NULL), 0);
	msgtrace__free(t);
}

static void test_calls_sort(void **state)
{
	struct msgtrace *t = msgtrace__new();
	uint32_t a = msgtrace__node(t, "A", 1), b = msgtrace__node(t, "B", 1);
	struct call child = call_init(b, a, 20, 30), root = call_init(a, b, 10, 40);

	(void)state;
	child.parent = 1;
	child.true_parent = 1;
	msgtrace__add_call(t, &child, NULL);
	msgtrace__add_call(t, &root, NULL);
	msgtrace__sort_calls(t);
	assert_int_equal(t->calls[0].client_start_ns, 10);
	assert_int_equal(t->calls[1].parent, 0);
	assert_int_equal(call_true_parent(&t->calls[1]), 0);
	assert_int_equal(call_true_parent(&t->calls[0]), CALL_NONE);
	assert_int_equal(msgtrace__check(t, NULL), 0);
	t->calls[1].parent = 9;
	assert_int_not_equal(msgtrace__check(t, NULL), 0);
	msgtrace__free(t);
}

/* Many chunks, and dropping those that were read. */
static void test_chunks(void **state)
{
	struct msgtrace *t = msgtrace__new();
	uint32_t cnt = 3 * MSG_CHUNK_CNT + 5;

	(void)state;
	for (uint32_t i = 0; i < cnt; i++) {
		struct msg m = make(t, i, MSG_CALL, i);

		msgtrace__add_msg(t, &m, NULL);
	}
	msgtrace__drop_msgs(t, 2 * MSG_CHUNK_CNT + 1);
	assert_int_equal(msgtrace__msg(t, cnt - 1)->id, cnt - 1);
	assert_int_equal(msgtrace__msg(t, 2 * MSG_CHUNK_CNT)->id, 2 * MSG_CHUNK_CNT);
	assert_null(t->chunks[1]);
	msgtrace__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_survive),
		cmocka_unit_test(test_messages_sort),
		cmocka_unit_test(test_calls_sort),
		cmocka_unit_test(test_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
