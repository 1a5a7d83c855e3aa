/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One direction of a TCP connection in order; see tcpstream.h. */
#include "user/exchange/tcpstream.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

struct tcpstream_waiting {
	struct tcpstream_waiting *next;
	int64_t time_ns;
	uint32_t seq, len_bytes, known_bytes;
	uint8_t data[];
};

/* How far a is behind b, modulo 2^32. */
static int32_t ahead(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

void tcpstream_sync(struct tcpstream *s, uint32_t seq)
{
	if (s->synced)
		return;
	s->synced = true;
	s->next_seq = seq;
}

/* Gives what of a piece is new, if it begins at or before next_seq. */
static void give(struct tcpstream *s, uint32_t seq, struct tcpstream_piece piece,
		 const struct tcpstream_sink *sink)
{
	uint32_t old_bytes = s->next_seq - seq;

	if (old_bytes >= piece.len_bytes) {
		s->repeated_cnt++;
		return;
	}
	if (old_bytes) {
		uint32_t known = old_bytes < piece.known_bytes ? old_bytes : piece.known_bytes;

		piece.data += known;
		piece.known_bytes -= known;
		piece.len_bytes -= old_bytes;
	}
	s->next_seq += piece.len_bytes;
	sink->take(sink->ctx, &piece);
}

static void pop_waiting(struct tcpstream *s, const struct tcpstream_sink *sink)
{
	struct tcpstream_waiting *w = s->waiting;
	struct tcpstream_piece piece = { w->time_ns, w->data, w->len_bytes, w->known_bytes };

	if (ahead(w->seq, s->next_seq) > 0) {
		struct tcpstream_piece hole = { .time_ns = w->time_ns,
						.len_bytes = w->seq - s->next_seq };

		s->next_seq = w->seq;
		sink->take(sink->ctx, &hole);
	}
	s->waiting = w->next;
	s->waiting_cnt--;
	s->waiting_bytes -= w->known_bytes;
	give(s, w->seq, piece, sink);
	free(w);
}

static void give_ready(struct tcpstream *s, const struct tcpstream_sink *sink)
{
	while (s->waiting && ahead(s->waiting->seq, s->next_seq) <= 0)
		pop_waiting(s, sink);
}

static void wait_for_turn(struct tcpstream *s, uint32_t seq, const struct tcpstream_piece *piece)
{
	struct tcpstream_waiting **at = &s->waiting, *w;

	while (*at && ahead((*at)->seq, seq) < 0)
		at = &(*at)->next;
	if (*at && (*at)->seq == seq && (*at)->len_bytes >= piece->len_bytes) {
		s->repeated_cnt++;
		return;
	}
	w = xmalloc(sizeof(*w) + piece->known_bytes);
	w->time_ns = piece->time_ns;
	w->seq = seq;
	w->len_bytes = piece->len_bytes;
	w->known_bytes = piece->known_bytes;
	if (piece->known_bytes)
		memcpy(w->data, piece->data, piece->known_bytes);
	w->next = *at;
	*at = w;
	s->waiting_cnt++;
	s->waiting_bytes += piece->known_bytes;
}

void tcpstream_segment(struct tcpstream *s, uint32_t seq, const struct tcpstream_piece *piece,
		       const struct tcpstream_sink *sink)
{
	if (!piece->len_bytes)
		return;
	tcpstream_sync(s, seq);
	if (ahead(seq, s->next_seq) <= 0)
		give(s, seq, *piece, sink);
	else
		wait_for_turn(s, seq, piece);
	give_ready(s, sink);
	while (s->waiting_cnt > TCPSTREAM_WAITING_MAX_CNT ||
	       s->waiting_bytes > TCPSTREAM_WAITING_MAX_BYTES)
		pop_waiting(s, sink);
}

void tcpstream_acked(struct tcpstream *s, uint32_t ack, const struct tcpstream_sink *sink)
{
	tcpstream_sync(s, ack);
	while (s->waiting && ahead(ack, s->waiting->seq) > 0)
		pop_waiting(s, sink);
	give_ready(s, sink);
}

void tcpstream_flush(struct tcpstream *s, const struct tcpstream_sink *sink)
{
	while (s->waiting)
		pop_waiting(s, sink);
}

bool tcpstream_ended(const struct tcpstream *s)
{
	return s->has_fin && s->synced && ahead(s->next_seq, s->fin_seq) >= 0;
}

void tcpstream_fini(struct tcpstream *s)
{
	while (s->waiting) {
		struct tcpstream_waiting *next = s->waiting->next;

		free(s->waiting);
		s->waiting = next;
	}
	*s = (struct tcpstream){ 0 };
}
