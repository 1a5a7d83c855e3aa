/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A captured frame down to its TCP segment or UDP datagram: Ethernet (with VLAN tags), Linux cooked v1 and v2,
 * BSD loopback and raw IP; IPv4 and IPv6 with extension headers. Bytes come from a network and may be anything:
 * nothing is read that was not captured. */
#ifndef CP_USER_EXCHANGE_PCAPFRAME_H
#define CP_USER_EXCHANGE_PCAPFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

struct pcapframe_end {
	uint8_t addr[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t port;
};

enum pcapframe_flag {
	PCAPFRAME_FIN = 0x01,
	PCAPFRAME_SYN = 0x02,
	PCAPFRAME_RST = 0x04,
	PCAPFRAME_ACK = 0x10,
};

struct pcapframe {
	struct pcapframe_end from, to;
	bool tcp; /* else UDP */
	uint8_t flags;
	uint32_t seq, ack;
	uint32_t ip_id;		 /* IPv4 only */
	uint32_t payload_bytes;	 /* as sent */
	const uint8_t *payload;	 /* borrowed */
	uint32_t captured_bytes; /* of the payload; fewer than payload_bytes if the frame was cut */
};

enum pcapframe_result {
	PCAPFRAME_OK = 0,
	PCAPFRAME_OTHER, /* not IP, or neither TCP nor UDP */
	PCAPFRAME_FRAGMENT, /* a later part of a fragmented datagram, or a first part without its rest */
	PCAPFRAME_MALFORMED, /* lengths that contradict each other */
	PCAPFRAME_CUT,	     /* captured too short for its headers */
};

/* Link types that are understood; others are PCAPFRAME_OTHER. */
bool pcapframe_knows(int link_type);
enum pcapframe_result pcapframe_decode(int link_type, const uint8_t *data, size_t len_bytes,
				       struct pcapframe *ret);

/* "192.0.2.1" or "2001:db8::1"; with ":port" ("[...]:port") if port is not 0. */
void pcapframe_put_end(struct buf *out, const struct pcapframe_end *end, uint16_t port);

#endif
