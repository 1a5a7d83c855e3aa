/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/tiny_python.h"
#include "user/base/mem.h"
#include "user/capture/python_stack.h"

static size_t unhex(const char *hex, uint8_t *out, size_t cap_bytes)
{
	size_t cnt = 0;

	for (; hex[0] && hex[1] && cnt < cap_bytes; hex += 2) {
		unsigned int byte;

		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		out[cnt++] = (uint8_t)byte;
	}
	return cnt;
}

/* One line of the fixture. Returns how many code units were compared. */
static size_t compare_lines(char *text)
{
	char *save, *hex, *word;
	uint8_t table[4096];
	size_t table_bytes, unit = 0;
	int first_line;

	assert_non_null(strtok_r(text, " ", &save));
	first_line = atoi(strtok_r(NULL, " ", &save));
	hex = strtok_r(NULL, " ", &save);
	table_bytes = unhex(hex, table, sizeof(table));
	while ((word = strtok_r(NULL, " \n", &save))) {
		unsigned int line, cnt;

		assert_int_equal(sscanf(word, "%ux%u", &line, &cnt), 2);
		while (cnt--)
			assert_int_equal(python_line_of(table, table_bytes, first_line, unit++),
					 line);
	}
	assert_int_equal(python_line_of(table, table_bytes, first_line, unit), 0);
	return unit;
}

/* Against what CPython's own co_positions() says. */
static void lines_of_real_code(void **state)
{
	FILE *f = fopen("tests/fixtures/python/lines", "re");
	size_t unit_cnt = 0;
	char text[8192];

	(void)state;
	assert_non_null(f);
	while (fgets(text, sizeof(text), f))
		if (text[0] != '#')
			unit_cnt += compare_lines(text);
	fclose(f);
	assert_true(unit_cnt > 500);
}

static void lines_that_are_damaged(void **state)
{
	static const uint8_t cut[] = { 0xf0, 0x7f, 0x7f };
	static const uint8_t below[] = { 0xe8, 0x3f }; /* a line before the first */

	(void)state;
	assert_int_equal(python_line_of(NULL, 0, 1, 0), 0);
	assert_int_equal(python_line_of(cut, sizeof(cut), 1, 0), 0);
	assert_int_equal(python_line_of(below, sizeof(below), 1, 0), 0);
	assert_int_equal(python_line_of(below, sizeof(below), 40, 0), 9);
}

static void texts(void **state)
{
	static const uint8_t latin[] = { 'g', 0xf6, 0xdf, 0 };
	static const uint16_t two[] = { 0x20ac, 0xd800, 'x' };
	static const uint32_t four[] = { 0x1f40d, 0x110000 };
	struct buf b = { 0 };

	(void)state;
	python_put_utf8(&b, latin, 4, 1);
	python_put_utf8(&b, two, 3, 2);
	python_put_utf8(&b, four, 2, 4);
	assert_string_equal(buf_str(&b),
			    "gö\xc3\x9f\xef\xbf\xbd€\xef\xbf\xbdx\xf0\x9f\x90\x8d\xef\xbf\xbd");
	buf_free(&b);
}

struct setup {
	struct tiny_memory m;
	struct python_memory memory;
	struct python_layout l;
	struct python_code c;
};

static void set_up(struct setup *s)
{
	*s = (struct setup){ .memory = { tiny_read, &s->m } };
	assert_int_equal(tiny_layout(&s->l), 0);
	tiny_memory_make(&s->m);
}

static void code_object(void **state)
{
	struct setup s;

	(void)state;
	set_up(&s);
	assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), 0);
	assert_string_equal(s.c.function, "Shop.open");
	assert_string_equal(s.c.file, "/srv/shop.py");
	assert_int_equal(s.c.instrs, TINY_CODE + 184);
	assert_int_equal(python_code_line(&s.c, s.c.instrs), 7);
	assert_int_equal(python_code_line(&s.c, s.c.instrs - 2), 7); /* has not begun */
	assert_int_equal(python_code_line(&s.c, s.c.instrs + 2 * 2), 9);
	assert_int_equal(python_code_line(&s.c, s.c.instrs + 2 * 4), 0);
	assert_int_equal(python_code_line(&s.c, s.c.instrs + 2 * 5), 6);
	assert_true(python_code_holds(&s.c, s.c.instrs - 2));
	assert_true(python_code_holds(&s.c, s.c.instrs + 2 * (TINY_INSTR_CNT - 1)));
	assert_false(python_code_holds(&s.c, s.c.instrs + 2 * TINY_INSTR_CNT));
	assert_false(python_code_holds(&s.c, s.c.instrs - 4));
	assert_false(python_code_holds(&s.c, s.c.instrs + 1));
	python_code_free(&s.c);
}

