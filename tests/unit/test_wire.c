/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and texts as bytes; string tables that are emptied and asked. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "user/base/mem.h"
#include "user/base/strtab.h"
#include "user/base/wire.h"

static const uint64_t unsigned_values[] = { 0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX };
static const int64_t signed_values[] = { 0, -1, 1, -64, 64, INT64_MAX, INT64_MIN };

static void write_all(struct buf *b)
{
	buf_puts(b, "TEST\n");
	for (size_t i = 0; i < ARRAY_CNT(unsigned_values); i++)
		wire_put_u64(b, unsigned_values[i]);
	for (size_t i = 0; i < ARRAY_CNT(signed_values); i++)
		wire_put_i64(b, signed_values[i]);
	wire_put_f64(b, -1.25e300);
	wire_put_f32(b, 0.1f);
	wire_put_text(b, "a\0b", 3);
	wire_seal(b, 0);
}

static void what_was_written_is_read(void **state)
{
	struct buf b = { 0 };
	struct wire w;
	size_t len;

	(void)state;
	write_all(&b);
	assert_int_equal(wire_open(b.data, b.len_bytes, "TEST\n", &w, NULL), 0);
	for (size_t i = 0; i < ARRAY_CNT(unsigned_values); i++)
		assert_true(wire_u64(&w) == unsigned_values[i]);
	for (size_t i = 0; i < ARRAY_CNT(signed_values); i++)
		assert_true(wire_i64(&w) == signed_values[i]);
	assert_true(wire_f64(&w) == -1.25e300);
	assert_true(wire_f32(&w) == 0.1f);
	assert_memory_equal(wire_text(&w, &len), "a\0b", 3);
	assert_int_equal(len, 3);
	assert_false(w.bad);
	assert_true(w.at == w.end);
	wire_u64(&w);
	assert_true(w.bad);
	buf_free(&b);
}

static void damage_is_noticed(void **state)
{
	struct buf b = { 0 };
	struct wire w;

	(void)state;
	write_all(&b);
	assert_int_equal(wire_open(b.data, b.len_bytes, "OTHER\n", &w, NULL), -EINVAL);
	for (size_t cut = 0; cut < b.len_bytes; cut++)
		assert_int_equal(wire_open(b.data, cut, "TEST\n", &w, NULL), -EINVAL);
	for (size_t i = 0; i < b.len_bytes; i++) {
		b.data[i] ^= 4;
		assert_int_equal(wire_open(b.data, b.len_bytes, "TEST\n", &w, NULL), -EINVAL);
		b.data[i] ^= 4;
	}
	buf_free(&b);
}

static void reads_stay_inside(void **state)
{
	static const unsigned char endless[] = { 0x80, 0x80, 0x80 }, long_text[] = { 100, 'x' };
	struct buf nan = { 0 };
	struct wire w = { endless, endless + sizeof(endless), false };
	size_t len;

	(void)state;
	assert_true(wire_u64(&w) == 0 && w.bad);
	w = (struct wire){ long_text, long_text + sizeof(long_text), false };
	assert_string_equal(wire_text(&w, &len), "");
	assert_true(w.bad && len == 0);
	w = (struct wire){ long_text, long_text + sizeof(long_text), false };
	assert_int_equal(wire_below(&w, 100), 0);
	assert_true(w.bad);
	wire_put_f64(&nan, NAN);
	w = (struct wire){ (unsigned char *)nan.data, (unsigned char *)nan.data + nan.len_bytes,
			   false };
	assert_true(wire_f64(&w) == 0 && w.bad);
	buf_free(&nan);
}

static void string_tables_are_emptied_and_asked(void **state)
{
	struct strtab t = { 0 };

	(void)state;
	assert_true(strtab_find(&t, "x", 1) == UINT32_MAX);
	for (int round = 0; round < 3; round++) {
		char text[16];

		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "%d-%d", round, i);
			assert_int_equal(strtab_add(&t, text), i + 1);
		}
		assert_true(strtab_find(&t, "0-7", 3) == (round ? UINT32_MAX : 8));
		assert_string_equal(strtab_get(&t, 5000), text);
		strtab_reset(&t);
		assert_int_equal(t.cnt, 0);
	}
	strtab_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(reads_stay_inside),
		cmocka_unit_test(string_tables_are_emptied_and_asked),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
