/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bpf/account.h was told in a capture, as text, so that tests can tell it again. */
#ifndef CP_USER_CAPTURE_RAW_EVENTS_H
#define CP_USER_CAPTURE_RAW_EVENTS_H

struct account_window;
struct buf;
struct events;

/* Adds a line for the window (ns of CLOCK_MONOTONIC), one an event in the order of arrival, and one with each
 * thread's books (ns). */
void raw_events_put(const struct events *ev, const struct account_window *window, struct buf *out);

#endif
