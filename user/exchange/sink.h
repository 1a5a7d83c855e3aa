/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output in pieces: exporters append to buf and pass it on when it is large, so that memory stays bounded.
 * The first error is kept; what comes after it is thrown away. */
#ifndef CP_USER_EXCHANGE_SINK_H
#define CP_USER_EXCHANGE_SINK_H

#include "user/base/buf.h"
#include "user/exchange/exchange.h"

struct sink {
	struct buf buf;
	struct export_sink *to;
	struct err *err;
	int rc;
};

void sink_flush(struct sink *s);
void sink_flush_if_full(struct sink *s);
int sink_finish(struct sink *s); /* flushes, frees; 0 or the first error */

#endif
