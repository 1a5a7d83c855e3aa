/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output in pieces; see sink.h. */
#include "user/exchange/sink.h"

enum {
	SINK_FULL_BYTES = 256 * 1024
};

void sink_flush(struct sink *s)
{
	if (!s->rc && s->buf.len_bytes)
		s->rc = s->to->write(s->to->ctx, s->buf.data, s->buf.len_bytes, s->err);
	buf_reset(&s->buf);
}

void sink_flush_if_full(struct sink *s)
{
	if (s->buf.len_bytes >= SINK_FULL_BYTES)
		sink_flush(s);
}

int sink_finish(struct sink *s)
{
	sink_flush(s);
	buf_free(&s->buf);
	return s->rc;
}
