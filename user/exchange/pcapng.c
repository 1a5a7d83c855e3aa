/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures in pcapng form; see pcapng.h. */
#include "user/exchange/pcapng.h"

#include <errno.h>
#include <pcap/dlt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	OPTION_END = 0,
	OPTION_RESOLUTION = 9,
	OPTION_OFFSET = 14,
	BLOCK_MAX_BYTES = 1 << 24,
	INTERFACES_MAX = 1 << 16,
	DECIMAL_MAX = 18, /* 10^18 and 2^62 still fit */
	BINARY_MAX = 62,
	LINKTYPE_RAW = 101, /* DLT_RAW in a file */
};

struct interface {
	int link_type;
	uint64_t ticks_per_s;
	int64_t offset_s;
};

struct pcapng {
	struct input *in;
	bool swapped;
	struct interface *interfaces;
	size_t interface_cnt, interface_cap;
	uint8_t *body; /* of the block at hand */
	size_t body_bytes, body_cap;
	uint64_t untimed_cnt;
};

struct pcapng *pcapng__new(struct input *in)
{
	struct pcapng *p = xzalloc(sizeof(*p));

	p->in = in;
	return p;
}

void pcapng__free(struct pcapng *p)
{
	if (!p)
		return;
	free(p->interfaces);
	free(p->body);
	free(p);
}

uint64_t pcapng__untimed_cnt(const struct pcapng *p)
{
	return p->untimed_cnt;
}

