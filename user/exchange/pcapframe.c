/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured frames; see pcapframe.h. */
#include "user/exchange/pcapframe.h"

#include <arpa/inet.h>
#include <pcap/dlt.h>
#include <string.h>

enum {
	ETHERTYPE_V4 = 0x0800,
	ETHERTYPE_V6 = 0x86dd,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_QINQ = 0x88a8,
	ETHERTYPE_PPPOE = 0x8864,
	PPP_V4 = 0x0021,
	PPP_V6 = 0x0057,
	VLAN_TAGS_MAX = 4,
	V6_HEADERS_MAX = 8,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
};

struct cursor {
	const uint8_t *at;
	size_t left_bytes;
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The next n bytes, or NULL if fewer were captured. */
static const uint8_t *take(struct cursor *c, size_t n)
{
	const uint8_t *p = c->at;

	if (c->left_bytes < n)
		return NULL;
	c->at += n;
	c->left_bytes -= n;
	return p;
}

bool pcapframe_knows(int link_type)
{
	switch (link_type) {
	case DLT_EN10MB:
	case DLT_RAW:
	case DLT_NULL:
	case DLT_LOOP:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_IPV4:
	case DLT_IPV6:
		return true;
	default:
		return false;
	}
}

/* Behind the link layer: the ethertype, 0 for "see the IP version", -1 if cut. */
static int link_layer(int link_type, struct cursor *c)
{
	const uint8_t *p = NULL;
	int type = 0;

	switch (link_type) {
	case DLT_EN10MB:
		p = take(c, 14);
		type = p ? get16(p + 12) : -1;
		break;
	case DLT_LINUX_SLL:
		p = take(c, 16);
		type = p ? get16(p + 14) : -1;
		break;
	case DLT_LINUX_SLL2:
		p = take(c, 20);
		type = p ? get16(p) : -1;
		break;
	case DLT_NULL: /* a family number in the byte order of the host that captured */
	case DLT_LOOP:
		p = take(c, 4);
		type = p ? 0 : -1;
		break;
	default:
		break;
	}
	for (int i = 0; i < VLAN_TAGS_MAX && (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ);
	     i++) {
		p = take(c, 4);
		type = p ? get16(p + 2) : -1;
	}
	if (type == ETHERTYPE_PPPOE) {
		p = take(c, 8);
		type = !p		      ? -1 :
		       get16(p + 6) == PPP_V4 ? ETHERTYPE_V4 :
		       get16(p + 6) == PPP_V6 ? ETHERTYPE_V6 :
						ETHERTYPE_PPPOE;
	}
	return type;
}

static void map_v4(uint8_t *addr, const uint8_t *v4)
{
	memset(addr, 0, 10);
	addr[10] = addr[11] = 0xff;
	memcpy(addr + 12, v4, 4);
}

/* What the IP header says about what follows it. */
struct inner {
	int proto;
	size_t len_bytes; /* of everything behind the IP headers, as sent */
};

static enum pcapframe_result ip_v4(struct cursor *c, struct pcapframe *f, struct inner *in)
{
	const uint8_t *p = take(c, 20);
	size_t header_bytes, total_bytes;

	if (!p)
		return PCAPFRAME_CUT;
	header_bytes = (size_t)(p[0] & 15) * 4;
	total_bytes = get16(p + 2);
	if (!total_bytes) /* segmentation offload: the length is what was captured */
		total_bytes = 20 + c->left_bytes;
	if (header_bytes < 20 || total_bytes < header_bytes)
		return PCAPFRAME_MALFORMED;
	if (!take(c, header_bytes - 20))
		return PCAPFRAME_CUT;
	if (get16(p + 6) & 0x3fff) /* more fragments, or an offset */
		return PCAPFRAME_FRAGMENT;
	f->ip_id = get16(p + 4);
	map_v4(f->from.addr, p + 12);
	map_v4(f->to.addr, p + 16);
	in->proto = p[9];
	in->len_bytes = total_bytes - header_bytes;
	return PCAPFRAME_OK;
}

static bool is_extension(int proto)
{
	return proto == 0 || proto == 43 || proto == 60 || proto == 135;
}

static enum pcapframe_result ip_v6(struct cursor *c, struct pcapframe *f, struct inner *in)
{
	const uint8_t *p = take(c, 40);

