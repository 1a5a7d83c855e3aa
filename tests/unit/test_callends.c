/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/analysis/callends.h"
#include "user/analysis/paths.h"

static void add(struct msgtrace *t, const char *from_to, int64_t start, int64_t end,
		enum call_side side)
{
	struct call c = call_init(msgtrace__node(t, from_to, 1), msgtrace__node(t, from_to + 1, 1),
				  start, end);

	c.side = (unsigned int)side & 3;
	msgtrace__add_call(t, &c, NULL);
}

static void test_join(void **state)
{
	struct msgtrace *t = msgtrace__new();

	(void)state;
	add(t, "AB", 10, 50, CALL_CLIENT);
	add(t, "AB", 12, 60, CALL_CLIENT);
	add(t, "AB", 15, 55, CALL_SERVER); /* fits into the second only */
	add(t, "AB", 20, 40, CALL_SERVER);
	add(t, "AB", 5, 8, CALL_SERVER);   /* nobody's */
	add(t, "BA", 10, 50, CALL_SERVER); /* another edge */
	assert_int_equal(callends_join(t, 0), 2);
	assert_int_equal(t->call_cnt, 4);
	assert_int_equal(t->calls[0].server_start_ns, 5);
	assert_int_equal(t->calls[1].server_start_ns, 20);
	assert_int_equal(t->calls[1].server_end_ns, 40);
	assert_int_equal(t->calls[1].side, CALL_BOTH);
	assert_int_equal(t->calls[3].server_start_ns, 15);
	assert_true(t->has_server_stamps);
	msgtrace__free(t);
}

/* Within the window a server's clock may be off. */
static void test_join_window(void **state)
{
	(void)state;
	for (int64_t window = 0; window < 10; window += 3) {
		struct msgtrace *t = msgtrace__new();

		add(t, "AB", 10, 50, CALL_CLIENT);
		add(t, "AB", 7, 40, CALL_SERVER);
		assert_int_equal(callends_join(t, window), window >= 3);
		msgtrace__free(t);
	}
}

/* A calls B over a network that takes 5 each way; B's own call follows to the inner half. */
static void test_split_network(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct buf name = { 0 };
	struct path_pos *pos;
	struct paths *p;
	size_t cnt;

	(void)state;
	add(t, "AB", 10, 50, CALL_BOTH);
	t->calls[0].server_start_ns = 15;
	t->calls[0].server_end_ns = 45;
	add(t, "BC", 20, 30, CALL_BOTH);
	t->calls[1].parent = 0;
	assert_int_equal(callends_split_network(t, 2, 1), 1);
	assert_int_equal(msgtrace__check(t, NULL), 0);
	p = paths__new(t, 0);
	assert_int_equal(p->root_cnt, 1);
	paths__name(p, &p->patterns[0], &name);
	if (strcmp(buf_str(&name), "A > A~B(B(C))") != 0)
		assert_string_equal(buf_str(&name), "A > B~A(B(C))");
	pos = paths__stats(p, &p->patterns[0], INT64_MIN, INT64_MAX, &cnt);
	assert_true(pos[0].own.mean_ns == 10);
	assert_true(pos[1].own.mean_ns == 20);
	assert_true(pos[2].delay.mean_ns == 5);
	free(pos);
	paths__free(p);
	buf_free(&name);
	msgtrace__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_window),
		cmocka_unit_test(test_split_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