static uint32_t get32(const struct pcapng *p, const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get16(const struct pcapng *p, const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap16(v) : v;
}

/* Exactly len_bytes: 1; nothing at all: 0; a part: -EIO. */
static int read_all(struct pcapng *p, void *data, size_t len_bytes, struct err *err)
{
	size_t got = 0;

	while (got < len_bytes) {
		ssize_t n = input_read(p->in, (char *)data + got, len_bytes - got, err);

		if (n < 0)
			return (int)n;
		if (!n)
			return got ? err_set(err, -EIO, "it ends inside of a block") : 0;
		got += (size_t)n;
	}
	return 1;
}

/* The byte order of a section stands behind the length of its first block. */
static int set_byte_order(struct pcapng *p, const uint8_t *magic, struct err *err)
{
	p->swapped = false;
	if (get32(p, magic) == BYTE_ORDER_MAGIC)
		return 0;
	p->swapped = true;
	return get32(p, magic) == BYTE_ORDER_MAGIC ?
		       0 :
		       err_set(err, -EINVAL, "a section without its byte order");
}

/* Reads a block into p->body, without its head and tail; *type is its type. */
static int read_block(struct pcapng *p, uint32_t *type, struct err *err)
{
	uint8_t head[12];
	size_t at = 0;
	uint32_t len_bytes;
	int rc = read_all(p, head, 8, err);

	if (rc <= 0)
		return rc;
	*type = get32(p, head);
	if (*type == BLOCK_SECTION) { /* the same in either order */
		rc = read_all(p, head + 8, 4, err);
		if (rc > 0)
			rc = set_byte_order(p, head + 8, err) ? -EINVAL : 1;
		if (rc <= 0)
			return rc ? rc : err_set(err, -EIO, "it ends inside of a block");
		at = 4;
	}
	len_bytes = get32(p, head + 4);
	if (len_bytes < 12 + at || len_bytes % 4 || len_bytes > BLOCK_MAX_BYTES)
		return err_set(err, -EINVAL, "a block of %u bytes", len_bytes);
	p->body_bytes = len_bytes - 12;
	p->body = xgrow(p->body, &p->body_cap, p->body_bytes + 4, 1);
	memcpy(p->body, head + 8, at);
	rc = read_all(p, p->body + at, p->body_bytes - at + 4, err);
	if (!rc)
		return err_set(err, -EIO, "it ends inside of a block");
	if (rc > 0 && get32(p, p->body + p->body_bytes) != len_bytes)
		return err_set(err, -EINVAL, "a block whose lengths differ");
	return rc;
}

static uint64_t power(uint64_t base, unsigned int exponent)
{
	uint64_t v = 1;

	while (exponent--)
		v *= base;
	return v;
}

static int read_options(const struct pcapng *p, struct interface *i, size_t at, struct err *err)
{
	while (at + 4 <= p->body_bytes) {
		const uint8_t *option = p->body + at;
		size_t len_bytes = get16(p, option + 2);

		if (get16(p, option) == OPTION_END)
			return 0;
		if (at + 4 + len_bytes > p->body_bytes)
			return err_set(err, -EINVAL, "an option that is longer than its block");
		if (get16(p, option) == OPTION_RESOLUTION && len_bytes == 1) {
			unsigned int exponent = option[4] & 0x7f;

			bool binary = option[4] & 0x80;

			if (exponent > (binary ? BINARY_MAX : DECIMAL_MAX))
				return err_set(err, -EINVAL, "a clock finer than 10^-18 s");
			i->ticks_per_s = power(binary ? 2 : 10, exponent);
		} else if (get16(p, option) == OPTION_OFFSET && len_bytes == 8) {
			uint64_t low = get32(p, option + (p->swapped ? 8 : 4));
			uint64_t high = get32(p, option + (p->swapped ? 4 : 8));

			i->offset_s = (int64_t)(high << 32 | low);
		}
		at += 4 + (len_bytes + 3) / 4 * 4;
	}
	return 0;
}

static int read_interface(struct pcapng *p, struct err *err)
{
	struct interface i = { .ticks_per_s = 1000000 };

	if (p->body_bytes < 8 || p->interface_cnt >= INTERFACES_MAX)
		return err_set(err, -EINVAL,
			       "an interface block that is too short, or one too many");
	i.link_type = get16(p, p->body);
	if (i.link_type == LINKTYPE_RAW)
		i.link_type = DLT_RAW;
	p->interfaces = xgrow(p->interfaces, &p->interface_cap, p->interface_cnt + 1, sizeof(i));
	p->interfaces[p->interface_cnt++] = i;
	return read_options(p, &p->interfaces[p->interface_cnt - 1], 8, err);
}

static int64_t to_ns(const struct interface *i, uint64_t ticks)
{
	__int128 ns =
		(__int128)ticks * 1000000000 / i->ticks_per_s + (__int128)i->offset_s * 1000000000;
	int64_t max = INT64_MAX / 2; /* differences must fit */

	return ns > max ? max : ns < -max ? -max : (int64_t)ns;
}

/* Packet blocks: number of the interface, time, captured and true length, bytes. */
static int read_packet(const struct pcapng *p, bool old, struct pcapng_frame *ret, struct err *err)
{
	const uint8_t *b = p->body;
	uint32_t number, captured;

	if (p->body_bytes < 20)
		return err_set(err, -EINVAL, "a packet block that is too short");
	number = old ? get16(p, b) : get32(p, b);
	captured = get32(p, b + 12);
	if (number >= p->interface_cnt)
		return err_set(err, -EINVAL, "a packet of interface %u, which is not described",
			       number);
	if (captured > p->body_bytes - 20)
		return err_set(err, -EINVAL, "a packet that is longer than its block");
	ret->time_ns =
		to_ns(&p->interfaces[number], (uint64_t)get32(p, b + 4) << 32 | get32(p, b + 8));
	ret->link_type = p->interfaces[number].link_type;
	ret->data = b + 20;
	ret->len_bytes = captured;
	return 1;
}

int pcapng__next(struct pcapng *p, struct pcapng_frame *ret, struct err *err)
{
	uint32_t type;
	int rc;

	while ((rc = read_block(p, &type, err)) > 0) {
		switch (type) {
		case BLOCK_SECTION:
			p->interface_cnt = 0;
			break;
		case BLOCK_INTERFACE:
			rc = read_interface(p, err);
			if (rc)
				return rc;
			break;
		case BLOCK_SIMPLE_PACKET:
			p->untimed_cnt++;
			break;
		case BLOCK_PACKET:
		case BLOCK_OLD_PACKET:
			return read_packet(p, type == BLOCK_OLD_PACKET, ret, err);
		default:
			break;
		}
	}
	return rc;
}
