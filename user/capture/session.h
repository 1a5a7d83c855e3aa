/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture from start to profile:
 *	session__open   load, attach, find the targets and their code; the window is still closed
 *	session__run    open the window, keep reading, close it
 *	session__result names for all addresses; one profile
 *	session__close  at any time; leaves nothing behind
 * Staged and without globals: two sessions can live beside each other. */
#ifndef CP_USER_CAPTURE_SESSION_H
#define CP_USER_CAPTURE_SESSION_H

#include <stdbool.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/capture/options.h"
#include "user/model/profile.h"

struct session;

/* opts and what it points to must live as long as the session. */
int session__open(const struct capture_opts *opts, struct session **ret, struct err *err);
/* What ends a capture early, and who wants to know. Functions may be NULL. */
struct session_watch {
	int stop_fd; /* a signalfd, -1 = none: readable = interrupted */
	/* the window is ending because of stop_fd: what made it readable is to be read, so that the next one shows */
	void (*interrupted)(void *ctx);
	int end_fd; /* a pidfd, -1 = none: readable = what it is about has ended */
	/* the window is open; an error ends the capture */
	int (*opened)(void *ctx, struct err *err);
	/* about ten times a second, with the time since the window opened */
	void (*tick)(void *ctx, uint64_t elapsed_ns);
	void *ctx;
};

/* Until the duration is over, all targets are gone, or one of the descriptors is readable. After that stop_fd ends the
 * looking up of names in session__result: frames that have none by then are NAME_PENDING. */
int session__run(struct session *s, const struct session_watch *w, struct err *err);
/* The profile is owned by the caller. */
int session__result(struct session *s, struct profile **ret, struct err *err);
/* With opts->raw_events: what the state machine was told and what it made of it, as text, to be replayed in
 * tests: lines "window START END", "event TID WHAT NOW STATE PREEMPT ON_RQ DELAYED RAN", "books TID RUNNING
 * RUNNABLE BLOCKED". */
void session__put_raw(const struct session *s, struct buf *out);
void session__close(struct session *s); /* NULL is fine */

#endif
