/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by key: equal keys add up, keys that differ in any field do not, and nothing is lost while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/capture/sum_table.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_add_up),
		cmocka_unit_test(each_field_tells_keys_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
