/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One direction of a TCP connection put in order by its sequence numbers (modulo 2^32): what came before is
 * dropped as retransmitted, what comes too early waits. A hole is a loss of the capture, not of the connection,
 * as soon as the receiver acknowledges bytes behind it; else when too much waits. */
#ifndef CP_USER_EXCHANGE_TCPSTREAM_H
#define CP_USER_EXCHANGE_TCPSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TCPSTREAM_WAITING_MAX_CNT = 1024,
	TCPSTREAM_WAITING_MAX_BYTES = 1 << 20,
};

struct tcpstream_piece {
	int64_t time_ns;      /* when the segment was captured */
	const uint8_t *data;  /* borrowed; NULL for a hole */
	uint32_t len_bytes;   /* as sent */
	uint32_t known_bytes; /* of data: fewer if the capture cut the frame */
};

struct tcpstream_waiting;

struct tcpstream {
	bool synced;
	uint32_t next_seq;
	bool has_fin;
	uint32_t fin_seq;
	struct tcpstream_waiting *waiting; /* by sequence number */
	uint32_t waiting_cnt, waiting_bytes;
	uint64_t repeated_cnt; /* segments that brought nothing new */
};

struct tcpstream_sink {
	void (*take)(void *ctx, const struct tcpstream_piece *piece);
	void *ctx;
};

/* Where the stream begins, unless that is known already. */
void tcpstream_sync(struct tcpstream *s, uint32_t seq);
void tcpstream_segment(struct tcpstream *s, uint32_t seq, const struct tcpstream_piece *piece,
		       const struct tcpstream_sink *sink);
/* The receiver has everything before ack. */
void tcpstream_acked(struct tcpstream *s, uint32_t ack, const struct tcpstream_sink *sink);
/* Everything that waits, with its holes. */
void tcpstream_flush(struct tcpstream *s, const struct tcpstream_sink *sink);
bool tcpstream_ended(const struct tcpstream *s); /* FIN, and everything before it */
void tcpstream_fini(struct tcpstream *s);

#endif
