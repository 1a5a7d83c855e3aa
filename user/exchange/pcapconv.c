/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames become conversations and messages; see pcapconv.h. */
#include "user/exchange/pcapconv.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/exchange/httpframe.h"
#include "user/exchange/tcpstream.h"

enum {
	CLIENT = 0,
	SERVER = 1,
	RECENT_CNT = 1 << 12,
	UNANSWERED_MAX = 1 << 16, /* requests without reply on one connection */
};

#define REPEAT_NS 100000000 /* a datagram seen again within this is the same */

/* A request that waits for its reply. */
struct request {
	uint32_t id;
	bool head;
};

struct side {
	struct pcapframe_end end;
	uint32_t node;
	struct tcpstream stream;
	struct httpframe *http;
	bool open; /* a message is on its way */
	uint32_t open_id;
	int64_t first_ns, last_ns; /* of that message */
};

struct conn {
	struct side sides[2]; /* CLIENT, SERVER */
	bool tcp, has_last;
	int last_side;
	struct request *requests; /* [first, cnt) are not answered */
	size_t request_first, request_cnt, request_cap;
	uint32_t syn_seq;
	bool has_syn;
};

/* Where and when a datagram was seen last, by a hash of what makes it itself. */
struct recent {
	uint64_t hash;
	int64_t time_ns;
};

struct pcapconv {
	struct msgtrace *t;
	const struct nodemap *map;
	bool ports;
	struct conn *conns;
	size_t conn_cnt, conn_cap;
	struct index index;
	uint32_t next_id;
	struct recent recent[RECENT_CNT];
	struct pcapconv_stats stats;
	struct conn *at; /* the connection whose bytes are given out, and which side's */
	int at_side;
};

struct pcapconv *pcapconv__new(struct msgtrace *t, bool ports, const struct nodemap *map)
{
	struct pcapconv *c = xzalloc(sizeof(*c));

	c->t = t;
	c->ports = ports;
	c->map = map;
	return c;
}

static void emit(struct pcapconv *c, int64_t time_ns, enum msg_op op, uint32_t id)
{
	const struct conn *k = c->at;
	int from = op == MSG_CALL ? CLIENT : SERVER;
	struct msg m = { .time_ns = time_ns,
			 .sender = k->sides[from].node,
			 .receiver = k->sides[1 - from].node,
			 .op = (uint8_t)op };
	struct buf text = { 0 };

	if (id) {
		buf_put_u64(&text, id);
		m.id = msgtrace__id(c->t, text.data, text.len_bytes);
		buf_free(&text);
	}
	if (c->t->msg_cnt < CALL_TRUE_NONE - 1)
		msgtrace__add_msg(c->t, &m, NULL);
}

static struct request *oldest(struct conn *k)
{
	return k->request_first < k->request_cnt ? &k->requests[k->request_first] : NULL;
}

static void begin_message(struct pcapconv *c, int side, int64_t time_ns)
{
	struct conn *k = c->at;
	struct side *s = &k->sides[side];

	s->open = true;
	s->first_ns = s->last_ns = time_ns;
	if (side == SERVER) {
		s->open_id = oldest(k) ? oldest(k)->id : 0;
		return;
	}
	if (k->request_first == k->request_cnt)
		k->request_first = k->request_cnt = 0;
	if (k->request_cnt - k->request_first >= UNANSWERED_MAX) {
		k->request_first++;
		c->stats.unanswered_cnt++;
	}
	k->requests = xgrow(k->requests, &k->request_cap, k->request_cnt + 1, sizeof(*k->requests));
	s->open_id = ++c->next_id;
	k->requests[k->request_cnt++] = (struct request){ s->open_id, false };
	c->stats.call_cnt++;
	emit(c, time_ns, MSG_CALL, s->open_id);
}

static void end_message(struct pcapconv *c, int side)
{
	struct conn *k = c->at;
	struct side *s = &k->sides[side];

	if (!s->open)
		return;
	s->open = false;
	if (side == CLIENT) {
		if (s->http && k->request_cnt)
			k->requests[k->request_cnt - 1].head = s->http->is_head;
		return;
	}
	if (!s->open_id) {
		c->stats.stray_reply_cnt++;
		emit(c, s->last_ns, MSG_ONEWAY, 0);
	} else if (!s->http || !s->http->interim) {
		emit(c, s->last_ns, MSG_RET, s->open_id);
		if (oldest(k) && oldest(k)->id == s->open_id)
			k->request_first++;
	}
}

static bool by_direction(const struct side *s)
{
	return !s->http || s->http->state == HTTPFRAME_OPAQUE ||
	       s->http->state == HTTPFRAME_UNTIL_CLOSE;
}

