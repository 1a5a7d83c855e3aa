/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wake-up graph: for each wait, below, the stack that waited; above it "--" and the stack of the thread
 * that ended the wait, turned around so that the two ends meet; above that the one that had ended the waker's
 * own last wait in the meantime, and so on: why the holder of the lock was itself late. As B. Gregg's chain
 * graphs. Made of intervals, which tell the waker where the capture saw it. */
#ifndef CP_USER_CMD_FLAME_WAKERS_H
#define CP_USER_CMD_FLAME_WAKERS_H

#include "user/cmd/flame_fill.h"

enum {
	FLAME_HOPS_MAX = 4
};

/* Adds the blocked intervals of p to the tree. Returns how many there were; 0 = p has no intervals. Waits
 * whose waker was not seen end without "--". O(n log n). */
uint64_t flame_fill__wakers(struct flame_fill *f, const struct profile *p);

#endif
