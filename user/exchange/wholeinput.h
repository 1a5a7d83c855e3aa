/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All bytes of an input at once, for formats that cannot be read in pieces. */
#ifndef CP_USER_EXCHANGE_WHOLEINPUT_H
#define CP_USER_EXCHANGE_WHOLEINPUT_H

#include <stddef.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"

/* Appends everything to out; -E2BIG beyond max_bytes. */
int input_read_all(struct input *in, size_t max_bytes, struct buf *out, struct err *err);

#endif