static void code_object_that_is_none(void **state)
{
	/* what of the object is overwritten, with what */
	static const struct {
		uint64_t at, value;
		int rc;
	} cases[] = {
		{ TINY_CODE + 8, TINY_STRING_TYPE, -EINVAL },
		{ TINY_CODE + 16, 0, -EINVAL },
		{ TINY_CODE + 16, 1ULL << 40, -EINVAL },
		{ TINY_CODE + 112, 0, -EFAULT },
		{ TINY_CODE + 128, TINY_LINES, -EINVAL },
		{ TINY_CODE + 128, ~0ULL, -EFAULT },
		{ TINY_NAME + 32, 1 | 1 << 2 | 1 << 6, -EINVAL }, /* not compact */
		{ TINY_NAME + 32, 1 | 3 << 2 | 1 << 5, -EINVAL }, /* characters of 3 bytes */
		{ TINY_NAME + 16, ~0ULL, -EINVAL },
		{ TINY_LINES + 8, TINY_STRING_TYPE, -EINVAL },
		{ TINY_LINES + 16, ~0ULL, -EINVAL },
		{ TINY_LINES + 16, 0x10000, -EFAULT },
	};
	struct setup s;

	(void)state;
	set_up(&s);
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		tiny_memory_make(&s.m);
		tiny_put(&s.m, cases[i].at, cases[i].value);
		assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), cases[i].rc);
		assert_null(s.c.function);
		assert_null(s.c.lines);
	}
}

static void code_object_with_too_many_lines(void **state)
{
	struct setup s;

	(void)state;
	set_up(&s);
	tiny_put(&s.m, TINY_LINES + 16, PYTHON_LINES_MAX_BYTES + 1);
	assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), 0);
	assert_string_equal(s.c.function, "Shop.open");
	assert_int_equal(python_code_line(&s.c, s.c.instrs), 0);
	python_code_free(&s.c);
}

/* The object is freed, or the process ends, at any read. */
static void code_object_that_goes(void **state)
{
	struct setup s;
	int read_cnt;

	(void)state;
	set_up(&s);
	assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), 0);
	python_code_free(&s.c);
	read_cnt = s.m.read_cnt;
	for (int at = 1; at <= read_cnt; at++) {
		tiny_memory_make(&s.m);
		s.m.gone_at = at;
		assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), -ESRCH);
		tiny_memory_make(&s.m);
		s.m.change_at = at;
		assert_int_not_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), 0);
	}
}

static void long_names(void **state)
{
	struct setup s;

	(void)state;
	set_up(&s);
	tiny_put(&s.m, TINY_NAME + 16, 1000000);
	memset(s.m.data + (TINY_NAME - TINY_BASE) + 48, 'a', 0x80);
	assert_int_equal(python_code_read(&s.l, &s.memory, TINY_CODE, &s.c), 0);
	assert_int_equal(strlen(s.c.function) >= 0x80, 1);
	assert_int_equal(s.m.data[0x1000 - 1], 0);
	python_code_free(&s.c);
}

static int read_version(uint64_t version, struct python_layout *l)
{
	static uint8_t file[TINY_ELF_BYTES];
	struct image image;

	tiny_python_elf(file, version);
	image_from_mem(&image, file, sizeof(file));
	return python_layout_read(&image, l, NULL);
}

static void layouts(void **state)
{
	struct python_layout l, moved;

	(void)state;
	assert_int_equal(read_version(0x030b02f0, &l), 0);
	assert_int_equal(l.version, 0x030b);
	assert_int_equal(l.kernel.runtime, TINY_ELF_VADDR + TINY_ELF_RUNTIME);
	assert_int_equal(l.kernel.eval_end - l.kernel.eval_start, 0x100);
	assert_int_equal(l.code_type, TINY_ELF_VADDR + 0x2800);
	assert_int_equal(l.kernel.frame_is_entry, 68);
	moved = l;
	assert_true(python_layout_move(&moved, 0x7f0000001000, 0x1000));
	assert_int_equal(moved.kernel.runtime, 0x7f0000000000 + TINY_ELF_RUNTIME);
	assert_int_equal(moved.kernel.eval_start, 0x7f0000000000 + TINY_ELF_EVAL);
	assert_int_equal(moved.kernel.code_qualname, 128);
	moved = l;
	assert_false(python_layout_move(&moved, 0x7f0000001000, 0x10000));
	assert_int_equal(read_version(0x030c00f0, &l), 0);
	assert_int_equal(l.kernel.frame_is_entry, CP_PYTHON_NONE);
	assert_int_equal(l.kernel.owner_shim, 3);
	assert_int_equal(read_version(0x030a00f0, &l), -ENOTSUP);
	assert_int_equal(read_version(0x030d00f0, &l), -ENOTSUP); /* has no table */
	assert_int_equal(read_version(0x030e00f0, &l), -ENOTSUP);
	assert_true(python_layout_is_candidate("/usr/bin/python3.11"));
	assert_true(python_layout_is_candidate("/opt/lib/libpython3.12.so.1.0"));
	assert_false(python_layout_is_candidate("/usr/lib/libc.so.6"));
}

