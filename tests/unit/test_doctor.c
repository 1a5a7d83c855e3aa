/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the doctor reads, where no machine at hand has all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "user/capture/doctor.h"

static void apparmor_labels(void **state)
{
	(void)state;
	assert_true(doctor_apparmor_confines("docker-default (enforce)"));
	assert_true(doctor_apparmor_confines("/usr/bin/causeprof (kill)"));
	assert_true(doctor_apparmor_confines(
		"lxc-container-default-cgns//&:lxc-web:unconfined (enforce)"));
	assert_false(doctor_apparmor_confines("unconfined"));
	assert_false(doctor_apparmor_confines("man_filter (complain)"));
	assert_false(doctor_apparmor_confines(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(apparmor_labels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
