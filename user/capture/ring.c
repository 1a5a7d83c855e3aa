/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

static int take(void *ctx, void *data, size_t len_bytes)
{
	struct ring *r = ctx;
	int rc = r->record(r->ctx, data, len_bytes);

	r->taken_bytes += len_bytes;
	if (rc)
		return rc;
	return r->taken_bytes < r->size_bytes ? 0 : -EAGAIN;
}

int ring_open(struct ring *r, int map_fd, uint64_t size_bytes, ring_record_fn fn, void *ctx,
	      struct err *err)
{
	*r = (struct ring){ .record = fn, .ctx = ctx, .size_bytes = size_bytes };
	r->buffer = ring_buffer__new(map_fd, take, r, NULL);
	return r->buffer ? 0 : err_errno(err, "cannot read the ring buffer");
}

void ring_close(struct ring *r)
{
	ring_buffer__free(r->buffer);
	r->buffer = NULL;
}

int ring_fd(const struct ring *r)
{
	return ring_buffer__epoll_fd(r->buffer);
}

int ring_consume(struct ring *r, struct err *err)
{
	int rc;

	r->taken_bytes = 0;
	rc = ring_buffer__consume(r->buffer);
	return rc < 0 && rc != -EAGAIN ?
		       err_set(err, rc, "reading the ring buffer: %s", strerror(-rc)) :
		       0;
}
