/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/stop.h"

#include <errno.h>
#include <poll.h>

int stop_wait(int stop_fd, int fd, int timeout_ms)
{
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
				 { .fd = stop_fd ? stop_fd : -1, .events = POLLIN } };
	int n;

	do
		n = poll(fds, 2, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (fds[1].revents & POLLIN)
		return -ECANCELED;
	return n ? 0 : -ETIMEDOUT;
}

bool stop_asked(int stop_fd)
{
	return stop_fd && stop_wait(stop_fd, -1, 0) == -ECANCELED;
}