/* 3.13 tells its offsets itself. */
static void layouts_told(void **state)
{
	static uint8_t file[TINY_ELF_BYTES];
	static const uint16_t offsets[46] = {
		[5] = 632,  [8] = 7264, [9] = 7344, [21] = 8,	[23] = 72,
		[24] = 152, [29] = 8,	[31] = 56,  [33] = 70,	[35] = 112,
		[37] = 128, [38] = 136, [39] = 68,  [43] = 200, [45] = 8
	};
	uint64_t table[46] = { 0 }, bad;
	struct python_layout l;
	struct image image;

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(table); i++)
		table[i] = offsets[i];
	memcpy(table, "xdebugpy", 8);
	table[1] = 0x030d00f0;
	tiny_python_elf(file, 0x030d00f0);
	image_from_mem(&image, file, sizeof(file));
	memcpy(file + TINY_ELF_RUNTIME, table, sizeof(table));
	assert_int_equal(python_layout_read(&image, &l, NULL), 0);
	assert_int_equal(l.kernel.thread_frame, 72);
	assert_int_equal(l.kernel.holder_frame, CP_PYTHON_NONE);
	assert_int_equal(l.offsets.code_instrs, 200);
	for (size_t i = 2; i < ARRAY_CNT(table); i++) {
		if (i != 2 && !offsets[i])
			continue;
		bad = ~0ULL; /* also a free-threaded build */
		memcpy(file + TINY_ELF_RUNTIME + 8 * i, &bad, 8);
		assert_int_equal(python_layout_read(&image, &l, NULL), -ENOTSUP);
		memcpy(file + TINY_ELF_RUNTIME + 8 * i, &table[i], 8);
	}
	assert_int_equal(python_layout_read(&image, &l, NULL), 0);
}

static void runs(void **state)
{
	/* two functions and the entry; an entry that runs nothing yet; one function whose entry was cut off */
	static const uint64_t codes[] = { 0x100, 0x200 | CP_PYTHON_ENTRY, CP_PYTHON_ENTRY, 0x300 };
	struct cp_event_stack *e = xzalloc(sizeof(*e) + 16 * sizeof(uint64_t));
	struct python_runs r;

	(void)state;
	e->kernel_cnt = 1;
	e->user_cnt = 2;
	e->python_cnt = ARRAY_CNT(codes);
	for (size_t i = 0; i < ARRAY_CNT(codes); i++)
		e->frames[3 + 3 * i] = codes[i];
	python_stack_runs(e, &r);
	assert_int_equal(r.cnt, 3);
	assert_int_equal(python_stack_run(&r, 0)->first, 0);
	assert_int_equal(python_stack_run(&r, 0)->cnt, 2);
	assert_null(python_stack_run(&r, 1));
	assert_int_equal(python_stack_run(&r, 2)->first, 3);
	assert_int_equal(python_stack_run(&r, 2)->cnt, 1);
	assert_null(python_stack_run(&r, 3));
	assert_string_equal(python_stack_mark(CP_PYTHON_WHOLE), "");
	assert_string_equal(python_stack_mark(99), "");
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_real_code),
		cmocka_unit_test(lines_that_are_damaged),
		cmocka_unit_test(texts),
		cmocka_unit_test(code_object),
		cmocka_unit_test(code_object_that_is_none),
		cmocka_unit_test(code_object_that_goes),
		cmocka_unit_test(code_object_with_too_many_lines),
		cmocka_unit_test(long_names),
		cmocka_unit_test(layouts),
		cmocka_unit_test(layouts_told),
		cmocka_unit_test(runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
