/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring buffer that the kernel programs write to, read in passes that end. */
#ifndef CP_USER_CAPTURE_RING_H
#define CP_USER_CAPTURE_RING_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

/* One record; nonzero ends the pass with this error. */
typedef int (*ring_record_fn)(void *ctx, void *data, size_t len_bytes);

struct ring {
	struct ring_buffer *buffer;
	ring_record_fn record;
	void *ctx;
	uint64_t size_bytes;
	uint64_t taken_bytes; /* in this pass */
};

/* map_fd and ctx are borrowed until ring_close; *r must not move. */
int ring_open(struct ring *r, int map_fd, uint64_t size_bytes, ring_record_fn fn, void *ctx,
	      struct err *err);
void ring_close(struct ring *r);   /* fine on one that is all zero */
int ring_fd(const struct ring *r); /* readable when records want to be read soon */
/* Calls fn for what is there, and for no more than the ring can hold: who writes may be faster. */
int ring_consume(struct ring *r, struct err *err);

#endif
