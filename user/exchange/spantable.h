/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Span tables: one line per end of a call, in the order of a service's own log,
 *
 *	service TAB in|out TAB peer TAB start TAB end TAB span-id
 *
 * with times in whole microseconds. "in" is a call that the service serves for peer (CALL_SERVER), "out" one
 * that it makes to peer (CALL_CLIENT). Nothing says which "out" of one service is which "in" of the other:
 * callends_join puts them together by time. Ids become the calls' ids. */
#ifndef CP_USER_EXCHANGE_SPANTABLE_H
#define CP_USER_EXCHANGE_SPANTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/msgtrace.h"

/* Whether a file that begins so is a span table: its first line has the fields. */
bool spantable_detect(const char *head, size_t len_bytes);
/* Appends to t->calls, unsorted. -EINVAL with "FILE:LINE: ..." for a malformed line. O(n). */
int spantable_read(struct input *in, struct msgtrace *t, struct err *err);

#endif
