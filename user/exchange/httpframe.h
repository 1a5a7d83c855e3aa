/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where messages end in one direction of a connection that speaks HTTP/1 (RFC 9112): so that pipelined requests
 * and replies pair up, where a change of direction alone would take them for one. Anything else is OPAQUE.
 * Only lengths are looked at; memory is one line. */
#ifndef CP_USER_EXCHANGE_HTTPFRAME_H
#define CP_USER_EXCHANGE_HTTPFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTPFRAME_LINE_MAX = 256
};

enum httpframe_state {
	HTTPFRAME_START = 0, /* before the first line of a message */
	HTTPFRAME_HEADERS,
	HTTPFRAME_BODY,	      /* body_bytes are to come */
	HTTPFRAME_CHUNK_SIZE, /* a line with the size of a chunk */
	HTTPFRAME_CHUNK_END,  /* the line end behind a chunk */
	HTTPFRAME_TRAILER,
	HTTPFRAME_UNTIL_CLOSE, /* a reply without length */
	HTTPFRAME_OPAQUE,
};

struct httpframe {
	enum httpframe_state state;
	bool chunked, has_length, interim; /* interim: a reply 1xx, another one follows */
	bool no_body;			   /* reply 204, 304 */
	bool is_request, is_head;	   /* of the message at hand */
	uint64_t body_bytes;
	uint16_t line_bytes;
	char line[HTTPFRAME_LINE_MAX]; /* the line so far, cut */
};

/* Zero-initialise. Takes bytes up to the end of a message at most: returns true if one ended after
 * *used_bytes, else all were used. reply_to_head: this is a reply to HEAD, without body. */
bool httpframe_feed(struct httpframe *f, const uint8_t *data, size_t len_bytes, bool reply_to_head,
		    size_t *used_bytes);
/* len_bytes are missing here: inside a body of known length they are counted down, else what follows is opaque
 * (until the caller starts afresh). True if the message ended exactly there. */
bool httpframe_skip(struct httpframe *f, uint64_t len_bytes);

#endif
