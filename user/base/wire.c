/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and texts as bytes; see wire.h. */
#include "user/base/wire.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "user/base/hash.h"

enum {
	SUM_BYTES = 8
};

void wire_put_u64(struct buf *out, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		buf_putc(out, (char)(v | 128));
	buf_putc(out, (char)v);
}

void wire_put_i64(struct buf *out, int64_t v)
{
	wire_put_u64(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void put_bytes(struct buf *out, uint64_t bits, int cnt)
{
	for (int i = 0; i < cnt; i++)
		buf_putc(out, (char)(bits >> 8 * i));
}

static uint64_t get_bytes(struct wire *w, int cnt)
{
	uint64_t bits = 0;

	if (w->bad || w->end - w->at < cnt) {
		w->bad = true;
		return 0;
	}
	for (int i = 0; i < cnt; i++)
		bits |= (uint64_t)*w->at++ << 8 * i;
	return bits;
}

void wire_put_f64(struct buf *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_bytes(out, bits, sizeof(bits));
}

void wire_put_f32(struct buf *out, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_bytes(out, bits, sizeof(bits));
}

void wire_put_text(struct buf *out, const char *text, size_t len_bytes)
{
	wire_put_u64(out, len_bytes);
	buf_append(out, text, len_bytes);
}

uint64_t wire_u64(struct wire *w)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64 && w->at < w->end && !w->bad; shift += 7) {
		unsigned char b = *w->at++;

		v |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return v;
	}
	w->bad = true;
	return 0;
}

int64_t wire_i64(struct wire *w)
{
	uint64_t v = wire_u64(w);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

double wire_f64(struct wire *w)
{
	uint64_t bits = get_bytes(w, sizeof(bits));
	double v;

	memcpy(&v, &bits, sizeof(v));
	w->bad |= isnan(v);
	return w->bad ? 0 : v;
}

float wire_f32(struct wire *w)
{
	uint32_t bits = (uint32_t)get_bytes(w, sizeof(bits));
	float v;

	memcpy(&v, &bits, sizeof(v));
	w->bad |= !isfinite(v);
	return w->bad ? 0 : v;
}

uint32_t wire_below(struct wire *w, uint64_t limit)
{
	uint64_t v = wire_u64(w);

	if (v >= limit)
		w->bad = true;
	return w->bad ? 0 : (uint32_t)v;
}

uint32_t wire_count(struct wire *w)
{
	uint64_t limit = (uint64_t)(w->end - w->at) + 1;

	return wire_below(w, limit < UINT32_MAX ? limit : UINT32_MAX);
}

const char *wire_text(struct wire *w, size_t *len_bytes)
{
	const char *text;

	*len_bytes = wire_count(w);
	if (w->bad || *len_bytes > (size_t)(w->end - w->at)) {
		w->bad = true;
		*len_bytes = 0;
		return "";
	}
	text = (const char *)w->at;
	w->at += *len_bytes;
	return text;
}

void wire_seal(struct buf *out, size_t start)
{
	put_bytes(out, hash_bytes(out->data + start, out->len_bytes - start), SUM_BYTES);
}

int wire_open(const void *data, size_t len_bytes, const char *magic, struct wire *ret,
	      struct err *err)
{
	size_t magic_bytes = strlen(magic);
	struct wire sum;

	if (len_bytes < magic_bytes + SUM_BYTES || memcmp(data, magic, magic_bytes) != 0)
		return err_set(err, -EINVAL, "not a file of this kind (%.*s)", (int)magic_bytes - 1,
			       magic);
	*ret = (struct wire){ (const unsigned char *)data + magic_bytes,
			      (const unsigned char *)data + len_bytes - SUM_BYTES, false };
	sum = (struct wire){ ret->end, ret->end + SUM_BYTES, false };
	if (get_bytes(&sum, SUM_BYTES) != hash_bytes(data, len_bytes - SUM_BYTES))
		return err_set(err, -EINVAL, "truncated or damaged: its checksum does not match");
	return 0;
}
