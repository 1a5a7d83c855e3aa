/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded lines: counts in every dialect, escapes that read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/foldtext.h"
#include "user/base/input.h"
#include "user/base/mem.h"

static void counts(void **state)
{
	static const struct {
		const char *text;
		uint64_t whole;
		uint32_t nano;
		bool is_negative, is_saturated;
	} cases[] = {
		{ "7", 7, 0, false, false },
		{ "6.", 6, 0, false, false },
		{ ".5", 0, 500000000, false, false },
		{ "0.156", 0, 156000000, false, false },
		{ "1e-3", 0, 1000000, false, false },
		{ "1.5E+2", 150, 0, false, false },
		{ "-5", 5, 0, true, false },
		{ "0.00e9", 0, 0, false, false },
		{ "0.0000000005", 0, 1, false, false },
		{ "0.9999999996", 1, 0, false, false },
		{ "18446744073709551615", UINT64_MAX, 0, false, false },
		{ "18446744073709551616", UINT64_MAX, 0, false, true },
		{ "1e999999", UINT64_MAX, 0, false, true },
		{ "1e-999999", 0, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		struct foldtext_count c;

		assert_null(foldtext_parse_count(cases[i].text, strlen(cases[i].text), &c));
		assert_int_equal(c.whole, cases[i].whole);
		assert_int_equal(c.nano, cases[i].nano);
		assert_int_equal(c.is_negative, cases[i].is_negative);
		assert_int_equal(c.is_saturated, cases[i].is_saturated);
	}
}

static void not_counts(void **state)
{
	static const char *const cases[] = { "",      "0x10", "nan", "inf", "12V.43", "1e", "1e+",
					     "1.2.3", "-",    ".",   "+",   "5 ",     "--5" };

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		struct foldtext_count c;

		assert_non_null(foldtext_parse_count(cases[i], strlen(cases[i]), &c));
	}
}

static void lines(void **state)
{
	char with_blanks[] = "a b;step 12 6", tabs[] = "x;y\t 3  ", alone[] = "12", none[] = "a;b";
	struct foldtext_line l;

	(void)state;
	assert_null(foldtext_parse(with_blanks, strlen(with_blanks), &l));
	assert_string_equal(l.stack, "a b;step 12");
	assert_int_equal(l.count.whole, 6);
	assert_null(foldtext_parse(tabs, strlen(tabs), &l));
	assert_string_equal(l.stack, "x;y");
	assert_non_null(foldtext_parse(alone, strlen(alone), &l));
	assert_non_null(foldtext_parse(none, strlen(none), &l));
}

static void frames(void **state)
{
	const char *text = "a;;b", *rest = text, *frame;
	char joined[16] = "";
	size_t frame_bytes;

	(void)state;
	while (foldtext_next(&rest, text + 4, &frame, &frame_bytes)) {
		strncat(joined, frame, frame_bytes);
		strcat(joined, "|");
	}
	assert_string_equal(joined, "a||b|");
}

static void escapes_read_back(void **state)
{
	static const char *const names[] = { "f",
					     "a;b",
					     "\n\r;",
					     "\\x3b",
					     "\\\\x3b",
					     "\\x5cx3b",
					     "C:\\x",
					     "\\x41",
					     "",
					     "\x1b[31m\a\t\x7f",
					     "\xc2\x9b"
					     "31m",
					     "\xe2\x80\xae"
					     "evil",
					     "\xff\xfe",
					     "\xc2",
					     "caf\xc3\xa9",
					     "\\x1b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(names); i++) {
		struct buf esc = { 0 }, back = { 0 };

		foldtext_escape(&esc, names[i], strlen(names[i]));
		assert_null(strpbrk(buf_str(&esc), ";\n\r\x1b\a\t\x7f\x9b\xff\xae"));
		foldtext_unescape(&back, buf_str(&esc), esc.len_bytes);
		assert_string_equal(buf_str(&back), names[i]);
		assert_int_equal(foldtext_has_escape(buf_str(&esc), esc.len_bytes),
				 strcmp(buf_str(&esc), names[i]) != 0);
		buf_free(&esc);
		buf_free(&back);
	}
}

static void peek_consumes_nothing(void **state)
{
	struct input *in;
	const char *data;
	char *line, rest[16];
	size_t len_bytes;

	(void)state;
	assert_int_equal(input_open_mem("one\ntwo\nthree", 13, &in, NULL), 0);
	assert_true(input_peek(in, 4, &data, NULL) >= 4);
	assert_memory_equal(data, "one\n", 4);
	assert_int_equal(input_line(in, 100, &line, &len_bytes, NULL), 1);
	assert_string_equal(line, "one");
	assert_int_equal(input_peek(in, 100, &data, NULL), 9);
	assert_int_equal(input_read(in, rest, 4, NULL), 4);
	assert_memory_equal(rest, "two\n", 4);
	assert_int_equal(input_line(in, 100, &line, &len_bytes, NULL), 1);
	assert_string_equal(line, "three");
	input_close(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(not_counts),
		cmocka_unit_test(lines),
		cmocka_unit_test(frames),
		cmocka_unit_test(escapes_read_back),
		cmocka_unit_test(peek_consumes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
