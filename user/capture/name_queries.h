/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names a result needs, before it is built: files are read in the sandbox, where one question for all addresses
 * costs no more than one for each. */
#ifndef CP_USER_CAPTURE_NAME_QUERIES_H
#define CP_USER_CAPTURE_NAME_QUERIES_H

#include "user/capture/result.h"

/* Tells in->symbolizer of all frames that in->sums refer to. O(stacks * depth); memory: O(distinct addresses). */
void name_queries_ask(const struct result_input *in);

#endif
