/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbolize/maps.h"

static void parse(struct maps *m, const char *text)
{
	maps_parse(m, text, strlen(text));
}

static void fields(void **state)
{
	struct maps m;
	const struct maps_entry *e;

	(void)state;
	parse(&m, "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a program\n"
		  "00e03000-00e24000 rw-s 00000000 00:00 0           [heap]\n"
		  "7f0000000000-7f0000001000 --xp 00000000 00:00 0 \n"
		  "7f0000002000-7f0000003000 r-xp ffff000 103:0a 12  /tmp/a\\012b (deleted)");
	assert_int_equal(m.cnt, 4);
	assert_int_equal(m.skipped_cnt, 0);
	e = &m.entries[0];
	assert_true(e->start == 0x400000 && e->end == 0x452000 && e->off_bytes == 0x1000);
	assert_true(e->inode == 173521 && e->dev_major == 8 && e->dev_minor == 2 && !e->deleted);
	assert_int_equal(e->perms, MAPS_READ | MAPS_EXEC);
	assert_string_equal(e->path, "/usr/bin/a program");
	assert_string_equal(m.entries[1].path, "[heap]");
	assert_int_equal(m.entries[1].perms, MAPS_READ | MAPS_WRITE | MAPS_SHARED);
	assert_string_equal(m.entries[2].path, "");
	e = &m.entries[3];
	assert_string_equal(e->path, "/tmp/a\nb");
	assert_true(e->deleted && e->dev_major == 0x103 && e->inode == 12);
	maps_free(&m);
}

static void find(void **state)
{
	struct maps m;

	(void)state;
	parse(&m, "3000-4000 r-xp 0 00:00 0 three\n1000-2000 r-xp 0 00:00 0 one\n"
		  "2000-2800 r-xp 0 00:00 0 two\n");
	assert_null(maps_find(&m, 0xfff));
	assert_string_equal(maps_find(&m, 0x1000)->path, "one");
	assert_string_equal(maps_find(&m, 0x1fff)->path, "one");
	assert_string_equal(maps_find(&m, 0x2000)->path, "two");
	assert_null(maps_find(&m, 0x2800));
	assert_string_equal(maps_find(&m, 0x3fff)->path, "three");
	assert_null(maps_find(&m, 0x4000));
	maps_free(&m);
}

static void nonsense_is_counted(void **state)
{
	struct maps m;

	(void)state;
	parse(&m, "\n1000-2000\n1000-2000 r-xp\n2000-1000 r-xp 0 0:0 0 x\n"
		  "11112222333344445-2 r-xp 0 0:0 0 x\n1000-2000 rxp 0 0:0 0 x\n"
		  "1000-2000 r-xp fffffffffffff000 0:0 0 wraps\n"
		  "1000-3000 r-xp 0 0:0 0 good\n2000-4000 r-xp 0 0:0 0 overlaps\n");
	assert_int_equal(m.cnt, 1);
	assert_int_equal(m.skipped_cnt, 8);
	assert_string_equal(m.entries[0].path, "good");
	maps_free(&m);
	parse(&m, "");
	assert_int_equal(m.cnt, 0);
	assert_null(maps_find(&m, 0));
	maps_free(&m);
}

static void own_process(void **state)
{
	struct maps m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(maps_read(&m, getpid(), &err), 0);
	assert_int_equal(m.skipped_cnt, 0);
	assert_true(maps_find(&m, (uintptr_t)own_process)->perms & MAPS_EXEC);
	assert_string_equal(maps_find(&m, (uintptr_t)&m)->path, "[stack]");
	maps_free(&m);
	assert_int_equal(maps_read(&m, 4194303, &err), -3);
	assert_non_null(strstr(err.msg, "4194303"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(find),
		cmocka_unit_test(nonsense_is_counted),
		cmocka_unit_test(own_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