/* The other side speaks now: a message without an end of its own is over. */
static void turn(struct pcapconv *c, int side)
{
	struct conn *k = c->at;
	struct side *s = &k->sides[side], *other = &k->sides[1 - side];

	if (k->has_last && k->last_side == side)
		return;
	k->has_last = true;
	k->last_side = side;
	if (by_direction(other)) {
		end_message(c, 1 - side);
		if (other->http)
			*other->http = (struct httpframe){ 0 };
	}
	if (!s->http)
		s->http = xzalloc(sizeof(*s->http));
}

static void take_piece(void *ctx, const struct tcpstream_piece *piece)
{
	struct pcapconv *c = ctx;
	struct conn *k = c->at;
	int side = c->at_side;
	struct side *s = &k->sides[side];
	uint32_t at = 0;

	turn(c, side);
	if (!piece->data) {
		c->stats.hole_cnt++;
		c->stats.hole_bytes += piece->len_bytes;
		if (httpframe_skip(s->http, piece->len_bytes))
			end_message(c, side);
		return;
	}
	while (at < piece->known_bytes) {
		bool to_head = side == SERVER && oldest(k) && oldest(k)->head, ended;
		size_t used;

		if (!s->open)
			begin_message(c, side, piece->time_ns);
		if (piece->time_ns > s->last_ns)
			s->last_ns = piece->time_ns;
		ended = httpframe_feed(s->http, piece->data + at, piece->known_bytes - at, to_head,
				       &used);
		at += (uint32_t)used;
		if (ended)
			end_message(c, side);
	}
	if (piece->known_bytes == piece->len_bytes)
		return;
	c->stats.cut_cnt++;
	if (!s->open)
		begin_message(c, side, piece->time_ns);
	if (httpframe_skip(s->http, piece->len_bytes - piece->known_bytes))
		end_message(c, side);
}

static void end_conn(struct pcapconv *c, struct conn *k)
{
	struct tcpstream_sink sink = { take_piece, c };

	c->at = k;
	for (c->at_side = CLIENT; c->at_side <= SERVER; c->at_side++)
		tcpstream_flush(&k->sides[c->at_side].stream, &sink);
	end_message(c, CLIENT);
	end_message(c, SERVER);
	c->stats.unanswered_cnt += k->request_cnt - k->request_first;
	for (int i = CLIENT; i <= SERVER; i++) {
		c->stats.repeated_cnt += k->sides[i].stream.repeated_cnt;
		tcpstream_fini(&k->sides[i].stream);
		free(k->sides[i].http);
		k->sides[i].http = NULL;
	}
	free(k->requests);
	k->requests = NULL;
	k->request_first = k->request_cnt = k->request_cap = 0;
	k->has_last = k->has_syn = false;
}

static uint32_t node_of(struct pcapconv *c, const struct pcapframe_end *end, bool server)
{
	struct buf text = { 0 }, name = { 0 };
	uint32_t node;

	pcapframe_put_end(&text, end, end->port);
	if (!nodemap__name(c->map, buf_str(&text), &name) && !(c->ports && server)) {
		buf_reset(&name);
		pcapframe_put_end(&name, end, 0);
	}
	node = msgtrace__node(c->t, name.len_bytes ? name.data : "-",
			      name.len_bytes ? name.len_bytes : 1);
	buf_free(&text);
	buf_free(&name);
	return node;
}

/* Which end of a frame opened the connection, as far as the frame tells. */
static bool from_client(struct pcapconv *c, const struct pcapframe *f)
{
	if (f->tcp && f->flags & PCAPFRAME_SYN)
		return !(f->flags & PCAPFRAME_ACK);
	if (f->tcp)
		c->stats.guessed_cnt++;
	if (f->tcp && f->from.port != f->to.port)
		return f->from.port > f->to.port;
	/* UDP: who speaks first asks, unless from a well-known port to another */
	return !(f->from.port < 1024 && f->to.port >= 1024);
}

static bool same_end(const struct pcapframe_end *a, const struct pcapframe_end *b)
{
	return a->port == b->port && !memcmp(a->addr, b->addr, sizeof(a->addr));
}

static uint64_t hash_end(const struct pcapframe_end *e)
{
	return hash_pair(hash_bytes(e->addr, sizeof(e->addr)), e->port);
}

/* The connection of a frame, made if it is new, and the side that sent it. */
static struct conn *find_conn(struct pcapconv *c, const struct pcapframe *f, int *side)
{
	uint64_t from = hash_end(&f->from), to = hash_end(&f->to);
	uint64_t hash = hash_pair(from < to ? from : to, from < to ? to : from) ^ f->tcp;
	struct index_iter it = index_find(&c->index, hash);
	struct conn *k;
	bool client;

