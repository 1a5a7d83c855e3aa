/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing of frames in time, as timeline formats write it, into time by stack: what passes between
 * two events goes to the stack that is open. Times are exact: 1e-9 of the format's unit. */
#ifndef CP_USER_EXCHANGE_EVENTSTACK_H
#define CP_USER_EXCHANGE_EVENTSTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "user/exchange/intake.h"

typedef __int128 event_time; /* in 1e-9 of a unit */

struct eventstack {
	struct intake *intake;
	struct intake_key key; /* process, thread, kind of everything here */
	uint32_t *stacks;      /* stacks[d]: of the first d + 1 open frames */
	uint64_t *tags;	       /* what the opener gave, to compare at the close */
	size_t depth, cap, tags_cap;
	event_time now;
	bool has_time;
	bool keep_intervals; /* also as intervals of key.thread, in nanoseconds */
};

event_time event_time_of(const struct foldtext_count *c);
/* Gives the time since the last event to the open stack. False if at lies before it. */
bool eventstack_advance(struct eventstack *s, event_time at);
void eventstack_open(struct eventstack *s, uint32_t frame, uint64_t tag);
bool eventstack_close(struct eventstack *s); /* false: nothing is open */
uint64_t
eventstack_tag(const struct eventstack *s); /* of the innermost; UINT64_MAX: nothing is open */
void eventstack_free(struct eventstack *s);

#endif
