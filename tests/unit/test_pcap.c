/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures made here, byte by byte: order, loss, both ends, link layers, UDP, HTTP framing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/analysis/callpairs.h"
#include "user/base/mem.h"
#include "user/base/prng.h"
#include "user/exchange/httpframe.h"
#include "user/exchange/pcap.h"
#include "user/exchange/tcpstream.h"

enum {
	CLIENT,
	SERVER
};

struct capture {
	struct buf file;
	int link_type;
	uint32_t seq[2];
};

static void le32(struct buf *b, uint32_t v)
{
	buf_append(b, &v, 4); /* the file's byte order is the host's: captures may have either */
}

static void be16(struct buf *b, unsigned int v)
{
	buf_putc(b, (char)(v >> 8));
	buf_putc(b, (char)v);
}

static void be32(struct buf *b, uint32_t v)
{
	be16(b, v >> 16);
	be16(b, v & 0xffff);
}

static void open_capture(struct capture *c, int link_type)
{
	*c = (struct capture){ .link_type = link_type, .seq = { 100, 0xfffffff0 } };
	le32(&c->file, 0xa1b23c4d); /* nanoseconds */
	le32(&c->file, 4u << 16 | 2);
	le32(&c->file, 0);
	le32(&c->file, 0);
	le32(&c->file, 65535);
	le32(&c->file, (uint32_t)link_type);
}

static void link_header(struct capture *c, struct buf *f)
{
	static const char zeros[16];

	if (c->link_type == 1) {
		buf_append(f, zeros, 12);
		be16(f, 0x8100); /* a VLAN tag */
		be16(f, 42);
		be16(f, 0x0800);
	} else if (c->link_type == 113) {
		buf_append(f, zeros, 14);
		be16(f, 0x0800);
	}
}

static void ip_header(struct buf *f, int from, int proto, size_t len_bytes, unsigned int id)
{
	buf_putc(f, 0x45);
	buf_putc(f, 0);
	be16(f, (unsigned int)(20 + len_bytes));
	be16(f, id);
	be16(f, 0);
	buf_putc(f, 64);
	buf_putc(f, (char)proto);
	be16(f, 0);
	be32(f, 0x0a000001 + (uint32_t)from);
	be32(f, 0x0a000002 - (uint32_t)from);
}

static void put_frame(struct capture *c, int64_t time_ns, const struct buf *f, size_t snap)
{
	size_t kept = f->len_bytes < snap ? f->len_bytes : snap;

	le32(&c->file, (uint32_t)(time_ns / 1000000000));
	le32(&c->file, (uint32_t)(time_ns % 1000000000));
	le32(&c->file, (uint32_t)kept);
	le32(&c->file, (uint32_t)f->len_bytes);
	buf_append(&c->file, f->data, kept);
}

struct segment {
	int64_t time_ns;
	int from;
	uint32_t seq;
	unsigned int flags;
	uint32_t ack;
	const char *text;
	size_t snap;
};

static void tcp_frame(struct capture *c, const struct segment *s)
{
	struct buf f = { 0 };

	link_header(c, &f);
	ip_header(&f, s->from, 6, 20 + strlen(s->text), 1);
	be16(&f, s->from == CLIENT ? 40000 : 80);
	be16(&f, s->from == CLIENT ? 80 : 40000);
	be32(&f, s->seq);
	be32(&f, s->ack);
	buf_putc(&f, 0x50);
	buf_putc(&f, (char)s->flags);
	be32(&f, 0xffff0000);
	be16(&f, 0);
	buf_puts(&f, s->text);
	put_frame(c, s->time_ns, &f, s->snap ? s->snap : 65535);
	buf_free(&f);
}

/* The next bytes of a side, acknowledging all of the other. */
static void say(struct capture *c, int64_t time_ns, int from, const char *text)
{
	struct segment s = { time_ns, from, c->seq[from], 0x18, c->seq[1 - from], text, 0 };

	tcp_frame(c, &s);
	c->seq[from] += (uint32_t)strlen(text);
}

static void handshake(struct capture *c)
{
	struct segment s = { 1, CLIENT, c->seq[CLIENT]++, 0x02, 0, "", 0 };

	tcp_frame(c, &s);
	s = (struct segment){ 2, SERVER, c->seq[SERVER]++, 0x12, c->seq[CLIENT], "", 0 };
	tcp_frame(c, &s);
}

