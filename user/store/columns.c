/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as columns of bytes; see columns.h. */
#include "user/store/columns.h"

#include <errno.h>
#include <string.h>

void put_le(unsigned char *at, size_t width_bytes, uint64_t value)
{
	for (size_t i = 0; i < width_bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

uint64_t get_le(const unsigned char *at, size_t width_bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width_bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static void encode_bytes(const struct schema_field *f, const char *record, size_t record_bytes,
			 size_t cnt, unsigned char *out)
{
	for (size_t i = 0; i < cnt; i++, record += record_bytes)
		for (size_t k = 0; k < f->width_bytes; k++)
			out[k * cnt + i] = (unsigned char)record[f->off_bytes + k];
}

static void encode_column(const struct schema_table *t, const struct schema_field *f,
			  const char *record, size_t cnt, unsigned char *out)
{
	uint64_t before = 0;

	for (size_t i = 0; i < cnt; i++, record += t->record_bytes) {
		uint64_t raw = schema_get(record, f), value = raw;

		if (f->coding == CODING_DELTA)
			value -= before;
		else if (f->coding == CODING_SPAN)
			value -= schema_get(record, f - 1);
		before = raw;
		for (size_t k = 0; k < f->width_bytes; k++)
			out[k * cnt + i] = (unsigned char)(value >> (8 * k));
	}
}

void columns_encode(const struct schema_table *t, const void *records, size_t cnt,
		    unsigned char *out)
{
	for (size_t i = 0; i < t->field_cnt; i++) {
		const struct schema_field *f = &t->fields[i];

		if (f->type == FIELD_BYTES)
			encode_bytes(f, records, t->record_bytes, cnt, out);
		else
			encode_column(t, f, records, cnt, out);
		out += cnt * f->width_bytes;
	}
}

static void decode_bytes(const struct schema_field *f, const unsigned char *in, size_t cnt,
			 char *record, size_t record_bytes)
{
	for (size_t i = 0; i < cnt; i++, record += record_bytes)
		for (size_t k = 0; k < f->width_bytes; k++)
			record[f->off_bytes + k] = (char)in[k * cnt + i];
}

static void decode_column(const struct schema_table *t, const struct schema_field *f,
			  const unsigned char *in, size_t cnt, char *record)
{
	uint64_t before = 0;

	for (size_t i = 0; i < cnt; i++, record += t->record_bytes) {
		uint64_t value = 0;

		for (size_t k = 0; k < f->width_bytes; k++)
			value |= (uint64_t)in[k * cnt + i] << (8 * k);
		if (f->coding == CODING_DELTA)
			value += before;
		else if (f->coding == CODING_SPAN)
			value += schema_get(record, f - 1);
		before = value;
		schema_set(record, f, value);
	}
}

int columns_decode(const struct schema_table *t, const unsigned char *in, size_t cnt,
		   size_t disk_bytes, void *records)
{
	size_t at = 0;

	for (size_t i = 0; i < t->field_cnt && at < disk_bytes; i++) {
		const struct schema_field *f = &t->fields[i];

		if (f->width_bytes > disk_bytes - at)
			return -EINVAL;
		if (f->type == FIELD_BYTES)
			decode_bytes(f, in + at * cnt, cnt, records, t->record_bytes);
		else
			decode_column(t, f, in + at * cnt, cnt, records);
		at += f->width_bytes;
	}
	return 0;
}
