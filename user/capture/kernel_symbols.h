/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own list of its symbols, as its programs write it. */
#ifndef CP_USER_CAPTURE_KERNEL_SYMBOLS_H
#define CP_USER_CAPTURE_KERNEL_SYMBOLS_H

#include "symbolize/kallsyms.h"
#include "user/base/buf.h"

/* Puts records (struct cp_ksym and names) through the sieve. -EPROTO: they are cut off. */
int kernel_symbols_take(const struct buf *records, struct kallsyms_sieve *sieve);

#endif