static struct msgtrace *load(struct capture *caps, size_t cnt, struct buf *notes)
{
	struct msgtrace *t = msgtrace__new();
	struct input *in[4];
	struct pcap_opts o = { 0 };
	struct callpairs_stats stats;
	struct err err = { 0 };

	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(
			input_open_mem(caps[i].file.data, caps[i].file.len_bytes, &in[i], &err), 0);
	if (pcap_read(in, cnt, &o, t, notes, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < cnt; i++) {
		input_close(in[i]);
		buf_free(&caps[i].file);
	}
	callpairs_find(t, 0, 0, &stats);
	return t;
}

static void expect_call(const struct msgtrace *t, size_t call, int64_t start_ns, int64_t end_ns)
{
	assert_true(call < t->call_cnt);
	assert_int_equal(t->calls[call].client_start_ns, start_ns);
	assert_int_equal(t->calls[call].client_end_ns, end_ns);
	assert_string_equal(msgtrace__node_name(t, t->calls[call].caller), "10.0.0.1");
	assert_string_equal(msgtrace__node_name(t, t->calls[call].callee), "10.0.0.2");
}

/* A protocol without lengths: the direction tells. Sequence numbers of the server wrap. */
static void test_by_direction(void **state)
{
	static const int links[] = { 1, 101, 113 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct capture c;
		struct buf notes = { 0 };
		struct msgtrace *t;

		open_capture(&c, links[i]);
		handshake(&c);
		say(&c, 100, CLIENT, "ask");
		say(&c, 110, CLIENT, " more");
		say(&c, 200, SERVER, "a long answer that wraps");
		say(&c, 250, SERVER, " and its end");
		say(&c, 300, CLIENT, "again");
		say(&c, 330, SERVER, "yes");
		t = load(&c, 1, &notes);
		assert_int_equal(t->call_cnt, 2);
		expect_call(t, 0, 100, 250);
		expect_call(t, 1, 300, 330);
		msgtrace__free(t);
		buf_free(&notes);
	}
}

/* The same wire at two places: frames of the second come a little later and are no messages of their own. */
static void test_both_ends(void **state)
{
	struct capture c[2];
	struct buf notes = { 0 };
	struct msgtrace *t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_capture(&c[i], 1);
		handshake(&c[i]);
		say(&c[i], 100 + i * 7, CLIENT, "ask");
		say(&c[i], 200 - i * 7, SERVER, "answer");
	}
	t = load(c, 2, &notes);
	assert_int_equal(t->call_cnt, 1);
	expect_call(t, 0, 100, 193);
	assert_non_null(strstr(buf_str(&notes), "captured twice"));
	msgtrace__free(t);
	buf_free(&notes);
}

