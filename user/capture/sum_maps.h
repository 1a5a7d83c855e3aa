/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's maps of sums and stacks, read and emptied many keys at a time. Arrays of keys and values are owned by
 * the caller, also after an error; a key may come twice. Errors are those of the system calls. O(room of the map). */
#ifndef CP_USER_CAPTURE_SUM_MAPS_H
#define CP_USER_CAPTURE_SUM_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/account.h"
#include "bpf/events.h"
#include "user/base/err.h"

/* The sums of both sides; keys come without their side. */
int sum_maps__read(int fd, struct cp_sum_key **keys, struct cp_sum **values, size_t *cnt,
		   struct err *err);
/* Only those of one side (0 or CP_SUM_SIDE), to which nobody adds any more; they leave the map. */
int sum_maps__take(int fd, uint32_t side, struct cp_sum_key **keys, struct cp_sum **values,
		   size_t *cnt, struct err *err);
int sum_maps__forget_stacks(int fd, struct err *err);

#endif
