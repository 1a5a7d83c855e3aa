/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code objects of a live Python process; see python_code.h. */
#include "symbolize/python_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/cursor.h"
#include "user/base/mem.h"

enum {
	INSTR_BYTES = 2,
	REPLACEMENT = 0xfffd,
};

/* Bits of a string's state; the lower two tell how it is interned. */
enum {
	STATE_KIND_SHIFT = 2,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
};

/* Kinds of entries of the location table. */
enum {
	LOCATION_ONE_LINE = 10, /* to 12: the line delta is the kind minus this */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

static uint64_t word_at(const uint8_t *object, uint32_t off_bytes)
{
	uint64_t v;

	memcpy(&v, object + off_bytes, sizeof(v));
	return v;
}

static void put_char(struct buf *out, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = REPLACEMENT;
	if (c < 0x80) {
		buf_putc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_putc(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_putc(out, (char)(0xe0 | c >> 12));
		} else {
			buf_putc(out, (char)(0xf0 | c >> 18));
			buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
		}
		buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
	}
	buf_putc(out, (char)(0x80 | (c & 63)));
}

void python_put_utf8(struct buf *out, const void *data, size_t char_cnt, unsigned int char_bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < char_cnt; i++, p += char_bytes) {
		uint32_t c = 0;

		memcpy(&c, p, char_bytes);
		put_char(out, c ? c : REPLACEMENT); /* a NUL would end the name */
	}
}

static int read_string(const struct python_layout *l, const struct python_memory *m, uint64_t addr,
		       char **ret)
{
	const struct python_offsets *o = &l->offsets;
	uint8_t head[PYTHON_STRING_HEAD_MAX_BYTES];
	uint64_t char_cnt, state, data;
	unsigned int kind;
	struct buf name = { 0 };
	void *chars;
	int rc = m->read(m->ctx, addr, head, o->string_compact + 8);

	if (rc)
		return rc;
	char_cnt = word_at(head, o->string_length);
	state = word_at(head, o->string_state);
	kind = state >> STATE_KIND_SHIFT & 7;
	if (word_at(head, o->object_type) != l->string_type || !(state & STATE_COMPACT) ||
	    (kind != 1 && kind != 2 && kind != 4) || char_cnt > UINT32_MAX)
		return -EINVAL;
	if (char_cnt > PYTHON_NAME_MAX_CHARS)
		char_cnt = PYTHON_NAME_MAX_CHARS;
	data = addr + (state & STATE_ASCII ? o->string_ascii : o->string_compact);
	chars = xmalloc(char_cnt * kind + 1);
	rc = char_cnt ? m->read(m->ctx, data, chars, char_cnt * kind) : 0;
	if (!rc) {
		python_put_utf8(&name, chars, char_cnt, kind);
		*ret = xstrdup(buf_str(&name));
	}
	buf_free(&name);
	free(chars);
	return rc;
}

static int read_lines(const struct python_layout *l, const struct python_memory *m, uint64_t addr,
		      struct python_code *c)
{
	const struct python_offsets *o = &l->offsets;
	uint8_t head[PYTHON_STRING_HEAD_MAX_BYTES];
	uint64_t len_bytes;
	int rc = m->read(m->ctx, addr, head, o->bytes_data);

	if (rc)
		return rc;
	len_bytes = word_at(head, o->var_size);
	if (word_at(head, o->object_type) != l->bytes_type || len_bytes > PYTHON_LINES_SANE_BYTES)
		return -EINVAL;
	if (len_bytes > PYTHON_LINES_MAX_BYTES)
		len_bytes = 0;
	c->lines = xmalloc(len_bytes + 1);
	c->lines_bytes = len_bytes;
	return len_bytes ? m->read(m->ctx, addr + o->bytes_data, c->lines, len_bytes) : 0;
}