/* Lost by the capture but acknowledged: counted, and only its own message suffers. */
static void test_hole(void **state)
{
	struct capture c;
	struct buf notes = { 0 };
	struct msgtrace *t;

	(void)state;
	open_capture(&c, 101);
	handshake(&c);
	say(&c, 100, CLIENT, "GET /1 HTTP/1.1\r\n\r\n");
	c.seq[SERVER] += 38; /* the head of the reply is not there */
	say(&c, 200, SERVER, "0123456789");
	say(&c, 300, CLIENT, "GET /2 HTTP/1.1\r\n\r\n");
	say(&c, 350, SERVER, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	t = load(&c, 1, &notes);
	assert_int_equal(t->call_cnt, 2);
	expect_call(t, 0, 100, 200);
	expect_call(t, 1, 300, 350);
	assert_non_null(strstr(buf_str(&notes), "38 bytes lost"));
	msgtrace__free(t);
	buf_free(&notes);
}

/* Three requests at once, replies one after the other: HEAD without body, 100 before 200, chunks. */
static void test_pipelined(void **state)
{
	struct capture c;
	struct buf notes = { 0 };
	struct msgtrace *t;

	(void)state;
	open_capture(&c, 101);
	handshake(&c);
	say(&c, 100, CLIENT,
	    "HEAD /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcGET /3 HTTP/1.1\r\n\r\n");
	say(&c, 200, SERVER, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
	say(&c, 210, SERVER, "HTTP/1.1 100 Continue\r\n\r\n");
	say(&c, 300, SERVER, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
	say(&c, 310, SERVER, "lo\r\n0\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n");
	t = load(&c, 1, &notes);
	assert_int_equal(t->call_cnt, 3);
	expect_call(t, 0, 100, 200);
	expect_call(t, 1, 100, 310);
	expect_call(t, 2, 100, 310);
	msgtrace__free(t);
	buf_free(&notes);
}

static void udp_frame(struct capture *c, int64_t time_ns, int from, unsigned int id,
		      const char *text)
{
	struct buf f = { 0 };

	link_header(c, &f);
	ip_header(&f, from, 17, 8 + strlen(text), id);
	be16(&f, from == CLIENT ? 40000 : 53);
	be16(&f, from == CLIENT ? 53 : 40000);
	be16(&f, (unsigned int)(8 + strlen(text)));
	be16(&f, 0);
	buf_puts(&f, text);
	put_frame(c, time_ns, &f, 65535);
	buf_free(&f);
}

static void test_udp(void **state)
{
	struct capture c;
	struct buf notes = { 0 };
	struct msgtrace *t;

	(void)state;
	open_capture(&c, 1);
	udp_frame(&c, 100, CLIENT, 1, "q1");
	udp_frame(&c, 105, CLIENT, 1, "q1"); /* the same frame on another interface */
	udp_frame(&c, 200, SERVER, 9, "r1");
	udp_frame(&c, 300, CLIENT, 2, "q1"); /* asked again: another datagram */
	udp_frame(&c, 350, SERVER, 10, "r1");
	t = load(&c, 1, &notes);
	assert_int_equal(t->call_cnt, 2);
	expect_call(t, 0, 100, 200);
	expect_call(t, 1, 300, 350);
	msgtrace__free(t);
	buf_free(&notes);
}

/* A file that ends in a frame, and one that is none. */
static void test_cut_and_foreign(void **state)
{
	struct capture c;
	struct buf notes = { 0 };
	struct msgtrace *t;
	struct input *in;
	struct pcap_opts o = { 0 };
	struct err err = { 0 };

	(void)state;
	open_capture(&c, 101);
	handshake(&c);
	say(&c, 100, CLIENT, "ask");
	say(&c, 200, SERVER, "answer");
	say(&c, 300, CLIENT, "more");
	c.file.len_bytes -= 3;
	t = load(&c, 1, &notes);
	assert_int_equal(t->call_cnt, 1);
	assert_non_null(strstr(buf_str(&notes), "cut off"));
	msgtrace__free(t);
	open_capture(&c, 147); /* a private link type */
	t = msgtrace__new();
	assert_int_equal(input_open_mem(c.file.data, c.file.len_bytes, &in, &err), 0);
	assert_true(pcap_read(&in, 1, &o, t, &notes, &err) < 0);
	assert_non_null(strstr(err.msg, "147"));
	input_close(in);
	buf_free(&c.file);
	msgtrace__free(t);
	buf_free(&notes);
}

static void ng_block(struct buf *f, uint32_t type, const struct buf *body)
{
	uint32_t padded = (uint32_t)(body->len_bytes + 3) / 4 * 4;

	le32(f, type);
	le32(f, padded + 12);
	buf_append(f, body->data, body->len_bytes);
	buf_append(f, "\0\0\0", padded - body->len_bytes);
	le32(f, padded + 12);
}

static void ng_packet(struct buf *f, uint32_t interface, uint64_t ticks, const struct buf *frame)
{
	struct buf b = { 0 };

	le32(&b, interface);
	le32(&b, (uint32_t)(ticks >> 32));
	le32(&b, (uint32_t)ticks);
	le32(&b, (uint32_t)frame->len_bytes);
	le32(&b, (uint32_t)frame->len_bytes);
	buf_append(&b, frame->data, frame->len_bytes);
	ng_block(f, 6, &b);
	buf_free(&b);
}

/* Two interfaces with their own link types and clocks, as merged captures have; a block nobody knows between. */
static void test_pcapng(void **state)
{
	static const char resolution[] = { 9, 0, 1, 0, (char)(0x80 | 30), 0, 0, 0 }; /* 2^-30 s */
	struct capture c = { .link_type = 1 };
	struct buf b = { 0 }, frame = { 0 }, notes = { 0 };
	struct msgtrace *t;

	(void)state;
	le32(&b, 0x1a2b3c4d);
	le32(&b, 1);
	le32(&b, 0xffffffff);
	le32(&b, 0xffffffff);
	ng_block(&c.file, 0x0a0d0d0a, &b);
	buf_reset(&b);
	le32(&b, 1); /* Ethernet, microseconds */
	le32(&b, 100);
	ng_block(&c.file, 1, &b);
	buf_reset(&b);
	le32(&b, 101); /* raw IP */
	le32(&b, 200);
	buf_append(&b, resolution, sizeof(resolution));
	ng_block(&c.file, 1, &b);
	ng_block(&c.file, 77, &b);
	for (int i = 0; i < 2; i++) {
		c.link_type = i ? 101 : 1;
		link_header(&c, &frame);
		ip_header(&frame, i, 17, 8 + 2, (unsigned int)i);
		be16(&frame, i ? 53 : 40000);
		be16(&frame, i ? 40000 : 53);
		be16(&frame, 10);
		be16(&frame, 0);
		buf_puts(&frame, i ? "re" : "rq");
		ng_packet(&c.file, (uint32_t)i, i ? 3u << 29 : 1000000, &frame); /* 1.5 s, 1 s */
		buf_reset(&frame);
	}
	le32(&c.file, 6); /* a block without an end */
	t = load(&c, 1, &notes);
	assert_int_equal(t->call_cnt, 1);
	expect_call(t, 0, 1000000000, 1500000000);
	assert_non_null(strstr(buf_str(&notes), "cut off"));
	buf_free(&b);
	buf_free(&frame);
	buf_free(&notes);
	msgtrace__free(t);
}

struct collected {
	struct buf bytes;
	uint64_t holes;
};

static void collect(void *ctx, const struct tcpstream_piece *piece)
{
	struct collected *c = ctx;

	if (piece->data)
		buf_append(&c->bytes, piece->data, piece->known_bytes);
	else
		c->holes += piece->len_bytes;
}

/* Segments of random length in random order, each up to three times: the stream comes out whole. */
static void test_stream_in_any_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct tcpstream s = { 0 };
		struct collected got = { 0 };
		struct tcpstream_sink sink = { collect, &got };
		uint8_t text[500];
		struct prng r;
		uint32_t base;

		prng_init(&r, seed, 0);
		base = (uint32_t)prng_u64(&r);
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (uint8_t)prng_u64(&r);
		tcpstream_sync(&s, base);
		for (int i = 0; i < 400; i++) {
			uint32_t at = (uint32_t)prng_below(&r, sizeof(text));
			uint32_t len = (uint32_t)prng_between(&r, 1, 60);
			struct tcpstream_piece p = { i, text + at, len, len };

			if (at + len > sizeof(text))
				p.len_bytes = p.known_bytes = (uint32_t)sizeof(text) - at;
			tcpstream_segment(&s, base + at, &p, &sink);
		}
		for (uint32_t at = 0; at < sizeof(text); at += 50) {
			struct tcpstream_piece p = { 0, text + at, 50, 50 };

			tcpstream_segment(&s, base + at, &p, &sink);
		}
		assert_int_equal(got.holes, 0);
		assert_int_equal(got.bytes.len_bytes, sizeof(text));
		assert_memory_equal(got.bytes.data, text, sizeof(text));
		tcpstream_fini(&s);
		buf_free(&got.bytes);
	}
}

/* HTTP framing does not depend on how the bytes are cut. */
static void test_framing_in_pieces(void **state)
{
	static const char text[] =
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n"
		"0\r\nT: 1\r\n\r\nGET /b HTTP/1.1\r\n\r\nPUT /c HTTP/1.0\r\nContent-Length: 4\r\n\r\nwxyz";

	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		struct httpframe f = { 0 };
		size_t ends[8], cnt = 0;

		for (size_t at = 0; at < sizeof(text) - 1;) {
			size_t left = sizeof(text) - 1 - at, used;
			bool ended = httpframe_feed(&f, (const uint8_t *)text + at,
						    left < step ? left : step, false, &used);

			at += used;
			if (ended)
				ends[cnt++] = at;
		}
		assert_int_equal(cnt, 3);
		assert_int_equal(ends[0], strstr(text, "GET") - text);
		assert_int_equal(ends[1], strstr(text, "PUT") - text);
		assert_int_equal(ends[2], sizeof(text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_direction),
		cmocka_unit_test(test_both_ends),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_pipelined),
		cmocka_unit_test(test_udp),
		cmocka_unit_test(test_cut_and_foreign),
		cmocka_unit_test(test_stream_in_any_order),
		cmocka_unit_test(test_framing_in_pieces),
		cmocka_unit_test(test_pcapng),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
