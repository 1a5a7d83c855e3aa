/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/totals.h"
#include "user/analysis/unnamed.h"
#include "user/store/text.h"

static struct profile *load(const char *text)
{
	struct profile *p = NULL;
	struct input *in = NULL;
	struct err err = { 0 };

	assert_int_equal(input_open_mem(text, strlen(text), &in, NULL), 0);
	if (text__load(in, &p, &err))
		fail_msg("%s", err.msg);
	input_close(in);
	return p;
}

/* Two frames of one file in one stack count its time once. */
static void test_groups(void **state)
{
	struct profile *p = load("causeprof-text 1\n"
				 "mapping path=\"/lib/a.so\"\n"
				 "frame addr=0x30 mapping=1 reason=[stripped]\n"
				 "frame addr=0x20 mapping=1 reason=[stripped]\n"
				 "frame addr=0x10 module=\"b\" reason=[deleted]\n"
				 "frame name=\"main\"\n"
				 "frame name=\"[walk stopped: too deep]\" kind=mark\n"
				 "stack 1 frame=4\n"
				 "stack 2 parent=1 frame=1\n"
				 "stack 3 parent=2 frame=2\n"
				 "stack 4 frame=5\n"
				 "stack 5 parent=4 frame=3\n"
				 "sum stack=3 kind=sleep ns=100\n"
				 "sum stack=3 kind=disk ns=10\n"
				 "sum stack=5 kind=sleep ns=7\n"
				 "sum stack=1 kind=sleep ns=1000\n");
	struct unnamed *u;

	(void)state;
	assert_int_equal(unnamed_list(p, &u), 3);
	assert_string_equal(profile__str(p, u[0].file_sid), "/lib/a.so");
	assert_int_equal(u[0].ns, 110);
	assert_int_equal(u[0].frame_cnt, 2);
	assert_int_equal(u[0].first_addr, 0x20);
	assert_int_equal(u[0].reason, NAME_STRIPPED);
	assert_int_equal(u[1].ns, 7);
	assert_int_equal(u[2].ns, 7);
	assert_int_equal(u[1].reason + u[2].reason, NAME_DELETED);
	free(u);
	profile__free(p);
}

/* 1.96 standard errors of a share; 100 of 400 samples: 0.25 +- 0.0424. */
static void test_uncertainty(void **state)
{
	(void)state;
	assert_int_equal(totals_uncertainty_ns(250000, 100, 400), 42435);
	assert_int_equal(totals_uncertainty_ns(1000, 400, 400), 0);
	assert_int_equal(totals_uncertainty_ns(1000, 0, 400), 1000);
	assert_int_equal(totals_uncertainty_ns(1000, 5, 4), 1000);
}

static void test_books(void **state)
{
	struct profile *p = load(
		"causeprof-text 1\n"
		"thread tid=1 last_ns=100 running_ns=10 runnable_ns=20 blocked_ns=70 flags=no_witness\n"
		"thread tid=2 last_ns=100 running_ns=10 runnable_ns=20 blocked_ns=60"
		" kernel_running_ns=11 kernel_runnable_ns=22\n"
		"thread tid=3 last_ns=50 running_ns=55 kernel_running_ns=50\n"
		"thread tid=0 last_ns=100 running_ns=999 flags=idle\n"
		"loss cause=0 events=1 ns=5\n"
		"loss cause=63 events=2 ns=unknown\n");
	struct totals t;

	(void)state;
	totals_init(&t, p);
	assert_int_equal(t.thread_cnt, 3);
	assert_int_equal(t.wall_ns, 250);
	assert_int_equal(t.residue_ns, 15);
	assert_int_equal(t.residue_cnt, 2);
	assert_int_equal(t.witness_cnt, 2);
	assert_int_equal(t.witness_running_ns, 61);
	assert_int_equal(t.witnessed_running_ns, 65);
	assert_int_equal(t.lost_cnt, 3);
	assert_int_equal(t.lost_ns, 5);
	assert_true(t.lost_unknown);
	profile__free(p);
}

/* Generations of one pid are one process; those without time are not counted. */
static void test_main_process(void **state)
{
	struct profile *p = load("causeprof-text 1\n"
				 "process pid=7 comm=\"small\"\n"
				 "process pid=9 comm=\"before exec\"\n"
				 "process pid=8 comm=\"idle\"\n"
				 "process pid=9 generation=1 comm=\"after exec\"\n"
				 "sum process=1 kind=sleep ns=50\n"
				 "sum process=2 kind=sleep ns=20\n"
				 "sum process=4 kind=sleep ns=40\n"),
		       *none = profile__new();
	size_t cnt;

	(void)state;
	assert_int_equal(totals_main_process(p, &cnt), 4);
	assert_int_equal(cnt, 2);
	assert_int_equal(totals_main_process(none, &cnt), 0);
	assert_int_equal(cnt, 0);
	profile__free(p);
	profile__free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_uncertainty),
		cmocka_unit_test(test_books),
		cmocka_unit_test(test_main_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
