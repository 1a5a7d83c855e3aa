/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by key: equal keys add up, keys that differ in any field do not, and nothing is lost while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/capture/result.h"

enum {
	KEYS = 20000,
};

static struct cp_sum_key key_of(uint32_t i)
{
	return (struct cp_sum_key){ .stack = i / 4, .kind = (uint8_t)(i % 4) };
}

static void equal_keys_add_up(void **state)
{
	struct sum_table t = { 0 };
	struct cp_sum_key key;

	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < KEYS; i++) {
			const struct cp_sum value = { .ns = UINT32_MAX + (uint64_t)i, .cnt = 1 };

			key = key_of(i);
			sum_table_add(&t, &key, &value);
		}
	assert_int_equal(t.cnt, KEYS);
	for (uint32_t i = 0; i < KEYS; i++) {
		const struct cp_sum_key want = key_of(i);
		struct cp_sum sum = sum_table_get(&t, i, &key);

		assert_memory_equal(&key, &want, sizeof(key));
		assert_int_equal(sum.ns, 2 * (UINT32_MAX + (uint64_t)i));
		assert_int_equal(sum.cnt, 2);
	}
	sum_table_free(&t);
}

static void each_field_tells_keys_apart(void **state)
{
	const struct cp_sum one = { .ns = 1, .cnt = 1 };
	struct sum_table t = { 0 };
	struct cp_sum_key key;

	(void)state;
	for (size_t i = 0; i < sizeof(key); i++) {
		memset(&key, 0, sizeof(key));
		((uint8_t *)&key)[i] = 1;
		sum_table_add(&t, &key, &one);
	}
	assert_int_equal(t.cnt, sizeof(key));
	for (size_t i = 0; i < sizeof(key); i++) {
		assert_int_equal(sum_table_get(&t, i, &key).ns, 1);
		assert_int_equal(((uint8_t *)&key)[i], 1);
	}
	sum_table_free(&t);
}

/* first .. last of key_of(), each with its number as its time */
static struct sum_table table_of(uint32_t first, uint32_t last)
{
	struct sum_table t = { 0 };

	for (uint32_t i = first;; i += first < last ? 1 : -1) {
		const struct cp_sum value = { .ns = i, .cnt = 1 };
		const struct cp_sum_key key = key_of(i);

		sum_table_add(&t, &key, &value);
		if (i == last)
			return t;
	}
}

static void equal_tables_compare_equal(void **state)
{
	struct sum_table up = table_of(1, 50), down = table_of(50, 1), less = table_of(1, 49);
	const struct cp_sum one_ns = { .ns = 1 };
	const struct cp_sum_key key = key_of(9);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(result_compare(&up, &down, &err), 0);
	assert_int_not_equal(result_compare(&up, &less, &err), 0);
	assert_int_not_equal(result_compare(&less, &up, &err), 0);
	err = (struct err){ 0 };
	sum_table_add(&down, &key, &one_ns);
	assert_int_not_equal(result_compare(&up, &down, &err), 0);
	assert_non_null(strstr(err.msg, "stack 2 kind 1 has 9 ns by sums, stack 2 kind 1 10 ns"));
	sum_table_free(&up);
	sum_table_free(&down);
	sum_table_free(&less);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_add_up),
		cmocka_unit_test(each_field_tells_keys_apart),
		cmocka_unit_test(equal_tables_compare_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