	for (; index_hit(&c->index, &it); index_next(&c->index, &it)) {
		k = &c->conns[it.elem];
		if (k->tcp != f->tcp)
			continue;
		for (*side = CLIENT; *side <= SERVER; ++*side)
			if (same_end(&k->sides[*side].end, &f->from) &&
			    same_end(&k->sides[1 - *side].end, &f->to))
				return k;
	}
	client = from_client(c, f);
	c->conns = xgrow(c->conns, &c->conn_cap, c->conn_cnt + 1, sizeof(*c->conns));
	index_add(&c->index, hash, (uint32_t)c->conn_cnt);
	k = &c->conns[c->conn_cnt++];
	*k = (struct conn){ .tcp = f->tcp };
	*side = client ? CLIENT : SERVER;
	k->sides[*side].end = f->from;
	k->sides[1 - *side].end = f->to;
	for (int i = CLIENT; i <= SERVER; i++)
		k->sides[i].node = node_of(c, &k->sides[i].end, i == SERVER);
	c->stats.connection_cnt += f->tcp;
	return k;
}

/* A SYN with another number than the connection's own begins a new one on the same ports. */
static void on_syn(struct pcapconv *c, struct conn *k, int side, uint32_t seq)
{
	if (side == CLIENT && k->has_syn && k->syn_seq != seq) {
		end_conn(c, k);
		c->stats.connection_cnt++;
	}
	if (side == CLIENT) {
		k->has_syn = true;
		k->syn_seq = seq;
	}
	tcpstream_sync(&k->sides[side].stream, seq + 1);
}

static void tcp_frame(struct pcapconv *c, int64_t time_ns, const struct pcapframe *f)
{
	struct tcpstream_sink sink = { take_piece, c };
	struct tcpstream_piece piece = { time_ns, f->payload, f->payload_bytes, f->captured_bytes };
	int side;
	struct conn *k = find_conn(c, f, &side);
	uint32_t seq = f->seq;

	if (f->flags & PCAPFRAME_SYN) {
		on_syn(c, k, side, seq);
		seq++;
	}
	c->at = k;
	if (f->flags & PCAPFRAME_ACK) {
		c->at_side = 1 - side;
		tcpstream_acked(&k->sides[1 - side].stream, f->ack, &sink);
	}
	c->at_side = side;
	tcpstream_segment(&k->sides[side].stream, seq, &piece, &sink);
	if (f->flags & PCAPFRAME_FIN) {
		k->sides[side].stream.has_fin = true;
		k->sides[side].stream.fin_seq = seq + f->payload_bytes;
	}
	if (tcpstream_ended(&k->sides[side].stream) && by_direction(&k->sides[side]))
		end_message(c, side); /* a reply up to the end of the connection */
}

/* Whether the same datagram was seen a moment ago. */
static bool seen(struct pcapconv *c, int64_t time_ns, const struct pcapframe *f)
{
	uint64_t hash = hash_pair(hash_end(&f->from), hash_end(&f->to));
	struct recent *r;
	bool again;

	hash = hash_pair(hash, hash_pair(f->ip_id, f->payload_bytes));
	hash = hash_pair(hash, hash_bytes(f->payload, f->captured_bytes));
	r = &c->recent[hash % RECENT_CNT];
	again = r->hash == hash && time_ns - r->time_ns <= REPEAT_NS;
	if (!again)
		*r = (struct recent){ hash, time_ns };
	return again;
}

static void udp_frame(struct pcapconv *c, int64_t time_ns, const struct pcapframe *f)
{
	int side;

	if (seen(c, time_ns, f)) {
		c->stats.repeated_cnt++;
		return;
	}
	c->at = find_conn(c, f, &side);
	c->stats.datagram_cnt++;
	begin_message(c, side, time_ns);
	end_message(c, side);
}

void pcapconv__frame(struct pcapconv *c, int64_t time_ns, const struct pcapframe *f)
{
	if (f->tcp)
		tcp_frame(c, time_ns, f);
	else
		udp_frame(c, time_ns, f);
}

void pcapconv__finish(struct pcapconv *c, struct pcapconv_stats *stats)
{
	for (size_t i = 0; i < c->conn_cnt; i++)
		end_conn(c, &c->conns[i]);
	*stats = c->stats;
}

void pcapconv__free(struct pcapconv *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->conn_cnt; i++) {
		for (int k = CLIENT; k <= SERVER; k++) {
			tcpstream_fini(&c->conns[i].sides[k].stream);
			free(c->conns[i].sides[k].http);
		}
		free(c->conns[i].requests);
	}
	free(c->conns);
	index_free(&c->index);
	free(c);
}
