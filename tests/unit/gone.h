/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of what becomes of processes: include it after cmocka.h. */
#ifndef CP_TESTS_UNIT_GONE_H
#define CP_TESTS_UNIT_GONE_H

#include <sys/wait.h>
#include <unistd.h>

/* The number of a process that has ended a moment ago. */
static inline pid_t gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

#endif
