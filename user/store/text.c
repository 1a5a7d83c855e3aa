/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writing half of the lossless text; see text.h. */
#include "user/store/text.h"

#include <string.h>

#include "user/base/escape.h"
#include "user/store/schema.h"

static void put_string(const struct profile *p, uint64_t sid, struct buf *out)
{
	escape_quoted(out, profile__str(p, (uint32_t)sid),
		      strtab_len_bytes(&p->strings, (uint32_t)sid));
}

static void put_name(const char *name, struct buf *out)
{
	if (strpbrk(name, " \""))
		escape_quoted(out, name, strlen(name));
	else
		buf_puts(out, name);
}

/* Names of the bits that have one; the rest as one number. */
static void put_flags(const struct schema_field *f, uint64_t flags, struct buf *out)
{
	const char *separator = "";

	for (size_t bit = 0; f->flag_names[bit]; bit++) {
		if (!(flags & UINT64_C(1) << bit))
			continue;
		buf_printf(out, "%s%s", separator, f->flag_names[bit]);
		flags &= ~(UINT64_C(1) << bit);
		separator = "|";
	}
	if (flags)
		buf_printf(out, "%s0x%llx", separator, (unsigned long long)flags);
}

static void put_enum(const struct schema_field *f, uint64_t value, struct buf *out)
{
	const char *name = value <= INT32_MAX ? f->value_name((int)value) : "?";

	if (strcmp(name, "?"))
		put_name(name, out);
	else
		buf_put_u64(out, value);
}

static void put_value(const struct profile *p, const struct schema_field *f, const void *record,
		      struct buf *out)
{
	const unsigned char *bytes = (const unsigned char *)record + f->off_bytes;
	uint64_t value = f->type == FIELD_BYTES ? 0 : schema_get(record, f);

	switch (f->type) {
	case FIELD_HEX:
		buf_printf(out, "0x%llx", (unsigned long long)value);
		break;
	case FIELD_STRING:
		put_string(p, value, out);
		break;
	case FIELD_ENUM:
		put_enum(f, value, out);
		break;
	case FIELD_FLAGS:
		put_flags(f, value, out);
		break;
	case FIELD_BYTES:
		for (size_t i = 0; i < f->width_bytes; i++)
			buf_printf(out, "%02x", (unsigned int)bytes[i]);
		break;
	default:
		if (value == UINT64_MAX)
			buf_puts(out, "unknown");
		else
			buf_put_u64(out, value);
	}
}

static bool is_zero(const struct schema_field *f, const void *record)
{
	const char *at = (const char *)record + f->off_bytes;

	for (size_t i = 0; i < f->width_bytes; i++)
		if (at[i])
			return false;
	return true;
}

static void put_fields(const struct profile *p, const struct schema_field *fields, size_t cnt,
		       const void *record, struct buf *out)
{
	for (size_t i = 0; i < cnt; i++) {
		if (is_zero(&fields[i], record))
			continue;
		buf_printf(out, " %s=", fields[i].name);
		put_value(p, &fields[i], record, out);
	}
	buf_putc(out, '\n');
}

static void dump_table(const struct profile *p, const struct schema_table *t, struct buf *out)
{
	struct loss_record losses[LOSS_SLOTS_CNT];
	size_t cnt;
	const char *records = schema_records(t, p, losses, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		buf_puts(out, t->name);
		if (t->first) {
			buf_putc(out, ' ');
			buf_put_u64(out, t->first + i);
		}
		put_fields(p, t->fields, t->field_cnt, records + i * t->record_bytes, out);
	}
}

void text__dump(const struct profile *p, struct buf *out)
{
	buf_puts(out, "causeprof-text 1\n");
	for (uint32_t i = 1; i < p->strings.cnt; i++) {
		buf_puts(out, "string ");
		put_string(p, i, out);
		buf_putc(out, '\n');
	}
	buf_puts(out, "header");
	put_fields(p, schema_facts, schema_fact_cnt, &p->header, out);
	for (size_t i = 0; i < schema_table_cnt; i++)
		dump_table(p, &schema_tables[i], out);
}
