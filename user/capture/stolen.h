/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host of a virtual machine gave to others while this machine wanted to run ("steal" of proc(5)). */
#ifndef CP_USER_CAPTURE_STOLEN_H
#define CP_USER_CAPTURE_STOLEN_H

#include <stdbool.h>
#include <stdint.h>

/* Of all CPUs since boot, in ns, counted in whole ticks (usually 10 ms). False: it is not told. */
bool stolen__read(uint64_t *ret_ns);

#endif
