/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversations: frames become connections, and connections messages. The side that opened a TCP connection is
 * the client; if its opening was not seen, the side with the higher port. What the client sends is a CALL, at
 * the time of its first byte; what the server sends is the RET of the oldest call without one, at the time of
 * its last byte. A message ends where HTTP/1 says so (httpframe.h), else where the direction changes. In UDP
 * each datagram is a message. Calls are numbered and RETs carry the number, so that pairing is exact whatever
 * was lost. A reply without request becomes a MSG.
 *
 * Frames captured twice, at both ends or on two interfaces, are one: in TCP by sequence number, in UDP by equal
 * IP id and length within 100 ms. The first counts. */
#ifndef CP_USER_EXCHANGE_PCAPCONV_H
#define CP_USER_EXCHANGE_PCAPCONV_H

#include <stdbool.h>
#include <stdint.h>

#include "user/exchange/pcapframe.h"
#include "user/model/msgtrace.h"
#include "user/model/nodemap.h"

struct pcapconv_stats {
	uint64_t connection_cnt; /* TCP */
	uint64_t datagram_cnt;	 /* UDP */
	uint64_t call_cnt;
	uint64_t repeated_cnt; /* frames with nothing new: retransmitted or captured twice */
	uint64_t hole_cnt;     /* places where bytes were sent, acknowledged and not captured */
	uint64_t hole_bytes;
	uint64_t stray_reply_cnt; /* replies without request */
	uint64_t unanswered_cnt;  /* requests without reply */
	uint64_t cut_cnt;	  /* segments of which the capture kept a part only */
	uint64_t guessed_cnt;	  /* connections whose opening was not seen */
};

struct pcapconv; /* opaque */

/* ports: nodes are ADDRESS:PORT for servers; else ADDRESS for all. map may be NULL; it sees "ADDRESS:PORT". */
struct pcapconv *pcapconv__new(struct msgtrace *t, bool ports, const struct nodemap *map);
void pcapconv__frame(struct pcapconv *c, int64_t time_ns, const struct pcapframe *f);
/* Ends everything that is open. Messages in t are not in order of time. */
void pcapconv__finish(struct pcapconv *c, struct pcapconv_stats *stats);
void pcapconv__free(struct pcapconv *c);

#endif