int python_code_identify(const struct python_layout *l, const struct python_memory *m,
			 uint64_t addr, struct python_code_id *ret)
{
	const struct python_offsets *o = &l->offsets;
	uint8_t object[PYTHON_CODE_MAX_BYTES + 8];
	int rc = m->read(m->ctx, addr, object, o->code_instrs);

	if (rc)
		return rc;
	if (word_at(object, o->object_type) != l->code_type)
		return -EINVAL;
	*ret = (struct python_code_id){
		.filename = word_at(object, o->code_filename),
		.qualname = word_at(object, o->code_qualname),
		.linetable = word_at(object, o->code_linetable),
		.instr_cnt = word_at(object, o->var_size),
		.first_line = (int32_t)word_at(object, o->code_first_line),
	};
	return ret->instr_cnt && ret->instr_cnt <= PYTHON_INSTRS_MAX ? 0 : -EINVAL;
}

int python_code_read(const struct python_layout *l, const struct python_memory *m, uint64_t addr,
		     struct python_code *ret)
{
	struct python_code_id after;
	int rc;

	*ret = (struct python_code){ .instrs = addr + l->offsets.code_instrs };
	rc = python_code_identify(l, m, addr, &ret->id);
	if (!rc)
		rc = read_string(l, m, ret->id.qualname, &ret->function);
	if (!rc)
		rc = read_string(l, m, ret->id.filename, &ret->file);
	if (!rc)
		rc = read_lines(l, m, ret->id.linetable, ret);
	/* it may have been freed in between */
	if (!rc)
		rc = python_code_identify(l, m, addr, &after);
	if (!rc && memcmp(&after, &ret->id, sizeof(after)) != 0)
		rc = -EINVAL;
	if (rc)
		python_code_free(ret);
	return rc;
}

void python_code_free(struct python_code *c)
{
	free(c->function);
	free(c->file);
	free(c->lines);
	*c = (struct python_code){ 0 };
}

/* Before the first instruction runs, 3.11 and 3.12 say that the one before it was the last. */
bool python_code_holds(const struct python_code *c, uint64_t instr)
{
	uint64_t off_bytes = instr - c->instrs + INSTR_BYTES;

	return off_bytes % INSTR_BYTES == 0 && off_bytes <= c->id.instr_cnt * INSTR_BYTES;
}

uint32_t python_code_line(const struct python_code *c, uint64_t instr)
{
	if (instr < c->instrs)
		return c->id.first_line > 0 ? (uint32_t)c->id.first_line : 0;
	return python_line_of(c->lines, c->lines_bytes, c->id.first_line,
			      (instr - c->instrs) / INSTR_BYTES);
}

/* Six bits a byte, the lowest first; bit 6: more follow. */
static uint32_t read_varint(struct cursor *c)
{
	uint32_t value = 0;
	int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return value;
}

/* The sign is the lowest bit. */
static int64_t read_svarint(struct cursor *c)
{
	uint32_t value = read_varint(c);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t line_delta(struct cursor *c, unsigned int kind)
{
	if (kind == LOCATION_NONE)
		return 0;
	if (kind == LOCATION_LONG || kind == LOCATION_NO_COLUMNS)
		return read_svarint(c);
	return kind >= LOCATION_ONE_LINE ? kind - LOCATION_ONE_LINE : 0;
}

uint32_t python_line_of(const uint8_t *table, size_t table_bytes, int32_t first_line, uint64_t unit)
{
	struct cursor c = { .p = table, .end = table + table_bytes };
	int64_t line = first_line;
	uint64_t at = 0;

	while (c.p < c.end) {
		uint8_t head = cursor_u8(&c);
		unsigned int kind = head >> 3 & 15;

		if (!(head & 128)) /* columns of the last entry, which nobody wants */
			continue;
		line += line_delta(&c, kind);
		at += (head & 7) + 1u;
		if (unit < at && !c.is_bad)
			return kind == LOCATION_NONE || line <= 0 || line > INT32_MAX ?
				       0 :
				       (uint32_t)line;
	}
	return 0;
}
