/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces of spans (Jaeger, OTLP) as calls between services. A span whose parent lies in another service, or is
 * missing, is the entry of a call into its service, with the stamps of the server; a parent of kind client gives
 * the stamps of the caller. A client span without an entry below it is a call to a node named after its
 * operation. Spans within a service are no calls. Who calls a root is "client".
 *
 * The parent links become true parents of calls: the entry of the calling service that the link leads to. They
 * are not used for inference. */
#ifndef CP_USER_EXCHANGE_MSGSPANS_H
#define CP_USER_EXCHANGE_MSGSPANS_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/msgtrace.h"

bool msgspans_detect(const char *head, size_t len_bytes); /* JSON */
/* Appends to t->calls, unsorted; what was set aside to notes. O(spans) but for loops of parents, which end. */
int msgspans_read(struct input *in, struct msgtrace *t, struct buf *notes, struct err *err);

#endif
