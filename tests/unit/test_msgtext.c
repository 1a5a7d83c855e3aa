/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading what was written gives the same; units; refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "user/base/prng.h"
#include "user/exchange/msgtext.h"
#include "user/model/nodemap.h"

static int read_text(const char *text, size_t len_bytes, struct msgtrace *t, struct err *err)
{
	struct msgtext_opts o = { 0 };
	struct msgtext_stats stats;
	struct input *in;
	int rc = input_open_mem(text, len_bytes, &in, err);

	if (!rc) {
		rc = msgtext_read(in, &o, t, &stats, err);
		input_close(in);
	}
	return rc;
}

static void put_all(const struct msgtrace *t, struct buf *out)
{
	for (size_t i = 0; i < t->msg_cnt; i++)
		msgtext_put(out, t, msgtrace__msg(t, i),
			    t->msg_witness ? &t->msg_witness[i] : NULL);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct msgtrace *t = msgtrace__new(), *again = msgtrace__new();
		struct buf first = { 0 }, second = { 0 };
		struct prng r;
		struct err err = { 0 };

		prng_init(&r, seed, 0);
		for (int i = 0; i < 200; i++) {
			struct msg m = { .op = (uint8_t)prng_between(&r, 1, 3) };
			struct witness w = { 0 };
			char name[4], id[12];

			for (int k = 0; k < 3; k++) /* any byte but NUL */
				name[k] = (char)prng_between(&r, 1, 255);
			m.time_ns = prng_between(&r, -4000000000000000000, 4000000000000000000);
			m.sender = msgtrace__node(t, name, 3);
			m.receiver = msgtrace__node(t, "-", 1);
			snprintf(id, sizeof(id), i % 3 ? "%u" : "x%u", (unsigned int)prng_u64(&r));
			m.id = i % 5 ? msgtrace__id(t, id, strlen(id)) : 0;
			if (seed % 2) {
				w.sender_tid = (uint32_t)prng_below(&r, 3);
				w.receiver_tid = (uint32_t)prng_u64(&r);
				w.cause_kind = (uint32_t)prng_below(&r, 3);
				w.cause = w.cause_kind == CAUSE_THREAD ? 7 :
					  w.cause_kind		       ? msgtrace__id(t, "9", 1) :
									 0;
			}
			msgtrace__add_msg(t, &m, &w);
		}
		put_all(t, &first);
		if (read_text(first.data, first.len_bytes, again, &err))
			fail_msg("%s", err.msg);
		put_all(again, &second);
		assert_string_equal(buf_str(&first), buf_str(&second));
		assert_int_equal(again->msg_cnt, t->msg_cnt);
		for (size_t i = 0; i < t->msg_cnt; i++)
			assert_int_equal(msgtrace__msg(again, i)->time_ns,
					 msgtrace__msg(t, i)->time_ns);
		buf_free(&first);
		buf_free(&second);
		msgtrace__free(t);
		msgtrace__free(again);
	}
}

static void test_times(void **state)
{
	static const struct {
		const char *line;
		int64_t ns;
	} cases[] = {
		{ "1 MSG A B -\n", 1000000000 },
		{ "-1.5 MSG A B -\n", -1500000000 },
		{ "0.1234567899 MSG A B -\n", 123456789 },
		{ "#unit ns\n12.9 MSG A B -\n", 12 },
		{ "#unit ms\n0.5 MSG A B -\r\n", 500000 },
		{ "1700000000.000000001\tMSG  A\tB   -\n", 1700000000000000001 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct msgtrace *t = msgtrace__new();

		assert_int_equal(read_text(cases[i].line, strlen(cases[i].line), t, NULL), 0);
		assert_int_equal(t->msg_cnt, 1);
		assert_int_equal(msgtrace__msg(t, 0)->time_ns, cases[i].ns);
		msgtrace__free(t);
	}
}

static void test_node_map(void **state)
{
	static const char rules[] = "# comment\n^10\\.0\\.0\\.([0-9]+):80$ web\\1\n:5432$ db\n";
	static const char text[] = "1 MSG 10.0.0.7:80 h:5432 -\n2 MSG k:5432 other -\n";
	struct msgtrace *t = msgtrace__new();
	struct nodemap *map = NULL;
	struct input *in;

	(void)state;
	assert_int_equal(input_open_mem(rules, sizeof(rules) - 1, &in, NULL), 0);
	assert_int_equal(nodemap__read(in, &map, NULL), 0);
	input_close(in);
	assert_int_equal(read_text(text, sizeof(text) - 1, t, NULL), 0);
	nodemap__apply(map, t);
	assert_string_equal(msgtrace__node_name(t, msgtrace__msg(t, 0)->sender), "web7");
	assert_string_equal(msgtrace__node_name(t, msgtrace__msg(t, 0)->receiver), "db");
	assert_int_equal(msgtrace__msg(t, 0)->receiver, msgtrace__msg(t, 1)->sender);
	assert_string_equal(msgtrace__node_name(t, msgtrace__msg(t, 1)->receiver), "other");
	nodemap__free(map);
	msgtrace__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_node_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
