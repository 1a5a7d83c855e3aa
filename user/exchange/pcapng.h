/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures in pcapng form (draft-ietf-opsawg-pcapng). libpcap reads it too, but refuses files whose interfaces differ
 * in link type or snap length, which is what merging captures of several hosts makes. Both byte orders, any time
 * resolution, several sections; blocks other than packets and interfaces are passed over. */
#ifndef CP_USER_EXCHANGE_PCAPNG_H
#define CP_USER_EXCHANGE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/input.h"

struct pcapng;

struct pcapng_frame {
	int64_t time_ns;
	int link_type;
	const uint8_t *data; /* borrowed until the next call */
	size_t len_bytes;    /* captured */
};

struct pcapng *pcapng__new(struct input *in); /* in is borrowed */
/* 1 with *ret, 0 at the end, or a negative errno: cut off or malformed, with the reason. */
int pcapng__next(struct pcapng *p, struct pcapng_frame *ret, struct err *err);
uint64_t
pcapng__untimed_cnt(const struct pcapng *p); /* simple packets, which have no time: left out */
void pcapng__free(struct pcapng *p);

#endif
