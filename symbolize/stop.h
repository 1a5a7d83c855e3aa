/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up early: a descriptor, such as a signalfd, that becomes readable when nobody wants to wait any more. It
 * is looked at and never read, so that all who wait for different things see the same answer. */
#ifndef CP_SYMBOLIZE_STOP_H
#define CP_SYMBOLIZE_STOP_H

#include <stdbool.h>

/* stop_fd 0: nothing ever stops. */
bool stop_asked(int stop_fd);
/* Waits for fd to become readable: 0, -ETIMEDOUT, -ECANCELED when stop_fd says so first, or another -errno. */
int stop_wait(int stop_fd, int fd, int timeout_ms);

#endif
