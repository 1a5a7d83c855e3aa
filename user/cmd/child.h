/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that is started for a capture: it waits before its first instruction until it is let go, so that
 * the capture sees all of it.
 *
 * The child waits on a pipe in our own program image and under the command's name; exec follows as soon as
 * the pipe has a byte. A second pipe, which exec closes, carries the reason when exec fails. When we end
 * without letting it go, the first pipe closes and the child ends without having run anything. */
#ifndef CP_USER_CMD_CHILD_H
#define CP_USER_CMD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "user/base/err.h"

enum {
	CHILD_NOT_EXECUTED = 127, /* as shells have it */
	CHILD_SIGNALED = 128,	  /* plus the number of the signal */
};

struct child {
	pid_t pid;
	int pidfd;    /* readable when the command has ended */
	int go_fd;    /* -1 once it is let go */
	int error_fd; /* -1 likewise */
	char **argv;  /* borrowed */
	bool failed;  /* could not be executed */
};

/* argv ends with NULL. Call it before signals are blocked: the command starts with the present mask. */
int child__start(char **argv, struct child *c, struct err *err);
/* Returns when the command has been executed, or with an error that names it. */
int child__go(struct child *c, struct err *err);
/* Waits for the end. Signals that arrive at stop_fd (a signalfd; -1 = none) are passed on if they were sent to
 * us alone: those of the terminal go to both. Returns the exit status, or CHILD_SIGNALED + signal. */
int child__wait(struct child *c, int stop_fd);
/* Takes one such signal, and passes it on if there is a command. */
void child__signalled(const struct child *c, int stop_fd);
/* Ends a command that was not let go; frees the descriptors. One that runs goes on. */
void child__close(struct child *c);

#endif