	if (!p)
		return PCAPFRAME_CUT;
	in->len_bytes = get16(p + 4);
	if (!in->len_bytes)
		in->len_bytes = c->left_bytes;
	in->proto = p[6];
	memcpy(f->from.addr, p + 8, 16);
	memcpy(f->to.addr, p + 24, 16);
	for (int i = 0; i < V6_HEADERS_MAX && is_extension(in->proto); i++) {
		const uint8_t *h = take(c, 8);
		size_t more_bytes = h ? (size_t)h[1] * 8 : 0;

		if (!h || !take(c, more_bytes))
			return PCAPFRAME_CUT;
		if (in->len_bytes < 8 + more_bytes)
			return PCAPFRAME_MALFORMED;
		in->len_bytes -= 8 + more_bytes;
		in->proto = h[0];
	}
	return in->proto == 44 ? PCAPFRAME_FRAGMENT : PCAPFRAME_OK;
}

static enum pcapframe_result tcp(struct cursor *c, struct pcapframe *f, size_t *len_bytes)
{
	const uint8_t *p = take(c, 20);
	size_t header_bytes;

	if (!p)
		return PCAPFRAME_CUT;
	header_bytes = (size_t)(p[12] >> 4) * 4;
	if (header_bytes < 20 || header_bytes > *len_bytes)
		return PCAPFRAME_MALFORMED;
	f->tcp = true;
	f->from.port = get16(p);
	f->to.port = get16(p + 2);
	f->seq = get32(p + 4);
	f->ack = get32(p + 8);
	f->flags = p[13];
	*len_bytes -= header_bytes;
	return take(c, header_bytes - 20) ? PCAPFRAME_OK : PCAPFRAME_CUT;
}

static enum pcapframe_result udp(struct cursor *c, struct pcapframe *f, size_t *len_bytes)
{
	const uint8_t *p = take(c, 8);

	if (!p)
		return PCAPFRAME_CUT;
	if (*len_bytes < 8 || (get16(p + 4) && get16(p + 4) < 8))
		return PCAPFRAME_MALFORMED;
	f->from.port = get16(p);
	f->to.port = get16(p + 2);
	*len_bytes -= 8;
	return PCAPFRAME_OK;
}

enum pcapframe_result pcapframe_decode(int link_type, const uint8_t *data, size_t len_bytes,
				       struct pcapframe *ret)
{
	struct cursor c = { data, len_bytes };
	int type = link_layer(link_type, &c);
	enum pcapframe_result rc;
	struct inner in = { 0 };
	int version;

	*ret = (struct pcapframe){ 0 };
	if (type < 0 || !c.left_bytes)
		return PCAPFRAME_CUT;
	version = c.at[0] >> 4;
	if (!pcapframe_knows(link_type) || (type && type != ETHERTYPE_V4 && type != ETHERTYPE_V6))
		return PCAPFRAME_OTHER;
	if (version == 4)
		rc = ip_v4(&c, ret, &in);
	else if (version == 6)
		rc = ip_v6(&c, ret, &in);
	else
		return type ? PCAPFRAME_MALFORMED : PCAPFRAME_OTHER;
	if (rc)
		return rc;
	if (in.proto != PROTO_TCP && in.proto != PROTO_UDP)
		return PCAPFRAME_OTHER;
	rc = in.proto == PROTO_TCP ? tcp(&c, ret, &in.len_bytes) : udp(&c, ret, &in.len_bytes);
	ret->payload = c.at;
	ret->payload_bytes = (uint32_t)in.len_bytes;
	/* short frames are padded: what is behind the datagram is none of it */
	ret->captured_bytes = (uint32_t)(c.left_bytes < in.len_bytes ? c.left_bytes : in.len_bytes);
	return rc;
}

void pcapframe_put_end(struct buf *out, const struct pcapframe_end *end, uint16_t port)
{
	static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = !memcmp(end->addr, v4_prefix, sizeof(v4_prefix));
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? end->addr + 12 : end->addr, text, sizeof(text));
	if (!port)
		buf_puts(out, text);
	else
		buf_printf(out, v4 ? "%s:%u" : "[%s]:%u", text, port);
}
