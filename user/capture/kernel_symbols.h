/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own symbols as its iterator gives them, without a look at all of /proc/kallsyms. */
#ifndef CP_USER_CAPTURE_KERNEL_SYMBOLS_H
#define CP_USER_CAPTURE_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/kallsyms.h"
#include "user/capture/kernel.h"

/* Puts what may name the wanted addresses (sorted) into the sieve. 0, or -errno: those of kernel__symbols, -EPROTO for a
 * record that is cut off. O(symbols of the kernel). */
int kernel_symbols_sieve(struct kernel *k, const uint64_t *wanted, size_t cnt,
			 struct kallsyms_sieve *sieve);

#endif
