/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/capture/stolen.h"

/* The eighth number behind "cpu", in ns. */
static uint64_t witness_ns(void)
{
	char line[1024], *word;
	FILE *f = fopen("/proc/stat", "re");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	word = strtok(line, " ");
	for (int i = 0; i < 8; i++) {
		word = strtok(NULL, " ");
		assert_non_null(word);
	}
	return strtoull(word, NULL, 10) * 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void test_between_two_looks(void **state)
{
	uint64_t before_ns = witness_ns(), ns = 0, after_ns;

	(void)state;
	assert_true(stolen__read(&ns));
	after_ns = witness_ns();
	assert_in_range(ns, before_ns, after_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_between_two_looks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
