/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/hash.h"

static void test_quoted_text(void **state)
{
	struct buf out = { 0 };

	(void)state;
	escape_quoted(&out, "a \"b\\\n\t\x01\xff\xc3\xa9\xe2\x80\xae", 14);
	assert_string_equal(buf_str(&out), "\"a \\\"b\\\\\\n\\t\\x01\\xffé\\xe2\\x80\\xae\"");
	buf_free(&out);
}

static void test_quoted_bytes_come_back(void **state)
{
	struct buf quoted = { 0 }, back = { 0 };
	char bytes[40];
	size_t used_bytes;

	(void)state;
	for (uint64_t i = 0; i < 20000; i++) {
		size_t len_bytes = hash_u64(i) % sizeof(bytes);

		for (size_t k = 0; k < len_bytes; k++)
			bytes[k] = (char)(hash_pair(i, k) >> (hash_u64(i) % 3));
		buf_reset(&quoted);
		buf_reset(&back);
		escape_quoted(&quoted, bytes, len_bytes);
		assert_null(strpbrk(buf_str(&quoted), "\n\r\x1b"));
		assert_int_equal(unescape_quoted(&back, quoted.data, quoted.len_bytes, &used_bytes),
				 0);
		assert_int_equal(used_bytes, quoted.len_bytes);
		assert_int_equal(back.len_bytes, len_bytes);
		assert_memory_equal(buf_str(&back), bytes, len_bytes);
	}
	buf_free(&quoted);
	buf_free(&back);
}

static void test_wrong_quotes_are_refused(void **state)
{
	static const char *const wrong[] = { "\"",	 "\"abc",     "\"\\\"",	   "\"\\q\"",
					     "\"\\x4\"", "\"\\xzz\"", "\"\\xA0\"", "\"\\" };
	struct buf out = { 0 };
	size_t used_bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(unescape_quoted(&out, wrong[i], strlen(wrong[i]), &used_bytes),
				 -22);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quoted_text),
		cmocka_unit_test(test_quoted_bytes_come_back),
		cmocka_unit_test(test_wrong_quotes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
